/** Reads the settings from an environment: every name and value is checked before anything starts. */
import { resolve } from 'node:path'
import { Ajv, type ErrorObject } from 'ajv'
import type { Environment, SettingValues } from '../../../schemas/index.ts'
import { DuelogError, messageOf } from '../errors/index.ts'
import type { Certificates } from '../network/index.ts'
import { type CertificateFiles, isPipe, pemOfFile } from '../process/index.ts'
import { crossFieldProblems } from './cross-field-rules.ts'
import { type SaslSettings, saslOf, withSecretsOfFiles } from './secrets.ts'
import { bad, configSchema, named, settingByName, settings, unknown, withoutQuery, withoutUser } from './settings.ts'
import { type ApiToken, apiTokensOf, brokersOf, listOf, networksOf, processesOf, type Role, rolesOf } from './values.ts'

export type { ApiToken, Role }

/** Settings that have no key of their own in `Config`: several of them make one value. */
const combined = [
  'intakeEtf1Topics',
  'intakeKarafkaTopics',
  'jwtJwksUrl',
  'jwtIssuer',
  'jwtAudience',
  'jwtRolesClaim',
  'httpsCaFile',
] as const satisfies (keyof SettingValues)[]

/** The values that are made of the strings of one or more settings. */
interface ParsedSettings {
  /** Undefined: start the embedded broker. */
  brokers: string[] | undefined
  /** Undefined: start the embedded registry. */
  registryUrl: string | undefined
  /** Undefined: requests to the registry carry no credentials. */
  registryAuth: { username: string; password: string } | { token: string } | { tokenFile: string } | undefined
  /** Files are read again for each request. Undefined: the certificate authorities of Node. */
  registrySsl: Certificates | CertificateFiles | undefined
  /** Undefined: no authentication. */
  sasl: SaslSettings | undefined
  /** Files are read again for each connection. Undefined: no TLS. */
  ssl: Certificates | CertificateFiles | undefined
  roles: ReadonlySet<Role>
  /** Without a slash at the end. Undefined: made of host and port. */
  advertisedUrl: string | undefined
  /** Absolute. */
  dataDir: string
  pools: string[]
  /** Both 0 if absent. With `max` 0 the executor role runs in this process. If `min` is less than `max`, their number follows the load. */
  executorProcesses: { min: number; max: number }
  /** Allow-list of topics; may have `*`. */
  targetTopics: string[]
  /** Topics with schedules of other schedulers. */
  intakeTopics: { etf1: string[]; karafka: string[] }
  /** Addresses and networks. */
  httpDeny: string[]
  /** Addresses and networks that are allowed although httpDeny has them. */
  httpAllow: string[]
  /** Undefined: no authentication; then `httpHost` is a loopback address. */
  apiTokens: ApiToken[] | undefined
  /** Undefined: JSON Web Tokens are not accepted. */
  jwt: { jwks: string; issuer: string; audience: string; rolesClaim: string } | undefined
  /** PEM text: authorities of the other processes. */
  httpsCa: string | undefined
  /** The settings as they were given, with secrets and names of secret files. Only for child processes of this one. */
  given: Readonly<Record<string, string>>
}

/**
 * The checked settings with their defaults; absent ones are undefined. A setting DUELOG_LEAD_MS is `leadMs` here. schemas/config.json
 * describes each.
 */
export interface Config extends Omit<SettingValues, (typeof combined)[number] | keyof ParsedSettings>, ParsedSettings {}

// The schema is a file of this program, which a test checks. Each start would compile the schema of all schemas for that.
const ajv = new Ajv({ coerceTypes: true, useDefaults: true, allErrors: true, meta: false, validateSchema: false })
for (const keyword of ['secret', 'reread', 'unit', 'defaultCluster', 'client', 'tokenCharsMin']) ajv.addKeyword(keyword)
const validate = ajv.compile<Environment>(configSchema)

