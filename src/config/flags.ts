/**
 * The flags of `duelog up`, one for each setting: `--http-port` is DUELOG_HTTP_PORT, `--kafka-brokers` is KAFKA_BROKERS. Secrets have no
 * flag, because other users of a machine can read command lines.
 */
import { type Setting, settings } from './settings.ts'

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
