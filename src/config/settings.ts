/** The settings of schemas/config.json, the only source of their names, types, limits, defaults and descriptions. */
import { settingsSchema as schema } from '../../schemas/index.ts'

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