/**
 * The settings of an environment such as `process.env`; names that Duelog does not know are ignored, unless they begin with DUELOG_.
 * Throws DuelogError `bad-config`. It names every wrong setting, its value unless it is secret, and what is allowed.
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  refuse(given.flatMap(([name]) => (name.startsWith('DUELOG_') && !settingByName.has(name) ? [unknown(name)] : [])))

  const ours = given.filter(([name]) => settingByName.has(name))
  refuse(ours.flatMap(([name, value]) => (value === '' ? [`${named(name)} is empty; give it a value or leave it out.`] : [])))

  const read = withSecretsOfFiles(Object.fromEntries(ours))
  refuse(read.problems)
  const raw: Record<string, unknown> = read.values
  if (raw.KAFKA_BROKERS !== undefined) {
    for (const { name, defaultCluster } of settings) if (defaultCluster !== undefined) raw[name] ??= defaultCluster
  }
  if (!validate(raw)) {
    const wrong = new Set((validate.errors ?? []).map((error: ErrorObject) => error.instancePath.slice(1)))
    refuse([...wrong].map((name) => bad(name, env[name])))
  }
  const checked = raw as unknown as Environment
  refuse(crossFieldProblems(checked))
  return { ...configOf({ ...checked, ...rereadFiles(env) }), given: Object.fromEntries(ours) }
}

/** The names of the files of secrets that are read again whenever they are needed. */
type FileNames = Partial<Record<'SCHEMA_REGISTRY_TOKEN_FILE' | 'KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET_FILE', string | undefined>>

const rereadFiles = ({
  SCHEMA_REGISTRY_TOKEN_FILE,
  KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET_FILE,
}: Record<string, string | undefined>): FileNames => ({
  SCHEMA_REGISTRY_TOKEN_FILE,
  KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET_FILE,
})

/** Every DUELOG_ setting by its key in `SettingValues`, and the parsed values in place of their strings. */
function configOf(raw: Environment & FileNames): Omit<Config, 'given'> {
  return { ...plainSettingsOf(raw), ...parsedSettingsOf(raw) }
}

type PlainSettings = Omit<SettingValues, (typeof combined)[number]>

function plainSettingsOf(raw: Environment): PlainSettings {
  const values = settings
    .filter(({ name, client, fileOf }) => name.startsWith('DUELOG_') && client !== true && fileOf === undefined)
    .map(({ name }) => [keyOf(name), raw[name as keyof Environment]] as const)
  const left = values.filter(([key]) => !(combined as readonly string[]).includes(key))
  return Object.fromEntries(left) as unknown as PlainSettings
}

/** `leadMsMax` for DUELOG_LEAD_MS_MAX, as schemas/generate.ts names it. */
const keyOf = (name: string): string =>
  name
    .slice('DUELOG_'.length)
    .toLowerCase()
    .replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

function parsedSettingsOf(raw: Environment & FileNames): Omit<ParsedSettings, 'given'> {
  return {
    brokers: raw.KAFKA_BROKERS === undefined ? undefined : brokersOf(raw.KAFKA_BROKERS),
    registryUrl: raw.SCHEMA_REGISTRY_URL,
    registryAuth: registryAuthOf(raw),
    registrySsl: certificatesOf(raw, ['SCHEMA_REGISTRY_CA_FILE', 'SCHEMA_REGISTRY_CERT_FILE', 'SCHEMA_REGISTRY_KEY_FILE']),
    sasl: saslOf(raw, raw, (name) => pemOf(name, raw)),
    ssl: raw.KAFKA_SSL_ENABLED ? (certificatesOf(raw, kafkaFiles) ?? {}) : undefined,
    roles: rolesOf(raw.DUELOG_ROLES),
    advertisedUrl: raw.DUELOG_ADVERTISED_URL?.replace(/\/$/, ''),
    dataDir: resolve(raw.DUELOG_DATA_DIR),
    pools: [...new Set(raw.DUELOG_POOLS.split(','))],
    executorProcesses: processesOf(raw.DUELOG_EXECUTOR_PROCESSES ?? '0'),
    targetTopics: listOf(raw.DUELOG_TARGET_TOPICS),
    intakeTopics: { etf1: listOf(raw.DUELOG_INTAKE_ETF1_TOPICS), karafka: listOf(raw.DUELOG_INTAKE_KARAFKA_TOPICS) },
    httpDeny: networksOf(raw.DUELOG_HTTP_DENY) ?? [],
    httpAllow: raw.DUELOG_HTTP_ALLOW === undefined ? [] : (networksOf(raw.DUELOG_HTTP_ALLOW) ?? []),
    httpsCa: pemOf('DUELOG_HTTPS_CA_FILE', raw),
    apiTokens: raw.DUELOG_API_TOKENS === undefined ? undefined : apiTokensOf(raw.DUELOG_API_TOKENS),
    jwt:
      raw.DUELOG_JWT_JWKS_URL === undefined
        ? undefined
        : {
            jwks: raw.DUELOG_JWT_JWKS_URL,
            issuer: raw.DUELOG_JWT_ISSUER ?? '',
            audience: raw.DUELOG_JWT_AUDIENCE ?? '',
            rolesClaim: raw.DUELOG_JWT_ROLES_CLAIM,
          },
  }
}

