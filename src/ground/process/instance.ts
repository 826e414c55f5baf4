/**
 * Identity of this process: name@host:pid:boot, and its release. The boot part distinguishes two processes with the same pid, and says which
 * of two was there first.
 */

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import pkg from '../../../package.json' with { type: 'json' }

export const version: string = pkg.version

/** Version of the time zone rules of this Node, such as 2026a. Offsets depend on these data only, not on the version of ICU. */
export const zoneRulesVersion: string = process.versions.tz ?? 'none'

/** The boot part begins with the time of the start: 8 characters until the year 2059, so that its order as text is that of the times. */
export function newInstance(name = 'duelog'): string {
  return `${name}@${hostname()}:${process.pid}:${Date.now().toString(36)}-${randomBytes(3).toString('hex')}`
}

/** The one of several processes that has started first. Undefined: there is none. */
export function firstStarted(instances: readonly string[]): string | undefined {
  const rankOf = (instance: string): string => instance.slice(instance.lastIndexOf(':'))
  return instances.toSorted((left, right) => (rankOf(left) < rankOf(right) ? -1 : 1))[0]
}

/** Whether a worker, name@host:pid:boot, is the one that a job names: by its name or by its host. */
export function isNamed(pinTo: string | null, instance: string): boolean {
  const [name, place = ''] = instance.split('@')
  return pinTo !== null && pinTo !== '' && (pinTo === name || pinTo === place.split(':')[0])
}

/** Longest name of a process that is read of others; longer ones are not ours. Ours have a host of 253 characters at most. */
export const instanceCharsMax = 512

export interface InstanceParts {
  name: string
  host: string
  pid: number
}

/** Of name@host:pid:boot, without `@` in the name. Undefined for other texts: any client may join a group, or sign a report. */
export function instanceParts(instance: string): InstanceParts | undefined {
  if (instance.length > instanceCharsMax) return undefined
  const [, name, host, pid] = /^([^@]+)@(.+):(\d{1,10}):[^:]+$/.exec(instance) ?? []
  return name === undefined || host === undefined ? undefined : { name, host, pid: Number(pid) }
}

/**
 * The URL at which other processes reach this one. A wildcard address (0.0.0.0 or ::) would lead a caller back to its own machine, so the
 * name of this machine replaces it.
 */
export function advertised(configured: string | undefined, bound: string): string {
  return configured ?? bound.replace(/^(https?):\/\/(0\.0\.0\.0|\[::\])(?=:)/, `$1://${hostname()}`)
}

/** Reserved names of actors in logs and the audit trail. */

/** Names with a fixed meaning: no authentication, another process, Duelog itself, the roles without a name. */
const reserved: ReadonlySet<string> = new Set([
  ...['local', 'peer', 'duelog', 'system', 'unknown', 'anonymous'],
  ...['viewer', 'operator', 'admin'],
])

/** Names are equal regardless of case, outer spaces and Unicode form. */
export function isReservedActor(name: string): boolean {
  return reserved.has(name.normalize('NFKC').trim().toLowerCase())
}
