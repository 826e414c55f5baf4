/**
 * Hash of the redacted parts of a definition. A run keeps the hash of the definition that it was made from. Texts of a run may repeat
 * redacted values. They are compared with the values of the definition in force, which does not know those of an earlier one (ADR 0060).
 */
import type { JobDefinition } from '../../schemas/index.ts'
import { fnv } from './hashes.ts'

type Hiding = Pick<JobDefinition, 'headers' | 'target'>

/** Cached by definition, because each end of a run needs it. */
const known = new WeakMap<Hiding, number>()

/** 0: the definition has neither headers nor an http target. */
export function hiddenHash(spec: Hiding): number {
  let hash = known.get(spec)
  if (hash === undefined) {
    hash = hashOf(spec)
    known.set(spec, hash)
  }
  return hash
}

function hashOf({ headers, target: { http } }: Hiding): number {
  const entries = Object.entries(headers)
  if (entries.length === 0 && http === null) return 0
  const texts = entries.sort(([left], [right]) => (left < right ? -1 : 1)).map(([name, value]) => [name, textOf(value)])
  return fnv(JSON.stringify([texts, http])) || 1
}

const textOf = (value: unknown): unknown => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value)
