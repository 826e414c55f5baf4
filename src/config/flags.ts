/**
 * Each setting as a flag of `duelog up`: `--http-port` is DUELOG_HTTP_PORT, `--kafka-brokers` is KAFKA_BROKERS. Secrets have none, because
 * other users of a machine can read command lines.
 */
import { type Setting, settings } from './settings.ts'

export interface Flag {
  /** As typed: `--http-port`. */
  name: string
  /** As command-line parsers name its value: `httpPort`. */
  key: string
  /** Name in the environment. */
  env: string
  /** What follows the flag in a usage text: `<integer>`, `<string>`, or `[boolean]`, which may be left out for true. */
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

/** What the given flags, keyed as in `Flag.key`, are in the environment; flags win over it: `readConfig({ ...env, ...environmentOf(flags) })`. */
export function environmentOf(values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    flagsFromSchema().flatMap(({ key, env }) => (values[key] === undefined ? [] : [[env, String(values[key])]])),
  )
}

/** What is said to who gives a secret as a flag; its value is not repeated. */
export function refusalOfSecret(name: string): string {
  return `${flagOf({ name })} is no flag: other users of a machine can read command lines. Set ${name} in the environment, or name a file that holds it by ${name}_FILE.`
}
