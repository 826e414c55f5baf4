/** The settings of schemas/config.json, the only source of their names, types, limits, defaults and descriptions. */
import { settingsSchema as schema } from '../../../schemas/index.ts'
import { nearestOf } from '../../../streams/text/index.ts'

export interface Setting {
  /** Name in the environment. */
  name: string
  type: 'string' | 'integer' | 'boolean'
  description: string
  default?: string | number | boolean
  /** Default if KAFKA_BROKERS is set. */
  defaultCluster?: number
  enum?: string[]
  pattern?: string
  minimum?: number
  maximum?: number
  unit?: string
  /** Its value appears in no message, log or command line. The setting `<name>_FILE` may name a file that holds it. */
  secret?: boolean
  /** The file of this secret is read again whenever it is needed. */
  reread?: boolean
  /** Name of the secret setting whose value is in this file. */
  fileOf?: string
  /** Minimum length of each token in the value, in characters. */
  tokenCharsMin?: number
  /** For commands that call a running Duelog. The system itself does not use it. */
  client?: boolean
}

export const configSchema = schema

export const settings: readonly Setting[] = Object.entries(schema.properties).flatMap(([name, property]) => {
  const setting: Setting = { name, ...(property as Omit<Setting, 'name'>) }
  return setting.secret === true ? [setting, fileSetting(setting)] : [setting]
})

function fileSetting({ name, client, reread }: Setting): Setting {
  const change = reread ? 'A change takes effect at the next sign-in.' : 'It is read at the start: restart after a change.'
  const description = `File that holds the value of ${name}. Set only one of the two. ${change}`
  return { name: `${name}_FILE`, type: 'string', description, fileOf: name, ...(client !== undefined && { client }) }
}

export const settingByName: ReadonlyMap<string, Setting> = new Map(settings.map((setting) => [setting.name, setting]))

/** The allowed values of a setting, as text. */
export function allowedOf(setting: Setting): string {
  const { type, minimum, maximum, unit, pattern, description } = setting
  if (setting.enum) return `one of ${setting.enum.join(', ')}`
  if (type === 'boolean') return 'true or false'
  if (type === 'integer') return `an integer from ${minimum} to ${maximum}${unit ? ` (${unit})` : ''}`
  return pattern ? `${description} It must match ${pattern}` : description
}

export interface Flag {
  /** As typed: `--http-port`. */
  name: string
  /** Key of its value in command-line parsers: `httpPort`. */
  key: string
  /** Name in the environment. */
  env: string
  /** Argument in a usage text: `<integer>`, `<string>`, or `[boolean]`, where no argument means true. */
  argument: string
  description: string
  default: string | number | boolean | undefined
}

export function flagOf(setting: Pick<Setting, 'name'>): string {
  return `--${setting.name
    .replace(/^DUELOG_/, '')
    .toLowerCase()
    .replaceAll('_', '-')}`
}

export function flagsFromSchema(): Flag[] {
  return settings
    .filter(({ client, secret }) => client !== true && secret !== true)
    .map((setting) => {
      const name = flagOf(setting)
      return {
        name,
        key: name.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
        env: setting.name,
        argument: setting.type === 'boolean' ? '[boolean]' : `<${setting.type}>`,
        description: setting.description,
        default: setting.default,
      }
    })
}

/** The given flags, keyed by `Flag.key`, as environment variables. Flags take precedence: `readConfig({ ...env, ...environmentOf(flags) })`. */
export function environmentOf(values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    flagsFromSchema().flatMap(({ key, env }) => (values[key] === undefined ? [] : [[env, String(values[key])]])),
  )
}

/** The message for a secret that is given as a flag. It does not repeat the value. */
export function refusalOfSecret(name: string): string {
  return `${flagOf({ name })} is no flag: other users of a machine can read command lines. Set ${name} in the environment, or set ${name}_FILE to the path of a file that holds it.`
}

/** Texts of messages that name a setting, a wrong value or a wrong name. */
export function named(name: string): string {
  const { secret = false, client = false } = settingByName.get(name) ?? {}
  return secret || client ? name : `${name} (${flagOf({ name })})`
}

/** A value for messages, without the part of an address that may be a password. */
export const withoutUser = (value: string): string =>
  value.replace(/[^\s/,"]+/g, (part) => (part.includes('@') ? `…${part.slice(part.lastIndexOf('@'))}` : part))

/** An address without what follows its question mark. */
export function withoutQuery(value: string): string {
  const from = value.includes('://') ? value.indexOf('?') : -1
  return from < 0 ? value : `${value.slice(0, from)}?…`
}

export function unknown(name: string): string {
  const known = [...settingByName.keys()].filter((name) => name.startsWith('DUELOG_'))
  const nearest = sameEnding(name) ?? nearestOf(name, known)
  return `There is no setting ${name}${nearest ? `; did you mean ${nearest}?` : `; there are ${known.join(', ')}.`}`
}

/** The setting without DUELOG_, or the only one that ends like this one, such as `_BROKERS`: it is meant rather than one that is two letters away. */
function sameEnding(name: string): string | undefined {
  const bare = name.replace(/^DUELOG_/, '')
  if (settingByName.has(bare)) return bare
  const ending = `_${name.replace(/^[^_]*_/, '')}`
  const found = [...settingByName.keys()].filter((known) => known !== name && known.endsWith(ending))
  return found.length === 1 ? found[0] : undefined
}

export function bad(name: string, value: string | undefined): string {
  const setting = settingByName.get(name) as Setting
  const allowed = allowedOf(setting).replace(/\.$/, '')
  return `${named(name)} is ${setting.secret ? 'not in the allowed form' : `"${withoutUser(value ?? '')}"`}; allowed: ${allowed}.`
}
