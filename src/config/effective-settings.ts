/** The settings in effect, for display: the given ones and the defaults of the others, without secrets. */
import type { Config } from './config.ts'
import { withoutQuery, withoutUser } from './messages.ts'
import { settings } from './settings.ts'

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
