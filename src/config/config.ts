/** Reads the settings from an environment: every name and value is checked before anything starts. */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { Ajv, type ErrorObject } from 'ajv'
import { DuelogError, messageOf } from '../errors/index.ts'
import { crossFieldProblems } from './cross-field-rules.ts'
import type { Environment } from './environment.ts'
import { bad, named, unknown } from './messages.ts'
import { withSecretsOfFiles } from './secret-files.ts'
import { configSchema, settingByName, settings } from './settings.ts'
import { type ApiToken, apiTokensOf, brokersOf, listOf, networksOf, type Role, rolesOf } from './values.ts'

export type { ApiToken, Role }

/** The settings, checked, with their defaults; schemas/config.json describes each. Absent ones are undefined. */
export interface Config {
  /** Undefined: start the embedded broker. */
  brokers: string[] | undefined
  /** Undefined: start the embedded registry. */
  registryUrl: string | undefined
  /** Undefined: the registry is asked without. */
  registryAuth: { username: string; password: string } | undefined
  sasl: { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string } | undefined
  /** PEM texts, read from the files named. Undefined: no TLS. */
  ssl: { ca: string | undefined; cert: string | undefined; key: string | undefined } | undefined
  roles: ReadonlySet<Role>
  httpHost: string
  httpPort: number
  /** Without a slash at the end. Undefined: follows from host and port. */
  advertisedUrl: string | undefined
  /** Absolute. */
  dataDir: string
  embeddedKafkaPort: number
  embeddedRegistryPort: number
  topicPrefix: string
  partitions: number
  replication: number
  /** Path of the handlers' module as given. */
  handlers: string | undefined
  pools: string[]
  concurrency: number
  /** 0: the executor role runs in this process. */
  executorProcesses: number
  /** Allow-list of topics; may have `*`. */
  targetTopics: string[]
  /** Topics with schedules of other schedulers. */
  intakeTopics: { etf1: string[]; karafka: string[] }
  /** As it was given, whsec_ and base64. */
  httpSigningKey: string | undefined
  /** Addresses and networks. */
  httpDeny: string[]
  /** Addresses and networks that may be reached although httpDeny has them. */
  httpAllow: string[]
  leadMs: number
  leadMsMax: number
  lingerMs: number
  clockStepMsMax: number
  standbys: number
  auditGraceMs: number
  drainMs: number
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Undefined: no authentication; then `httpHost` is a loopback address. */
  apiTokens: ApiToken[] | undefined
  /** Undefined: JSON Web Tokens are not accepted. */
  jwt: { jwks: string; issuer: string; audience: string; rolesClaim: string } | undefined
  /** Requests a second; 0: without limit. */
  httpRateLimit: number
  /** The settings as they were given, secrets and names of their files included: for processes of ours alone. */
  given: Readonly<Record<string, string>>
}

const ajv = new Ajv({ coerceTypes: true, useDefaults: true, allErrors: true })
for (const keyword of ['secret', 'unit', 'defaultCluster', 'client', 'tokenCharsMin']) ajv.addKeyword(keyword)
const validate = ajv.compile<Environment>(configSchema)

/**
 * The settings of an environment such as `process.env`; names that are not ours are passed over.
 * Throws DuelogError `bad-config` that names every wrong setting, its value unless it is secret, and what is allowed.
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
  return { ...configOf(checked), given: Object.fromEntries(ours) }
}

function configOf(raw: Environment): Omit<Config, 'given'> {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username = '', KAFKA_SASL_PASSWORD: password = '' } = raw
  return {
    brokers: raw.KAFKA_BROKERS === undefined ? undefined : brokersOf(raw.KAFKA_BROKERS),
    registryUrl: raw.SCHEMA_REGISTRY_URL,
    registryAuth:
      raw.SCHEMA_REGISTRY_USERNAME === undefined
        ? undefined
        : { username: raw.SCHEMA_REGISTRY_USERNAME, password: raw.SCHEMA_REGISTRY_PASSWORD ?? '' },
    sasl: mechanism && { mechanism, username, password },
    ssl: raw.KAFKA_SSL_ENABLED
      ? {
          ca: pemOf('KAFKA_SSL_CA_FILE', raw.KAFKA_SSL_CA_FILE),
          cert: pemOf('KAFKA_SSL_CERT_FILE', raw.KAFKA_SSL_CERT_FILE),
          key: pemOf('KAFKA_SSL_KEY_FILE', raw.KAFKA_SSL_KEY_FILE),
        }
      : undefined,
    roles: rolesOf(raw.DUELOG_ROLES),
    httpHost: raw.DUELOG_HTTP_HOST,
    httpPort: raw.DUELOG_HTTP_PORT,
    advertisedUrl: raw.DUELOG_ADVERTISED_URL?.replace(/\/$/, ''),
    dataDir: resolve(raw.DUELOG_DATA_DIR),
    embeddedKafkaPort: raw.DUELOG_EMBEDDED_KAFKA_PORT,
    embeddedRegistryPort: raw.DUELOG_EMBEDDED_REGISTRY_PORT,
    topicPrefix: raw.DUELOG_TOPIC_PREFIX,
    partitions: raw.DUELOG_PARTITIONS,
    replication: raw.DUELOG_REPLICATION,
    handlers: raw.DUELOG_HANDLERS,
    pools: [...new Set(raw.DUELOG_POOLS.split(','))],
    concurrency: raw.DUELOG_CONCURRENCY,
    executorProcesses: raw.DUELOG_EXECUTOR_PROCESSES === 'cpus' ? availableParallelism() : Number(raw.DUELOG_EXECUTOR_PROCESSES),
    targetTopics: listOf(raw.DUELOG_TARGET_TOPICS),
    intakeTopics: { etf1: listOf(raw.DUELOG_INTAKE_ETF1_TOPICS), karafka: listOf(raw.DUELOG_INTAKE_KARAFKA_TOPICS) },
    httpSigningKey: raw.DUELOG_HTTP_SIGNING_KEY,
    httpDeny: networksOf(raw.DUELOG_HTTP_DENY) ?? [],
    httpAllow: raw.DUELOG_HTTP_ALLOW === undefined ? [] : (networksOf(raw.DUELOG_HTTP_ALLOW) ?? []),
    httpRateLimit: raw.DUELOG_HTTP_RATE_LIMIT,
    leadMs: raw.DUELOG_LEAD_MS,
    leadMsMax: raw.DUELOG_LEAD_MS_MAX,
    lingerMs: raw.DUELOG_LINGER_MS,
    clockStepMsMax: raw.DUELOG_CLOCK_STEP_MS_MAX,
    standbys: raw.DUELOG_STANDBYS,
    auditGraceMs: raw.DUELOG_AUDIT_GRACE_MS,
    drainMs: raw.DUELOG_DRAIN_MS,
    logLevel: raw.DUELOG_LOG_LEVEL,
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

function pemOf(name: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new DuelogError('bad-config', `${named(name)} is "${file}", which cannot be read (${messageOf(cause)}).`, { cause })
  }
}

function refuse(problems: string[]): void {
  if (problems.length > 0) throw new DuelogError('bad-config', problems.join(' '))
}
