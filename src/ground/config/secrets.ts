/** Secrets: those in files (`DUELOG_API_TOKENS_FILE` names a file that holds the value of `DUELOG_API_TOKENS`), and how this process signs in to the brokers. */

import type { Environment } from '../../../schemas/index.ts'
import { messageOf } from '../errors/index.ts'
import { hasUser } from '../network/index.ts'
import { secretOfFile } from '../process/index.ts'
import { bad, named, settingByName, settings } from './settings.ts'

/** The given settings, with the contents of the files in place of their names. `problems` never contain the contents of a file. */
export function withSecretsOfFiles(given: Readonly<Record<string, string>>): {
  values: Record<string, string>
  problems: string[]
} {
  const values = { ...given }
  const problems: string[] = []
  for (const { name, fileOf } of settings) {
    const file = given[name]
    if (fileOf === undefined || file === undefined) continue
    delete values[name]
    if (given[fileOf] !== undefined) {
      problems.push(`${name} and ${fileOf} are both set; leave one of them out.`)
      continue
    }
    try {
      const isReadAgain = settingByName.get(fileOf)?.reread === true
      const value = secretOfFile(file, { isReadAgain })
      if (value.trim() === '') problems.push(`${named(name)} is "${file}", which is empty.`)
      else values[fileOf] = value
    } catch (error) {
      problems.push(`${named(name)} is "${file}", which cannot be read (${messageOf(error)}).`)
    }
  }
  return { values, problems }
}

export type SaslSettings =
  | { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string }
  | {
      mechanism: 'oauthbearer'
      tokenUrl: string
      clientId: string
      clientSecret: string | undefined
      /** Read again for each token, in place of `clientSecret`. */
      clientSecretFile: string | undefined
      scope: string | undefined
      parameters: Record<string, string>
      extensions: Record<string, string>
      /** PEM text. */
      ca: string | undefined
    }
  | { mechanism: 'aws-msk-iam'; region: string }

/** Undefined: no authentication. `files`: names of files of secrets; `pem` reads one with certificates. */
export function saslOf(
  raw: Environment,
  files: { KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET_FILE?: string | undefined },
  pem: (name: 'KAFKA_SASL_OAUTHBEARER_CA_FILE') => string | undefined,
): SaslSettings | undefined {
  const { KAFKA_SASL_MECHANISM: mechanism } = raw
  if (mechanism === undefined) return undefined
  if (mechanism === 'aws-msk-iam') return { mechanism, region: raw.KAFKA_SASL_AWS_REGION ?? '' }
  if (mechanism !== 'oauthbearer')
    return { mechanism, username: raw.KAFKA_SASL_USERNAME ?? '', password: raw.KAFKA_SASL_PASSWORD ?? '' }
  const { KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET_FILE: clientSecretFile } = files
  return {
    mechanism,
    tokenUrl: raw.KAFKA_SASL_OAUTHBEARER_TOKEN_URL ?? '',
    clientId: raw.KAFKA_SASL_OAUTHBEARER_CLIENT_ID ?? '',
    clientSecret: clientSecretFile === undefined ? raw.KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET : undefined,
    clientSecretFile,
    scope: raw.KAFKA_SASL_OAUTHBEARER_SCOPE,
    parameters: Object.fromEntries(new URLSearchParams(raw.KAFKA_SASL_OAUTHBEARER_PARAMETERS ?? '')),
    extensions: Object.fromEntries(
      (raw.KAFKA_SASL_OAUTHBEARER_EXTENSIONS ?? '')
        .split(',')
        .filter((item) => item !== '')
        .map((item) => item.split(/=(.*)/s, 2) as [string, string]),
    ),
    ca: pem('KAFKA_SASL_OAUTHBEARER_CA_FILE'),
  }
}

const passwords = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const
const clients = [
  'KAFKA_SASL_OAUTHBEARER_TOKEN_URL',
  'KAFKA_SASL_OAUTHBEARER_CLIENT_ID',
  'KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET',
] as const
const clientExtras = [
  ...(['KAFKA_SASL_OAUTHBEARER_SCOPE', 'KAFKA_SASL_OAUTHBEARER_PARAMETERS'] as const),
  ...(['KAFKA_SASL_OAUTHBEARER_EXTENSIONS', 'KAFKA_SASL_OAUTHBEARER_CA_FILE'] as const),
]

/** Settings that a mechanism needs and lacks, and those of other mechanisms. */
export function saslProblems(raw: Environment): string[] {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_OAUTHBEARER_TOKEN_URL: tokenUrl } = raw
  const found: string[] = []
  const isNamed = mechanism === 'oauthbearer' || mechanism === 'aws-msk-iam'
  for (const name of passwords) {
    if ((mechanism !== undefined && !isNamed) !== (raw[name] !== undefined))
      found.push(
        isNamed
          ? `${named(name)} is set, but KAFKA_SASL_MECHANISM is ${mechanism}; leave it out.`
          : `${named(name)} and KAFKA_SASL_MECHANISM must be set together.`,
      )
  }
  const needed = (names: readonly (keyof Environment)[], by: string): void => {
    for (const name of names)
      if ((mechanism === by) !== (raw[name] !== undefined))
        found.push(`${named(name)} and KAFKA_SASL_MECHANISM=${by} must be set together.`)
  }
  needed(clients, 'oauthbearer')
  needed(['KAFKA_SASL_AWS_REGION'], 'aws-msk-iam')
  for (const name of clientExtras)
    if (raw[name] !== undefined && mechanism !== 'oauthbearer')
      found.push(`${named(name)} is set, but KAFKA_SASL_MECHANISM is not oauthbearer; leave it out.`)
  if (tokenUrl !== undefined && !URL.canParse(tokenUrl)) found.push(bad('KAFKA_SASL_OAUTHBEARER_TOKEN_URL', tokenUrl))
  if (hasUser(tokenUrl))
    found.push(
      `${named('KAFKA_SASL_OAUTHBEARER_TOKEN_URL')} has a user or a password, which logs would show; set KAFKA_SASL_OAUTHBEARER_CLIENT_ID and KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET instead.`,
    )
  return found
}