function registryAuthOf(raw: Environment & FileNames): ParsedSettings['registryAuth'] {
  const { SCHEMA_REGISTRY_USERNAME: username, SCHEMA_REGISTRY_PASSWORD: password = '', SCHEMA_REGISTRY_TOKEN: token } = raw
  if (username !== undefined) return { username, password }
  if (token === undefined) return undefined
  // The file is read again for each request, because such tokens expire.
  return raw.SCHEMA_REGISTRY_TOKEN_FILE === undefined ? { token } : { tokenFile: raw.SCHEMA_REGISTRY_TOKEN_FILE }
}

type FileSetting = Extract<keyof Environment, `${string}_FILE`>

const kafkaFiles: [FileSetting, FileSetting, FileSetting] = ['KAFKA_SSL_CA_FILE', 'KAFKA_SSL_CERT_FILE', 'KAFKA_SSL_KEY_FILE']

/**
 * `names`: the settings of authority, certificate and key. The files, which can be read, or their texts, if one is a pipe and cannot be read
 * again. Undefined if none is given.
 */
function certificatesOf(
  raw: Environment,
  names: [FileSetting, FileSetting, FileSetting],
): Certificates | CertificateFiles | undefined {
  const [ca, cert, key] = names.map((name) => pemOf(name, raw))
  if (ca === undefined && cert === undefined) return undefined
  const [caFile, certFile, keyFile] = names.map((name) => raw[name])
  const isReadOnce = [caFile, certFile, keyFile].some((file) => file !== undefined && isPipe(file))
  return isReadOnce ? { ca, cert, key } : { caFile, certFile, keyFile }
}

function pemOf(name: FileSetting, raw: Environment): string | undefined {
  const file = raw[name]
  if (file === undefined) return undefined
  try {
    return pemOfFile(file)
  } catch (cause) {
    throw new DuelogError('bad-config', `${named(name)} is "${file}", which cannot be read (${messageOf(cause)}).`, { cause })
  }
}

function refuse(problems: string[]): void {
  if (problems.length > 0) throw new DuelogError('bad-config', problems.join(' '))
}

/** The settings in effect, for display: the given ones and the defaults of the others, without secrets. */

export interface EffectiveSetting {
  name: string
  /** Null if it is secret, or if it is absent and has no default. */
  value: string | null
  /** False: the default applies. */
  given: boolean
  secret: boolean
  unit: string | null
  description: string
}

export function effectiveSettings({ given, brokers }: Pick<Config, 'given' | 'brokers'>): EffectiveSetting[] {
  return settings.map(({ name, secret = false, unit = null, description, ...setting }) => {
    const byDefault = brokers === undefined ? setting.default : (setting.defaultCluster ?? setting.default)
    const value = given[name] ?? (byDefault === undefined ? null : String(byDefault))
    return {
      ...{ name, given: given[name] !== undefined, secret, unit, description },
      value: secret || value === null ? null : withoutQuery(withoutUser(value)),
    }
  })
}
