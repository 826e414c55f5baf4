/** Who this process is: name@host:pid:boot, and its release. The boot part tells two processes apart that were given the same pid. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import pkg from '../../package.json' with { type: 'json' }

export const version: string = pkg.version

/** Version of the time zone rules that this Node has, such as 2026a. Offsets follow from these data alone, whatever the version of ICU. */
export const zoneRulesVersion: string = process.versions.tz ?? 'none'

export function newInstance(name = 'duelog'): string {
  return `${name}@${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`
}

/**
 * The URL under which others reach this process. An address that stands for all of a machine leads whoever dials it back to himself: in its
 * place stands the machine's name.
 */
export function advertised(configured: string | undefined, bound: string): string {
  return configured ?? bound.replace(/^http:\/\/(0\.0\.0\.0|\[::\])(?=:)/, `http://${hostname()}`)
}
