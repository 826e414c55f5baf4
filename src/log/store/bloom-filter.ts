/**
 * Bloom filter (Burton H. Bloom, 1970) over the keys of definitions and states. It answers "there is no such key" without a read of the
 * store. Accepting a new job reads two missing keys, and through the binding each of these reads costs more than all other work.
 *
 * It is used only for a store that was empty when it was opened. For other stores every read goes through.
 */
import { prefix } from '../../../streams/state/index.ts'
import type { PartitionStore, StoreOp } from '../../ground/ports/index.ts'

/** 2 MiB. With a million keys 0.24 % of the missing keys are still read; with ten million most are. */
const bits = 2 ** 24
const probes = 4

/** `store` must be empty. */
export function withBloomFilter(store: PartitionStore): PartitionStore {
  const words = new Uint32Array(bits / 32)
  return {
    ...store,
    async get(keys) {
      const asked: Buffer[] = []
      const places: number[] = []
      for (let index = 0; index < keys.length; index++) {
        const key = keys[index]
        if (key === undefined || (filtered(key) && !mayHold(words, key))) continue
        asked.push(key)
        places.push(index)
      }
      const values = new Array<Buffer | null>(keys.length).fill(null)
      const found = asked.length === 0 ? [] : await store.get(asked)
      for (let index = 0; index < places.length; index++) values[places[index] ?? 0] = found[index] ?? null
      return values
    },
    apply(ops: StoreOp[]) {
      for (const { key, value } of ops) if (value !== null && filtered(key)) note(words, key)
      return store.apply(ops)
    },
  }
}

const filtered = (key: Buffer): boolean => key[0] === prefix.definition || key[0] === prefix.state

function note(words: Uint32Array, key: Buffer): void {
  const [first, step] = hashes(key)
  let at = first
  for (let probe = 0; probe < probes; probe++) {
    const bit = at & (bits - 1)
    words[bit >>> 5] = (words[bit >>> 5] ?? 0) | (1 << (bit & 31))
    at = (at + step) | 0
  }
}

function mayHold(words: Uint32Array, key: Buffer): boolean {
  const [first, step] = hashes(key)
  let at = first
  for (let probe = 0; probe < probes; probe++) {
    const bit = at & (bits - 1)
    if (((words[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false
    at = (at + step) | 0
  }
  return true
}

/** Two hashes give any number of probes (Kirsch and Mitzenmacher, 2006). 32-bit FNV-1a, its bits mixed once more for the second. */
function hashes(key: Buffer): [number, number] {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ (key[at] ?? 0), 0x01000193)
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return [hash ^ (hash >>> 15), (mixed ^ (mixed >>> 16)) | 1]
}
