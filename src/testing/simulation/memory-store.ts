/** A PartitionStore over a sorted array, for models. Applied data survives as long as the object. */
import type { PartitionStore, ScanOptions, StoreEntry, StoreOp } from '../../ports/index.ts'

export interface MemoryStore extends PartitionStore {
  getNow(keys: Buffer[]): (Buffer | null)[]
  applyNow(ops: StoreOp[]): void
  scanNow(options: ScanOptions): StoreEntry[]
  /** The entries in key order, as hex. */
  dump(): [key: string, value: string][]
  copy(): MemoryStore
}

export function memoryStore(entries = new Map<string, Buffer>()): MemoryStore {
  let order: string[] | undefined
  const sorted = (): string[] => {
    order ??= [...entries.keys()].sort()
    return order
  }
  const firstAt = (from: string): number => {
    const keys = sorted()
    let [low, high] = [0, keys.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((keys[middle] ?? '') < from) low = middle + 1
      else high = middle
    }
    return low
  }
  const getNow = (keys: Buffer[]): (Buffer | null)[] => keys.map((key) => entries.get(key.toString('hex')) ?? null)
  const applyNow = (ops: StoreOp[]): void => {
    for (const { key, value } of ops) {
      const hex = key.toString('hex')
      if (value === null ? entries.delete(hex) : !entries.has(hex)) order = undefined
      if (value !== null) entries.set(hex, value)
    }
  }
  const scanNow = ({ from, to, limit, bytesMax = Number.POSITIVE_INFINITY, keysOnly = false }: ScanOptions): StoreEntry[] => {
    const [first, end] = [firstAt(from.toString('hex')), firstAt(to.toString('hex'))]
    const keys = sorted().slice(first, Math.min(end, first + Math.max(0, limit)))
    const valueAt = (key: string): Buffer => (keysOnly ? Buffer.alloc(0) : (entries.get(key) ?? Buffer.alloc(0)))
    const found: StoreEntry[] = []
    for (let bytes = 0; found.length < keys.length && bytes < bytesMax; ) {
      const key = keys[found.length] ?? ''
      const value = valueAt(key)
      bytes += key.length / 2 + value.length
      found.push({ key: Buffer.from(key, 'hex'), value })
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
    dump: () => sorted().map((key) => [key, (entries.get(key) ?? Buffer.alloc(0)).toString('hex')]),
    copy: () => memoryStore(new Map(entries)),
  }
}
