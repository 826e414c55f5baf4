/** Texts of messages that name a setting, a wrong value or a wrong name. */
import { nearestOf } from '../../streams/text/index.ts'
import { flagOf } from './flags.ts'
import { allowedOf, type Setting, settingByName } from './settings.ts'

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
