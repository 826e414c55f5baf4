/** The settings that this process goes by, to be shown: those that were given and the defaults of the others, and no secret. */
import type { Config } from './config.ts'
import { withoutUser } from './messages.ts'
import { settings } from './settings.ts'

export interface EffectiveSetting {
  name: string
  /** Null where it is absent and has no default, and where it is secret. */
  value: string | null
  /** Whether it was given, and not left to its default. */
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
      value: secret || value === null ? null : withoutUser(value).replace(/(:\/\/[^\s?]*)\?.*$/, '$1?…'),
    }
  })
}
