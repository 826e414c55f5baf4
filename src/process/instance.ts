/** Identity of this process: name@host:pid:boot, and its release. The boot part distinguishes two processes with the same pid. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import pkg from '../../package.json' with { type: 'json' }

export const version: string = pkg.version

/** Version of the time zone rules of this Node, such as 2026a. Offsets depend on these data only, not on the version of ICU. */
export const zoneRulesVersion: string = process.versions.tz ?? 'none'

export function newInstance(name = 'duelog'): string {
  return `${name}@${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`
}

/**
 * The URL at which other processes reach this one. A wildcard address (0.0.0.0 or ::) would lead a caller back to its own machine, so the
 * name of this machine replaces it.
 */
export function advertised(configured: string | undefined, bound: string): string {
  return configured ?? bound.replace(/^(https?):\/\/(0\.0\.0\.0|\[::\])(?=:)/, `$1://${hostname()}`)
}
