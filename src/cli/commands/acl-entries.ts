/** The ACLs of roles and principals that a command line names. */
import { type AccessNames, type AccessRole, type AclEntry, accessOf, accessRoles } from '../../../schemas/index.ts'
import type { AclsWanted } from '../../cluster/index.ts'
import { readConfig } from '../../config/index.ts'
import { DuelogError } from '../../errors/index.ts'

export const roles = Object.keys(accessRoles) as AccessRole[]

export function accessNames(env: Record<string, string | undefined>): AccessNames {
  const { topicPrefix: prefix, pools, targetTopics: targets, intakeTopics } = readConfig(env)
  return { prefix, pools, targets, foreign: [...intakeTopics.etf1, ...intakeTopics.karafka] }
}

/** One entry for each resource of these roles. Throws `bad-usage`. */
export function entriesOf(names: AccessNames, wanted: readonly string[]): AclEntry[] {
  const entries = wanted.flatMap((name) => {
    const role = roles.find((known) => known === name.trim())
    if (role === undefined)
      throw new DuelogError('bad-usage', `Unknown role ${JSON.stringify(name)}. The roles are ${roles.join(', ')}.`)
    return accessOf(role, names)
  })
  return joined(entries)
}

/** `scheduler,retrier=User:duelog`: the roles, and the principal that runs them, which may itself have commas and equal signs. */
export function wantedOf(names: AccessNames, items: readonly string[]): AclsWanted[] {
  return items.map((item) => {
    const [, given = '', principal = ''] = /^([^=]*)=(.*)$/s.exec(item) ?? []
    if (principal === '')
      throw new DuelogError(
        'bad-usage',
        `--acls is ${JSON.stringify(item)}; give roles and their principal, such as scheduler,retrier=User:duelog.`,
      )
    requirePrincipal('--acls', principal)
    return { principal, entries: entriesOf(names, given.split(',')) }
  })
}

export function requirePrincipal(option: string, principal: string): void {
  if (/^[A-Za-z]+:./.test(principal)) return
  throw new DuelogError(
    'bad-usage',
    `${option} is ${JSON.stringify(principal)}; Kafka requires a type before the name, such as User:${principal}.`,
  )
}

/** Merges the entries of several roles for one resource. */
function joined(entries: readonly AclEntry[]): AclEntry[] {
  const byResource = new Map<string, AclEntry>()
  for (const entry of entries) {
    const key = `${entry.resource} ${entry.pattern} ${entry.name}`
    const known = byResource.get(key)
    if (known === undefined) byResource.set(key, entry)
    else {
      const why = known.why.includes(entry.why) ? known.why : `${known.why}; ${entry.why}`
      byResource.set(key, { ...known, operations: [...new Set([...known.operations, ...entry.operations])], why })
    }
  }
  return [...byResource.values()]
}
