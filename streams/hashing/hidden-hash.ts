/**
 * What a definition may hold that not all eyes may see, as one number: runs keep that of the definition they were made with. Words of a run
 * may repeat it, and are compared with what is hidden of the definition in force, which knows nothing of the one before (ADR 0060).
 */
import type { JobDefinition } from '../../schemas/index.ts'
import { fnv } from './fnv.ts'

type Hiding = Pick<JobDefinition, 'headers' | 'target'>

/** By definition: it is asked for at the end of each run. */
const known = new WeakMap<Hiding, number>()

/** 0: it has neither headers nor an http target. */
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
