/** A PartitionStore over a sorted array, for models. Applied data survives as long as the object. */
import type { PartitionStore, ScanOptions, StoreEntry, StoreOp } from '../../ground/ports/index.ts'

export interface MemoryStore extends PartitionStore {
  getNow(keys: Buffer[]): (Buffer | null)[]
  applyNow(ops: StoreOp[]): void
  scanNow(options: ScanOptions): StoreEntry[]
  /** The entries in key order, as hex. */
  dump(): [key: string, value: string][]
  copy(): MemoryStore
}

const none = Buffer.alloc(0)
const hexOf = (key: string): string => Buffer.from(key, 'latin1').toString('hex')

/** All keys are sorted anew if more than this share of them have come or gone; the others are put into their places one by one. */
const sortedAnewShare = 1 / 16

/** `entries`: keys as text of one character for each byte, whose order is that of the bytes. */
export function memoryStore(entries = new Map<string, Buffer>()): MemoryStore {
  let order = [...entries.keys()].sort()
  /** Keys that came or went since the order was looked at. */
  const changed = new Set<string>()
  const sorted = (): string[] => {
    if (changed.size > order.length * sortedAnewShare) order = [...entries.keys()].sort()
    else
      for (const key of changed) {
        const at = placeIn(order, key)
        const isListed = order[at] === key
        if (isListed !== entries.has(key)) order.splice(at, isListed ? 1 : 0, ...(isListed ? [] : [key]))
      }
    changed.clear()
    return order
  }
  const getNow = (keys: Buffer[]): (Buffer | null)[] => keys.map((key) => entries.get(key.toString('latin1')) ?? null)
  const applyNow = (ops: StoreOp[]): void => {
    for (const { key, value } of ops) {
      const text = key.toString('latin1')
      if (value === null ? entries.delete(text) : !entries.has(text)) changed.add(text)
      if (value !== null) entries.set(text, value)
    }
  }
  const scanNow = ({ from, to, limit, bytesMax = Number.POSITIVE_INFINITY, keysOnly = false }: ScanOptions): StoreEntry[] => {
    const all = sorted()
    const [first, end] = [placeIn(all, from.toString('latin1')), placeIn(all, to.toString('latin1'))]
    const keys = all.slice(first, Math.min(end, first + Math.max(0, limit)))
    const valueAt = (key: string): Buffer => (keysOnly ? none : (entries.get(key) ?? none))
    const found: StoreEntry[] = []
    for (let bytes = 0; found.length < keys.length && bytes < bytesMax; ) {
      const key = keys[found.length] ?? ''
      const value = valueAt(key)
      bytes += key.length + value.length
      found.push({ key: Buffer.from(key, 'latin1'), value })
    }
    return found
  }
  return {
    getNow,
    applyNow,
    scanNow,
    get: async (keys) => getNow(keys),
    apply: async (ops) => applyNow(ops),
    scan: async (options) => scanNow(options),
    compact: async () => {},
    bytes: async () => 0,
    close: async () => {},
    dump: () => sorted().map((key) => [hexOf(key), (entries.get(key) ?? none).toString('hex')]),
    copy: () => memoryStore(new Map(entries)),
  }
}

/** The index of the first key that is not below this one. */
function placeIn(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((keys[middle] ?? '') < key) low = middle + 1
    else high = middle
  }
  return low
}
