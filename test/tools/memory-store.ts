/** A PartitionStore over a sorted array, for models; what was applied survives as long as the object. */
import type { PartitionStore, StoreOp } from '../../src/scheduler/ports.ts'

export interface MemoryStore extends PartitionStore {
  /** Entries in key order, as hex. */
  dump(): [key: string, value: string][]
  copy(): MemoryStore
}

export function memoryStore(entries = new Map<string, Buffer>()): MemoryStore {
  let order: string[] | undefined
  const sorted = (): string[] => {
    order ??= [...entries.keys()].sort()
    return order
  }
  return {
    get: async (keys) => keys.map((key) => entries.get(key.toString('hex')) ?? null),
    async apply(ops: StoreOp[]) {
      for (const { key, value } of ops) {
        if (value === null) entries.delete(key.toString('hex'))
        else entries.set(key.toString('hex'), value)
      }
      order = undefined
    },
    async scan({ from, to, limit }) {
      const [low, high] = [from.toString('hex'), to.toString('hex')]
      const found = sorted().filter((key) => key >= low && key < high)
      return found.slice(0, limit).map((key) => ({ key: Buffer.from(key, 'hex'), value: entries.get(key) ?? Buffer.alloc(0) }))
    },
    compact: async () => {},
    bytes: async () => 0,
    close: async () => {},
    dump: () => sorted().map((key) => [key, (entries.get(key) ?? Buffer.alloc(0)).toString('hex')]),
    copy: () => memoryStore(new Map(entries)),
  }
}
