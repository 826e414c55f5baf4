/** The settings as schemas/config.json states them: the one source of their names, types, limits, defaults and words. */
import { settingsSchema as schema } from '../../schemas/index.ts'

export interface Setting {
  /** Name in the environment. */
  name: string
  type: 'string' | 'integer' | 'boolean'
  description: string
  default?: string | number | boolean
  /** Default where KAFKA_BROKERS names a cluster. */
  defaultCluster?: number
  enum?: string[]
  pattern?: string
  minimum?: number
  maximum?: number
  unit?: string
  /** Its value appears in no message, no log and no command line; a file may hold it, which the setting `<name>_FILE` names. */
  secret?: boolean
  /** Name of the secret setting whose value is in the file that this one names. */
  fileOf?: string
  /** Fewest characters of a token in it. */
  tokenCharsMin?: number
  /** For commands that ask a running Duelog; the system itself has no use for it. */
  client?: boolean
}

export const configSchema = schema

export const settings: readonly Setting[] = Object.entries(schema.properties).flatMap(([name, property]) => {
  const setting: Setting = { name, ...(property as Omit<Setting, 'name'>) }
  return setting.secret === true ? [setting, fileSetting(setting)] : [setting]
})

function fileSetting({ name, client }: Setting): Setting {
  const description = `File with the value of ${name}, in its place.`
  return { name: `${name}_FILE`, type: 'string', description, fileOf: name, ...(client !== undefined && { client }) }
}

export const settingByName: ReadonlyMap<string, Setting> = new Map(settings.map((setting) => [setting.name, setting]))

/** What a setting takes, in words. */
export function allowedOf(setting: Setting): string {
  const { type, minimum, maximum, unit, pattern, description } = setting
  if (setting.enum) return `one of ${setting.enum.join(', ')}`
  if (type === 'boolean') return 'true or false'
  if (type === 'integer') return `an integer from ${minimum} to ${maximum}${unit ? ` (${unit})` : ''}`
  return pattern ? `${description} It must match ${pattern}` : description
}
