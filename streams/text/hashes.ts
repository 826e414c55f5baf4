/** Hashes of text that are the same in every process and version. None of them protects anything. */

/** 32-bit FNV-1a (Fowler, Noll, Vo): equal texts give equal hashes. */
export function fnv(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

/** A number in [0, 1) for a text, always the same for the same text and spread evenly. FNV-1a with MurmurHash3's finish. */
export function hashFraction(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193)
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

/** Of a definition. */
interface Hiding {
  headers: object
  target: { http: unknown }
}

/** Cached by definition, because each end of a run needs it. */
const known = new WeakMap<Hiding, number>()

/**
 * Hash of the redacted parts of a definition; 0 if it has neither headers nor an http target. A run keeps the hash of the definition that
 * it was made from. Texts of a run may repeat redacted values. They are compared with the values of the definition in force, which does not
 * know those of an earlier one (ADR 0060).
 */
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

/** Of bytes: their Latin-1. The dashboard, which has no Buffer, has this file too. */
const textOf = (value: unknown): unknown =>
  value instanceof Uint8Array ? Array.from(value, (byte) => String.fromCharCode(byte)).join('') : value
