import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Ajv } from 'ajv'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/ground/config/config.ts'
import { configSchema, settings } from '../../src/ground/config/settings.ts'
import { DuelogError } from '../../src/ground/errors/errors.ts'

const folder = mkdtempSync(join(tmpdir(), 'duelog-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const oauth = {
  KAFKA_BROKERS: 'a:1',
  KAFKA_SASL_MECHANISM: 'oauthbearer',
  KAFKA_SASL_OAUTHBEARER_TOKEN_URL: 'https://id/token',
  KAFKA_SASL_OAUTHBEARER_CLIENT_ID: 'me',
  KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET: 'hidden',
}

/** The message with which an environment is refused. */
function refusal(env: Record<string, string>): string {
  try {
    readConfig(env)
  } catch (error) {
    expect(error).toBeInstanceOf(DuelogError)
    expect((error as DuelogError).code).toBe('bad-config')
    return (error as DuelogError).message
  }
  throw new Error('the environment was not refused')
}

test('the schema of the settings is a JSON Schema, which no start checks', () => {
  expect(new Ajv().validateSchema(configSchema)).toBe(true)
  expect(new Ajv({ logger: false }).validateSchema({ properties: { DUELOG_PARTITIONS: { minimum: '1' } } })).toBe(false)
})

describe('an empty environment', () => {
  test('gives the embedded defaults', () => {
    expect(readConfig({})).toEqual({
      targetTopics: [],
      intakeTopics: { etf1: [], karafka: [] },
      httpSigningKey: undefined,
      httpDeny: expect.arrayContaining(['127.0.0.0/8', '10.0.0.0/8', '169.254.0.0/16', '::1/128', 'fc00::/7', 'fe80::/10']),
      httpAllow: [],
      httpRateLimit: 2_000,
      brokers: undefined,
      registryUrl: undefined,
      registryAuth: undefined,
      registrySsl: undefined,
      sasl: undefined,
      ssl: undefined,
      roles: new Set(['scheduler', 'executor', 'retrier', 'intake', 'api', 'auditor', 'history']),
      httpHost: '127.0.0.1',
      httpPort: 8080,
      advertisedUrl: undefined,
      httpsCertFile: undefined,
      httpsKeyFile: undefined,
      httpsCa: undefined,
      dataDir: resolve('data'),
      embeddedKafkaPort: 19092,
      embeddedRegistryPort: 18081,
      topicPrefix: 'duelog.',
      partitions: 4,
      replication: 1,
      handlers: undefined,
      pools: ['default'],
      concurrency: 50,
      oneProcess: false,
      executorProcesses: { min: 0, max: 0 },
      executorCoolDownMs: 60_000,
      leadMs: 100,
      leadMsMax: 120_000,
      lingerMs: 25,
      runsRetentionMs: 7_776_000_000,
      runLogsRetentionMs: 604_800_000,
      clockStepMsMax: 2000,
      standbys: 1,
      auditGraceMs: 10_000,
      drainMs: 25_000,
      logLevel: 'info',
      apiTokens: undefined,
      given: {},
    })
  })

  test('may hold names of others', () => {
    expect(readConfig({ PATH: '/bin', KAFKA_HEAP_OPTS: '-Xmx1g' })).toEqual(readConfig({}))
  })
})

test('a cluster has the defaults of a cluster, and what is set goes before them', () => {
  const config = readConfig({ KAFKA_BROKERS: 'a:9092, b:9092,[::1]:9092' })
  expect(config).toMatchObject({ brokers: ['a:9092', 'b:9092', '[::1]:9092'], partitions: 32, replication: 3 })
  expect(readConfig({ KAFKA_BROKERS: 'a:9092', DUELOG_PARTITIONS: '8', DUELOG_REPLICATION: '1' })).toMatchObject({
    partitions: 8,
    replication: 1,
  })
})

test('every setting is read into its field', () => {
  const given = {
    KAFKA_BROKERS: 'broker:9092',
    SCHEMA_REGISTRY_URL: 'https://registry:8081',
    SCHEMA_REGISTRY_USERNAME: 'us',
    SCHEMA_REGISTRY_PASSWORD: 'secret of the registry',
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: 'me',
    KAFKA_SASL_PASSWORD: 'secret',
    KAFKA_SSL_ENABLED: 'true',
    DUELOG_ROLES: 'api,executor',
    DUELOG_HTTP_HOST: '0.0.0.0',
    DUELOG_HTTP_PORT: '0',
    DUELOG_DATA_DIR: '/var/lib/duelog',
    DUELOG_EMBEDDED_KAFKA_PORT: '1000',
    DUELOG_EMBEDDED_REGISTRY_PORT: '2000',
    DUELOG_TOPIC_PREFIX: 'test.',
    DUELOG_PARTITIONS: '6',
    DUELOG_REPLICATION: '2',
    DUELOG_HANDLERS: './handlers.ts',
    DUELOG_POOLS: 'default,gpu,default',
    DUELOG_CONCURRENCY: '7',
    DUELOG_EXECUTOR_PROCESSES: '3',
    DUELOG_EXECUTOR_COOL_DOWN_MS: '5000',
    DUELOG_LEAD_MS: '5',
    DUELOG_LEAD_MS_MAX: '50',
    DUELOG_LINGER_MS: '1',
    DUELOG_RUNS_RETENTION_MS: '0',
    DUELOG_RUN_LOGS_RETENTION_MS: '86400000',
    DUELOG_CLOCK_STEP_MS_MAX: '750',
    DUELOG_STANDBYS: '2',
    DUELOG_AUDIT_GRACE_MS: '2000',
    DUELOG_DRAIN_MS: '2',
    DUELOG_LOG_LEVEL: 'debug',
    DUELOG_API_TOKENS: 'viewer:v123456789012345, admin.eve:a:b3456789012345',
    DUELOG_TARGET_TOPICS: 'orders,mail.*,orders',
    DUELOG_INTAKE_ETF1_TOPICS: 'schedules',
    DUELOG_INTAKE_KARAFKA_TOPICS: 'later,much-later',
    DUELOG_HTTP_SIGNING_KEY: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    DUELOG_HTTP_ALLOW: '10.20.0.0/16',
    DUELOG_HTTP_RATE_LIMIT: '5',
    DUELOG_JWT_JWKS_URL: 'https://id.example.org/keys',
    DUELOG_JWT_ISSUER: 'https://id.example.org',
    DUELOG_JWT_AUDIENCE: 'duelog',
    DUELOG_JWT_ROLES_CLAIM: 'realm_access.roles',
    DUELOG_HTTP_DENY: '10.0.0.0/8, ::1',
  }
  expect(readConfig({ ...given, PATH: '/bin' })).toEqual({
    given,
    httpAllow: ['10.20.0.0/16'],
    httpRateLimit: 5,
    jwt: {
      jwks: 'https://id.example.org/keys',
      issuer: 'https://id.example.org',
      audience: 'duelog',
      rolesClaim: 'realm_access.roles',
    },
    targetTopics: ['orders', 'mail.*'],
    intakeTopics: { etf1: ['schedules'], karafka: ['later', 'much-later'] },
    httpSigningKey: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    httpDeny: ['10.0.0.0/8', '::1'],
    brokers: ['broker:9092'],
    registryUrl: 'https://registry:8081',
    registryAuth: { username: 'us', password: 'secret of the registry' },
    sasl: { mechanism: 'scram-sha-512', username: 'me', password: 'secret' },
    ssl: { ca: undefined, cert: undefined, key: undefined },
    roles: new Set(['api', 'executor']),
    httpHost: '0.0.0.0',
    httpPort: 0,
    dataDir: '/var/lib/duelog',
    embeddedKafkaPort: 1000,
    embeddedRegistryPort: 2000,
    topicPrefix: 'test.',
    partitions: 6,
    replication: 2,
    handlers: './handlers.ts',
    pools: ['default', 'gpu'],
    concurrency: 7,
    oneProcess: false,
    executorProcesses: { min: 3, max: 3 },
    executorCoolDownMs: 5_000,
    leadMs: 5,
    leadMsMax: 50,
    lingerMs: 1,
    runsRetentionMs: 0,
    runLogsRetentionMs: 86_400_000,
    clockStepMsMax: 750,
    standbys: 2,
    auditGraceMs: 2_000,
    drainMs: 2,
    logLevel: 'debug',
    apiTokens: [
      { role: 'viewer', token: 'v123456789012345' },
      { role: 'admin', name: 'eve', token: 'a:b3456789012345' },
    ],
  })
})

test('executor processes may be one for each processor', () => {
  const { executorProcesses } = readConfig({ DUELOG_EXECUTOR_PROCESSES: 'cpus' })
  expect(executorProcesses).toEqual({ min: availableParallelism(), max: availableParallelism() })
})

test('the number of executor processes may follow the load, between two numbers', () => {
  const of = (text: string) => readConfig({ DUELOG_EXECUTOR_PROCESSES: text }).executorProcesses
  expect(of('2..8')).toEqual({ min: 2, max: 8 })
  expect(of('1..cpus')).toEqual({ min: 1, max: availableParallelism() })
  for (const wrong of ['0..2', '8..2', '1..', '..2', '1...2', '1..257', '1..2..3', '-1..2', '1..0'])
    expect(() => of(wrong), wrong).toThrow(/DUELOG_EXECUTOR_PROCESSES/)
})

test('executor processes without the executor role are refused', () => {
  expect(() => readConfig({ DUELOG_EXECUTOR_PROCESSES: '2', DUELOG_ROLES: 'api' })).toThrow(/DUELOG_ROLES has no executor/)
  expect(() => readConfig({ DUELOG_ROLES: 'intake' })).toThrow(/only intake, but there is no topic/)
  expect(readConfig({ DUELOG_ROLES: 'intake', DUELOG_INTAKE_ETF1_TOPICS: 'schedules' }).roles).toEqual(new Set(['intake']))
})

describe('a bad value is refused with the name, the value and what is allowed', () => {
  test.each([
    ['DUELOG_HTTP_PORT', 'eighty', 'an integer from 0 to 65535'],
    ['DUELOG_HTTP_PORT', '65536', 'an integer from 0 to 65535'],
    ['DUELOG_HTTP_PORT', '80.5', 'an integer from 0 to 65535'],
    ['DUELOG_EMBEDDED_KAFKA_PORT', '0', 'an integer from 1 to 65535'],
    ['DUELOG_EMBEDDED_REGISTRY_PORT', '-1', 'an integer from 1 to 65535'],
    ['DUELOG_PARTITIONS', '0', 'an integer from 1 to 1024'],
    ['DUELOG_REPLICATION', '6', 'an integer from 1 to 5'],
    ['DUELOG_CONCURRENCY', '0', 'an integer from 1 to 10000'],
    ['DUELOG_LEAD_MS', '100ms', 'an integer from 0 to 10000 (ms)'],
    ['DUELOG_LEAD_MS_MAX', '120001', 'an integer from 0 to 120000 (ms)'],
    ['DUELOG_LINGER_MS', '-1', 'an integer from 0 to 1000 (ms)'],
    ['DUELOG_DRAIN_MS', 'long', 'an integer from 0 to 600000 (ms)'],
    ['DUELOG_LOG_LEVEL', 'loud', 'one of trace, debug, info, warn, error, fatal, silent'],
    ['DUELOG_ROLES', 'scheduler,cook', 'all, or a comma-separated choice'],
    ['DUELOG_TOPIC_PREFIX', 'a b', 'It must match'],
    ['DUELOG_POOLS', 'Default', 'It must match'],
    ['KAFKA_BROKERS', 'localhost', 'host:port'],
    ['KAFKA_BROKERS', 'a:9092,,b:9092', 'host:port'],
    ['KAFKA_BROKERS', 'a:99999', 'host:port'],
    ['SCHEMA_REGISTRY_URL', 'registry:8081', '^https?://'],
    ['KAFKA_SASL_MECHANISM', 'gssapi', 'one of plain, scram-sha-256, scram-sha-512'],
    ['KAFKA_SSL_ENABLED', 'yes', 'true or false'],
  ])('%s=%s', (name, value, allowed) => {
    const message = refusal({ [name]: value })
    expect(message).toContain(name)
    expect(message).toContain(`"${value}"`)
    expect(message).toContain(allowed)
  })

  test('all of them at once', () => {
    const message = refusal({ DUELOG_HTTP_PORT: 'x', DUELOG_LOG_LEVEL: 'y' })
    expect(message).toContain('DUELOG_HTTP_PORT (--http-port) is "x"')
    expect(message).toContain('DUELOG_LOG_LEVEL (--log-level) is "y"')
  })

  test.each(settings.map(({ name }) => name))('%s is empty', (name) => {
    expect(refusal({ [name]: '' })).toContain(`${name} `)
  })
})

test.each(['admin', 'root:abc', 'admin:', 'admin:a b', 'admin:hidden,', 'admin:hidden,viewer:hidden'])(
  'API tokens of the wrong form are refused without showing them: %s',
  (value) => {
    const message = refusal({ DUELOG_API_TOKENS: value })
    expect(message).toMatch(/DUELOG_API_TOKENS .*allowed: Comma-separated role:token/)
    expect(message).not.toContain(value)
    expect(message).not.toContain('hidden')
  },
)

describe('an unknown DUELOG_ name', () => {
  test('is refused with the name it most likely means', () => {
    expect(refusal({ DUELOG_HTTPPORT: '80' })).toBe('There is no setting DUELOG_HTTPPORT; did you mean DUELOG_HTTP_PORT?')
  })

  test('is refused with the setting that ends alike, whatever it begins with', () => {
    expect(refusal({ DUELOG_BROKERS: 'a:1' })).toBe('There is no setting DUELOG_BROKERS; did you mean KAFKA_BROKERS?')
    expect(refusal({ DUELOG_KAFKA_BROKERS: 'a:1' })).toBe('There is no setting DUELOG_KAFKA_BROKERS; did you mean KAFKA_BROKERS?')
    expect(refusal({ DUELOG_SCHEMA_REGISTRY_URL: 'http://a' })).toMatch(/did you mean SCHEMA_REGISTRY_URL\?/)
    expect(refusal({ DUELOG_REGISTRY_URL: 'http://a' })).toMatch(/did you mean SCHEMA_REGISTRY_URL\?/)
  })

  test('is refused with all names where none is near', () => {
    expect(refusal({ DUELOG_COLOUR_OF_THE_SKY: 'blue' })).toMatch(
      /no setting DUELOG_COLOUR_OF_THE_SKY; there are .*DUELOG_DATA_DIR/,
    )
  })
})

describe('without API tokens', () => {
  test.each(['127.0.0.1', '127.8.0.1', 'localhost', '::1'])('%s is taken as an HTTP address', (host) => {
    expect(readConfig({ DUELOG_HTTP_HOST: host }).httpHost).toBe(host)
  })

  test.each(['0.0.0.0', '::', '10.0.0.1', '127.example.org'])('%s is refused as an HTTP address', (host) => {
    expect(refusal({ DUELOG_HTTP_HOST: host })).toMatch(new RegExp(`DUELOG_HTTP_HOST .*"${host}".*DUELOG_API_TOKENS`))
  })
})

describe('settings that contradict one another', () => {
  test.each<[string, Record<string, string>, string]>([
    ['a lead above its maximum', { DUELOG_LEAD_MS: '200', DUELOG_LEAD_MS_MAX: '100' }, 'more than DUELOG_LEAD_MS_MAX'],
    [
      'SASL without a password',
      { KAFKA_BROKERS: 'a:1', KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'me' },
      'KAFKA_SASL_PASSWORD',
    ],
    ['a SASL user without a mechanism', { KAFKA_BROKERS: 'a:1', KAFKA_SASL_USERNAME: 'me' }, 'KAFKA_SASL_MECHANISM'],
    ['a TLS file without TLS', { KAFKA_BROKERS: 'a:1', KAFKA_SSL_CA_FILE: 'ca.pem' }, 'KAFKA_SSL_ENABLED is false'],
    [
      'a certificate without its key',
      { KAFKA_BROKERS: 'a:1', KAFKA_SSL_ENABLED: 'true', KAFKA_SSL_CERT_FILE: 'c.pem' },
      'must be set together',
    ],
    [
      'a user and a token of the registry',
      {
        SCHEMA_REGISTRY_URL: 'http://b',
        SCHEMA_REGISTRY_USERNAME: 'a',
        SCHEMA_REGISTRY_PASSWORD: 'b',
        SCHEMA_REGISTRY_TOKEN: 'c',
      },
      'both set',
    ],
    [
      'oauthbearer without a client',
      { KAFKA_BROKERS: 'a:1', KAFKA_SASL_MECHANISM: 'oauthbearer' },
      'KAFKA_SASL_OAUTHBEARER_CLIENT_ID',
    ],
    ['a client without oauthbearer', { KAFKA_BROKERS: 'a:1', KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET: 'c' }, 'must be set together'],
    ['a scope without oauthbearer', { KAFKA_BROKERS: 'a:1', KAFKA_SASL_OAUTHBEARER_SCOPE: 'c' }, 'is not oauthbearer'],
    [
      'a user at a token endpoint',
      { ...oauth, KAFKA_SASL_OAUTHBEARER_TOKEN_URL: 'https://me:x@id/token' },
      'a user or a password',
    ],
    ['a password beside oauthbearer', { ...oauth, KAFKA_SASL_USERNAME: 'me' }, 'leave it out'],
    ['MSK without a region', { KAFKA_BROKERS: 'a:1', KAFKA_SASL_MECHANISM: 'aws-msk-iam' }, 'KAFKA_SASL_AWS_REGION'],
    [
      'a certificate of the server without its key',
      { DUELOG_HTTPS_CERT_FILE: 'c.pem' },
      'DUELOG_HTTPS_KEY_FILE must be set together',
    ],
    ['a token without a registry', { SCHEMA_REGISTRY_TOKEN: 'c' }, 'set SCHEMA_REGISTRY_URL'],
    [
      'an authority without https',
      { SCHEMA_REGISTRY_URL: 'http://b', SCHEMA_REGISTRY_CA_FILE: 'ca.pem' },
      'does not begin with https',
    ],
    [
      'a certificate of the registry without its key',
      { SCHEMA_REGISTRY_URL: 'https://b', SCHEMA_REGISTRY_CERT_FILE: 'c.pem' },
      'together',
    ],
    ['TLS to the embedded broker', { KAFKA_SSL_ENABLED: 'true' }, 'set KAFKA_BROKERS'],
    ['one port for two', { DUELOG_HTTP_PORT: '18081' }, 'DUELOG_HTTP_PORT and DUELOG_EMBEDDED_REGISTRY_PORT are both 18081'],
    ['the port of the controller', { DUELOG_HTTP_PORT: '19093' }, 'are both 19093'],
    ['no port for the controller', { DUELOG_EMBEDDED_KAFKA_PORT: '65535' }, 'at most 65534'],
  ])('%s is refused', (_, env, part) => {
    expect(refusal(env)).toContain(part)
  })

  test('ports of embedded programs that are not started do not count', () => {
    const env = { KAFKA_BROKERS: 'a:1', SCHEMA_REGISTRY_URL: 'http://b', DUELOG_HTTP_PORT: '18081' }
    expect(readConfig(env).httpPort).toBe(18081)
  })
})

test('the client at a token endpoint has parameters and extensions, and its secret may stay in its file', () => {
  const file = join(folder, 'client-secret')
  writeFileSync(file, 'hidden')
  const { KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET: _, ...given } = oauth
  const env = {
    ...given,
    KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET_FILE: file,
    KAFKA_SASL_OAUTHBEARER_PARAMETERS: 'audience=https%3A%2F%2Fk&resource=r',
    KAFKA_SASL_OAUTHBEARER_EXTENSIONS: 'logicalCluster=lkc-1,identityPoolId=a=b',
  }
  expect(readConfig(env).sasl).toEqual({
    mechanism: 'oauthbearer',
    tokenUrl: 'https://id/token',
    clientId: 'me',
    clientSecret: undefined,
    clientSecretFile: file,
    scope: undefined,
    parameters: { audience: 'https://k', resource: 'r' },
    extensions: { logicalCluster: 'lkc-1', identityPoolId: 'a=b' },
    ca: undefined,
  })
})

describe('TLS files', () => {
  const env = { KAFKA_BROKERS: 'a:1', KAFKA_SSL_ENABLED: 'true' }

  test('are named, because they are read again', () => {
    const file = join(folder, 'ca.pem')
    writeFileSync(file, 'PEM')
    expect(readConfig({ ...env, KAFKA_SSL_CA_FILE: file }).ssl).toEqual({ caFile: file })
  })

  test('are read if one is a pipe, which gives its content once', () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    spawn('sh', ['-c', 'printf PEM > "$0"', pipe])
    expect(readConfig({ ...env, KAFKA_SSL_CA_FILE: pipe }).ssl).toEqual({ ca: 'PEM' })
  })

  test('that cannot be read are refused by name', () => {
    expect(refusal({ ...env, KAFKA_SSL_CA_FILE: join(folder, 'absent.pem') })).toMatch(
      /KAFKA_SSL_CA_FILE .*absent\.pem.*cannot be read/,
    )
  })
})

