/** Checks the values of options that programs pass in code, at once: without a compiler a mistyped value fails late, or is ignored. */
import { settingsSchema } from '../../../schemas/index.ts'
import { isPoolName, poolNameLimit } from '../../../streams/definitions/index.ts'
import { quoted } from '../../../streams/text/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import { hasUser } from '../../ground/network/index.ts'

interface Rule {
  fits(value: unknown): boolean
  allowed: string
  /** The value is not shown. */
  secret?: true
}

const { DUELOG_TOPIC_PREFIX, DUELOG_HTTP_SIGNING_KEY } = settingsSchema.properties

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isWord = (value: unknown): boolean => typeof value === 'string' && value !== ''
const matches = (pattern: string, value: unknown): boolean => typeof value === 'string' && new RegExp(pattern).test(value)
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isWord)

const wholeFrom = (min: number): Rule => ({
  fits: (value) => Number.isInteger(value) && Number(value) >= min,
  allowed: `a whole number of at least ${min}`,
})

const mechanisms = ['plain', 'scram-sha-256', 'scram-sha-512', 'aws', 'oauthbearer', 'aws-msk-iam']
const levels = ['debug', 'info', 'warn', 'error']

/** By name of the option. An option that is undefined is not checked. */
const rules: Record<string, Rule> = {
  concurrency: wholeFrom(1),
  drainMs: wholeFrom(0),
  clockStepMsMax: wholeFrom(0),
  runLogs: { fits: (value) => typeof value === 'boolean', allowed: 'true or false' },
  pool: { fits: (value) => typeof value === 'string' && isPoolName(value), allowed: poolNameLimit },
  topicPrefix: {
    fits: (value) => matches(DUELOG_TOPIC_PREFIX.pattern, value),
    allowed: `1 to 100 letters, digits, ".", "_" and "-", such as ${DUELOG_TOPIC_PREFIX.default}`,
  },
  clientId: {
    fits: (value) => typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value),
    allowed: '1 to 255 visible ASCII characters',
  },
  ca: {
    fits: (value) => typeof value === 'string' && value.includes('-----BEGIN CERTIFICATE-----'),
    allowed: 'PEM text of certificates',
    secret: true,
  },
  token: {
    fits: (value) => typeof value === 'string' && /^[\x21-\x7e]{1,8192}$/.test(value),
    allowed: '1 to 8192 visible ASCII characters',
    secret: true,
  },
  httpSigningKey: {
    fits: (value) => matches(DUELOG_HTTP_SIGNING_KEY.pattern, value),
    allowed: 'whsec_ and 24 to 64 bytes in base64',
    secret: true,
  },
  httpDeny: { fits: isTexts, allowed: 'a list of addresses and networks, such as ["10.0.0.0/8"]' },
  httpAllow: { fits: isTexts, allowed: 'a list of addresses and networks, such as ["10.20.0.0/16"]' },
  registryAuth: {
    fits: isRegistryAuth,
    allowed: '{ username, password }, { token } or { tokenFile }, all text',
    secret: true,
  },
  registrySsl: {
    fits: (value) => ['', 'File'].some((end) => areCertificates(value, end)),
    allowed: '{ ca, cert, key }, PEM texts, or { caFile, certFile, keyFile }, with certificate and key together',
    secret: true,
  },
  sasl: {
    fits: isSasl,
    allowed: `{ mechanism, username, password }, with one of ${mechanisms.join(', ')}; oauthbearer has tokenUrl, clientId and clientSecret or clientSecretFile, aws-msk-iam has region`,
    secret: true,
  },
  ssl: {
    fits: (value) => typeof value === 'boolean' || isRecord(value),
    allowed: 'true, false, an object of node:tls, or { caFile, certFile, keyFile }',
    secret: true,
  },
  logger: {
    fits: (value) => isRecord(value) && levels.every((level) => typeof value[level] === 'function'),
    allowed: `an object with the methods ${levels.join(', ')}, such as one of pino`,
    secret: true,
  },
}

function isRegistryAuth(value: unknown): boolean {
  if (!isRecord(value)) return false
  if (value.username !== undefined)
    return isWord(value.username) && typeof value.password === 'string' && value.token === undefined
  return isWord(value.token) ? value.tokenFile === undefined : isWord(value.tokenFile)
}

function isClient({ tokenUrl, clientId, clientSecret, clientSecretFile, ...more }: Record<string, unknown>): boolean {
  const isTextOrAbsent = (text: unknown): boolean => text === undefined || isWord(text)
  const areTexts = (map: unknown): boolean => map === undefined || (isRecord(map) && Object.values(map).every(isWord))
  return (
    typeof tokenUrl === 'string' &&
    /^https?:/.test(tokenUrl) &&
    URL.canParse(tokenUrl) &&
    !hasUser(tokenUrl) &&
    isWord(clientId) &&
    isWord(clientSecret) !== isWord(clientSecretFile) &&
    isTextOrAbsent(more.scope) &&
    isTextOrAbsent(more.ca) &&
    areTexts(more.parameters) &&
    areTexts(more.extensions)
  )
}

/** `end`: of the names. */
function areCertificates(value: unknown, end: string): boolean {
  const names = ['ca', 'cert', 'key'].map((name) => `${name}${end}`)
  if (!isRecord(value) || Object.keys(value).some((name) => !names.includes(name))) return false
  const [ca, cert, key] = names.map((name) => value[name])
  return [ca, cert, key].every((text) => text === undefined || isWord(text)) && (cert === undefined) === (key === undefined)
}

function isSasl(value: unknown): boolean {
  if (!isRecord(value) || typeof value.mechanism !== 'string') return false
  const mechanism = value.mechanism.toLowerCase()
  if (mechanism === 'aws') return isWord(value.authorizationIdentity)
  if (mechanism === 'aws-msk-iam') return isWord(value.region)
  if (mechanism === 'oauthbearer') return typeof value.oauthBearerProvider === 'function' || isClient(value)
  return mechanisms.includes(mechanism) && isWord(value.username) && typeof value.password === 'string'
}

/** Throws `bad-config` for the first option whose value is not allowed. */
export function requireSound(what: string, options: object): void {
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (value === undefined || rule === undefined || rule.fits(value)) continue
    const found = rule.secret ? 'does not have the allowed form' : `is ${quoted(value)}`
    throw new DuelogError('bad-config', `${name} of ${what} ${found}; allowed: ${rule.allowed}`)
  }
}