test('topics of other schedulers are neither our own nor of two kinds, and networks are networks', () => {
  const problem = (env: Record<string, string>): string => {
    try {
      readConfig(env)
      return 'taken'
    } catch (error) {
      return (error as Error).message
    }
  }
  expect(problem({ DUELOG_INTAKE_ETF1_TOPICS: 'duelog.jobs' })).toMatch(/duelog\.jobs, which is one of Duelog's own/)
  expect(problem({ DUELOG_INTAKE_ETF1_TOPICS: 'a,b', DUELOG_INTAKE_KARAFKA_TOPICS: 'b' })).toMatch(/both have b/)
  expect(problem({ DUELOG_TARGET_TOPICS: 'a, b' })).toMatch(/DUELOG_TARGET_TOPICS/)
  expect(problem({ DUELOG_HTTP_DENY: 'localhost' })).toMatch(/DUELOG_HTTP_DENY .* is "localhost"/)
  expect(problem({ DUELOG_HTTP_DENY: '10.0.0.0/33' })).toMatch(/DUELOG_HTTP_DENY/)
  const key = problem({ DUELOG_HTTP_SIGNING_KEY: 'whsec_short-and-secret' })
  expect(key).toMatch(/DUELOG_HTTP_SIGNING_KEY/)
  expect(key).not.toMatch(/short-and-secret/)
})
