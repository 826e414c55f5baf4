/** What every partition store must do, and the time index over it: the same cases over RocksDB and over the one of the models. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import RocksDB from 'rocksdb-native'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PartitionStore, StoreOp } from '../../src/ground/ports/store.ts'
import { rocksStores } from '../../src/log/store/rocks-store.ts'
import { TimeIndex } from '../../src/scheduler/timers/time-index.ts'
import {
  definitionKey,
  metaKey,
  rangeOf,
  stateKey,
  type Timer,
  timerBound,
  timerKey,
  timerKind,
} from '../../streams/state/keys.ts'
import { memoryStore } from '../tools/memory-store.ts'

/** Opens an empty store, and the same one again. */
interface Room {
  open(): Promise<PartitionStore>
  reopen(): Promise<PartitionStore>
}

let folder = ''
let partitions = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'duelog-store-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function rocksRoom(): Room {
  const stores = rocksStores(folder)
  const partition = partitions++
  const open = async (): Promise<PartitionStore> => (await stores.open(partition)).store
  return { open, reopen: open }
}

function memoryRoom(): Room {
  const store = memoryStore()
  return { open: async () => store, reopen: async () => store }
}

const key = (text: string): Buffer => metaKey(text)
const put = (text: string, value = text): StoreOp => ({ key: key(text), value: Buffer.from(value) })
const remove = (text: string): StoreOp => ({ key: key(text), value: null })
/** All that tests put; a store may have keys of its own beside. */
const all = { ...rangeOf(0x4d), limit: 10_000 }

it('a store of an earlier version, with large values in its tables, can be read and written', async () => {
  const path = join(folder, `partition-${partitions}`)
  const earlier = new RocksDB(path, { writeBufferSize: 4 * 1024 * 1024, maxBackgroundJobs: 2, maxOpenFiles: 256 })
  await earlier.ready()
  const batch = earlier.write({ capacity: 2, autoDestroy: true })
  batch.tryPut(key('a'), Buffer.alloc(500_000, 'a'))
  batch.tryPut(key('b'), Buffer.alloc(500_000, 'b'))
  await batch.flush()
  await earlier.compactRange(key('a'), key('z'))
  await earlier.close()
  const store = await rocksRoom().open()
  await store.apply([put('b', 'B'.repeat(500_000))])
  await store.compact(key('a'), key('z'))
  // Also what stands beside the tables counts.
  expect(await store.bytes()).toBeGreaterThan(1_000_000)
  const values = await store.get([key('a'), key('b')])
  expect(values.map((value) => value?.toString('latin1', 0, 2))).toEqual(['aa', 'BB'])
  await store.close()
})

describe.each([
  ['RocksDB', rocksRoom],
  ['memory', memoryRoom],
])('a store in %s', (_, roomOf) => {
  let room: Room
  let store: PartitionStore
  beforeEach(async () => {
    room = roomOf()
    store = await room.open()
  })
  afterEach(() => store.close())

  const names = async (options: Partial<Parameters<PartitionStore['scan']>[0]> = {}): Promise<string[]> =>
    (await store.scan({ ...all, ...options })).map((entry) => entry.key.toString('utf8', 1))

  describe('get', () => {
    it('answers in the order of the keys, null for missing ones', async () => {
      await store.apply([put('a', '1'), put('b', '2')])
      const values = await store.get([key('b'), key('none'), key('a'), key('b')])
      expect(values.map((value) => value?.toString() ?? null)).toEqual(['2', null, '1', '2'])
    })
    it('answers an empty request with an empty result', async () => {
      expect(await store.get([])).toEqual([])
    })
    it('distinguishes an empty value from none', async () => {
      await store.apply([put('a', '')])
      expect(await store.get([key('a'), key('b')])).toEqual([Buffer.alloc(0), null])
    })
    it('returns any bytes, many at once', async () => {
      const ops = Array.from({ length: 3_000 }, (_value, index) => ({
        key: key(`${index}`),
        value: Buffer.from([index & 255, 0, 255, index >> 8]),
      }))
      await store.apply(ops)
      expect(await store.get(ops.map((op) => op.key))).toEqual(ops.map((op) => op.value))
    })
    it('does not confuse a key with one that it is a prefix of', async () => {
      await store.apply([put('ab')])
      expect(await store.get([key('a'), key('abc'), key('')])).toEqual([null, null, null])
    })
    it.each([
      ['definitions', definitionKey],
      ['states', stateKey],
    ])('knows %s that were put, deleted, and put again', async (_kind, keyOf) => {
      const [known, unknown] = [keyOf('known'), keyOf('unknown')]
      const get = async (): Promise<(string | null)[]> =>
        (await store.get([unknown, known])).map((value) => value?.toString() ?? null)
      expect(await get()).toEqual([null, null])
      await store.apply([{ key: known, value: Buffer.from('1') }])
      expect(await get()).toEqual([null, '1'])
      await store.apply([{ key: known, value: null }])
      expect(await get()).toEqual([null, null])
      await store.apply([{ key: known, value: Buffer.from('2') }])
      expect(await get()).toEqual([null, '2'])
    })
  })

  describe('apply', () => {
    it('puts, replaces and deletes in one batch, in its order', async () => {
      await store.apply([put('a', '1'), put('b', '1')])
      await store.apply([put('a', '2'), remove('b'), put('c', '1'), put('c', '2'), put('d'), remove('d'), remove('e'), put('e')])
      const values = await store.get(['a', 'b', 'c', 'd', 'e'].map(key))
      expect(values.map((value) => value?.toString() ?? null)).toEqual(['2', null, '2', null, 'e'])
    })
    it('deletes missing keys without an error, and applies an empty batch', async () => {
      await store.apply([remove('none')])
      await store.apply([])
      expect(await names()).toEqual([])
    })
    it('is visible as a whole to every later read', async () => {
      const batch = Array.from({ length: 500 }, (_value, index) => put(`${index}`))
      const writing = store.apply(batch)
      // Whether it sees the batch is not said; half of it must not be seen.
      expect([0, 500]).toContain((await store.scan(all)).length)
      await writing
      expect(await store.scan(all)).toHaveLength(500)
    })
    it('accepts batches beyond a megabyte, and adds nothing that a scan would find', async () => {
      const value = Buffer.alloc(300_000, 7)
      for (const batch of [1, 2, 3])
        await store.apply(['a', 'b', 'c', 'd'].map((name) => ({ key: key(`${batch}${name}`), value })))
      expect(await store.scan(all)).toHaveLength(12)
      expect(await store.get([key('2c')])).toEqual([value])
    })
  })

  describe('scan', () => {
    it('ends with the entry that reaches its byte limit, and continues after it', async () => {
      await store.apply(Array.from({ length: 100 }, (_value, index) => put(String(index + 100), 'x'.repeat(996))))
      expect(await names({ bytesMax: 5_000 })).toEqual(['100', '101', '102', '103', '104'])
      expect(await names({ bytesMax: 5_001 })).toHaveLength(6)
      expect(await names({ from: key('150'), bytesMax: 40_000 })).toEqual(Array.from({ length: 40 }, (_, at) => String(150 + at)))
      expect(await names({ bytesMax: 5_000, limit: 2 })).toEqual(['100', '101'])
      expect(await names({ bytesMax: 1 })).toEqual(['100'])
    })
    const stored = ['a', 'a\u0000', 'aa', 'b', 'ba', 'é', '😀']
    beforeEach(() => store.apply(stored.toReversed().map((name) => put(name))))

    it('gives entries in the order of their bytes', async () => {
      expect(await names()).toEqual(stored)
      expect((await store.scan(all)).map(({ value }) => value.toString())).toEqual(stored)
    })
    it.each<[string, from: string, to: string, string[]]>([
      ['from is inclusive, to is not', 'a', 'b', ['a', 'a\u0000', 'aa']],
      ['bounds need not exist', 'a0', 'b0', ['aa', 'b']],
      ['equal bounds hold nothing', 'b', 'b', []],
      ['bounds in the wrong order hold nothing', 'b', 'a', []],
      ['a range without entries holds nothing', 'c', 'd', []],
    ])('%s', async (_case, from, to, expected) => {
      expect(await names({ from: key(from), to: key(to) })).toEqual(expected)
    })
    it.each([
      [0, 0],
      [1, 1],
      [3, 3],
      [7, 7],
      [100, 7],
    ])('with limit %i gives the first %i', async (limit, count) => {
      expect(await names({ limit })).toEqual(stored.slice(0, count))
    })
    it('with keysOnly gives no values', async () => {
      const entries = await store.scan({ ...all, keysOnly: true })
      expect(entries.map((entry) => entry.key.toString('utf8', 1))).toEqual(stored)
      expect(entries.every(({ value }) => value.length === 0)).toBe(true)
    })
    it('continues after the last key it gave', async () => {
      const read: string[] = []
      for (let from = all.from; ; ) {
        const entries = await store.scan({ ...all, from, limit: 2 })
        read.push(...entries.map((entry) => entry.key.toString('utf8', 1)))
        const last = entries.at(-1)
        if (last === undefined) break
        from = Buffer.concat([last.key, Buffer.of(0)])
      }
      expect(read).toEqual(stored)
    })
    it('passes over what was deleted', async () => {
      await store.apply([remove('a'), remove('b')])
      expect(await names({ limit: 3 })).toEqual(['a\u0000', 'aa', 'ba'])
    })
    it('returns more than one internal read fetches', async () => {
      await store.apply(Array.from({ length: 3_000 }, (_value, index) => put(`x${String(index).padStart(4, '0')}`)))
      expect(await names({ from: key('x'), to: key('y') })).toHaveLength(3_000)
      expect((await names({ from: key('x'), to: key('y'), limit: 2_500 })).at(-1)).toBe('x2499')
    })
  })

  describe('in the long run', () => {
    it('keeps everything when it is reopened', async () => {
      await store.apply([put('a', '1'), put('b'), { key: stateKey('job'), value: Buffer.from('s') }])
      await store.apply([remove('b'), put('a', '2')])
      await store.close()
      store = await room.reopen()
      expect(await names()).toEqual(['a'])
      const values = await store.get([key('a'), key('b'), stateKey('job'), stateKey('other')])
      expect(values.map((value) => value?.toString() ?? null)).toEqual(['2', null, 's', null])
    })
    it('loses nothing to a compaction', async () => {
      await store.apply(['a', 'b', 'c', 'd'].map((name) => put(name)))
      await store.apply([remove('b')])
      await store.compact(key('a'), key('d'))
      expect(await names()).toEqual(['a', 'c', 'd'])
    })
    it('returns large values, also after a compaction and a reopen', async () => {
      const large = (fill: string): string => fill.repeat(500_000)
      for (const name of ['a', 'b', 'c', 'd']) await store.apply([put(name, large(name))])
      await store.apply([put('b', large('x')), remove('c'), put('d', 'small')])
      await store.compact(key('a'), key('z'))
      await store.close()
      store = await room.reopen()
      const values = await store.get([key('a'), key('b'), key('c'), key('d')])
      expect(values.map((value) => value?.toString() ?? null)).toEqual([large('a'), large('x'), null, 'small'])
    })
    it('reports its size in bytes, never below zero', async () => {
      await store.apply([put('a', 'x'.repeat(10_000))])
      const bytes = await store.bytes()
      expect(Number.isFinite(bytes) && bytes >= 0).toBe(true)
    })
  })

  describe('under a time index', () => {
    const timerOf = (dueAt: number, name = 'job'): Timer => ({ dueAt, kind: timerKind.fire, jobId: name, runNo: 0 })
    let index: TimeIndex
    beforeEach(() => {
      index = new TimeIndex(store)
    })

    const write = async (timers: readonly Timer[]): Promise<void> => {
      for (const timer of timers) index.scheduled(timer)
      await store.apply(timers.map((timer) => ({ key: timerKey(timer), value: Buffer.alloc(0) })))
    }
    const drop = (timers: readonly Timer[]): Promise<void> =>
      store.apply(timers.map((timer) => ({ key: timerKey(timer), value: null })))
    /** Takes as an owner does: what was taken is deleted. */
    const take = async (notAfter: number, max = 10_000): Promise<number[]> => {
      const timers = await index.take(notAfter, max)
      await drop(timers)
      return timers.map(({ dueAt }) => dueAt)
    }
    const upTo = (count: number): number[] => Array.from({ length: count }, (_value, at) => at + 1)

    it('timers are taken in due order, once, and only due ones', async () => {
      await write([40, 10, 30, 20].map((dueAt) => timerOf(dueAt)))
      expect(await take(30)).toEqual([10, 20, 30])
      expect(await take(30)).toEqual([])
      expect(await take(40)).toEqual([40])
    })
    it('timers of one instant come by kind and then by job', async () => {
      const timers: Timer[] = [
        { dueAt: 5, kind: timerKind.lease, jobId: 'a', runNo: 2 },
        { dueAt: 5, kind: timerKind.fire, jobId: 'b', runNo: 0 },
        { dueAt: 5, kind: timerKind.lease, jobId: 'a', runNo: 1 },
        { dueAt: 5, kind: timerKind.fire, jobId: 'a', runNo: 0 },
      ]
      await write(timers)
      expect(await index.take(5, 10)).toEqual([timers[3], timers[1], timers[2], timers[0]])
    })
    it('at most max are taken, the rest next time', async () => {
      await write(upTo(5).map((dueAt) => timerOf(dueAt)))
      expect(await take(9, 2)).toEqual([1, 2])
      expect(await take(9, 0)).toEqual([])
      expect(await take(9, 9)).toEqual([3, 4, 5])
    })
    it('more than one slice is read from the store as it is taken', async () => {
      await write(upTo(1_700).map((dueAt) => timerOf(dueAt)))
      expect(await take(1_200)).toEqual(upTo(1_200))
      expect(index.nextDue).toBe(1_201)
      expect(await take(9_999)).toEqual(upTo(1_700).slice(1_200))
      expect(index.nextDue).toBe(Number.POSITIVE_INFINITY)
    })
    it('a full slice of one instant hides none after it', async () => {
      const timers = upTo(1_200).map((at) => timerOf(7, `job-${String(at).padStart(4, '0')}`))
      await write([...timers, timerOf(8)])
      expect((await index.take(7, 10_000)).map(({ jobId }) => jobId)).toEqual(timers.map(({ jobId }) => jobId))
      expect(await take(8)).toEqual([8])
    })
    it('the next due time is known after a take, and none is Infinity', async () => {
      expect(index.nextDue).toBeUndefined()
      expect(await take(0)).toEqual([])
      expect(index.nextDue).toBe(Number.POSITIVE_INFINITY)
      await write([timerOf(70), timerOf(60)])
      expect(index.nextDue).toBe(60)
    })
    it('timers written during a take come in their place, also before the taken ones', async () => {
      await write(upTo(600).map((at) => timerOf(at * 10)))
      expect(await take(30)).toEqual([10, 20, 30])
      await write([timerOf(45), timerOf(5), timerOf(5_555), timerOf(9_000)])
      expect(index.nextDue).toBe(5)
      expect(await take(50)).toEqual([5, 40, 45, 50])
      const rest = await take(9_999)
      expect(rest).toEqual(rest.toSorted((left, right) => left - right))
      expect(rest).toHaveLength(600 - 5 + 2)
    })
    it('a timer written into an instant that is half read comes once, in its place', async () => {
      const names = upTo(600).map((at) => `job-${String(at).padStart(4, '0')}`)
      await write(names.map((name) => timerOf(7, name)))
      await take(0)
      const more = ['a', 'job-0300-b', 'job-0599-b', 'z']
      await write(more.map((name) => timerOf(7, name)))
      const taken = await index.take(7, 10_000)
      expect(taken.map(({ jobId }) => jobId)).toEqual([...names, ...more].sort())
    })
    it('timers written during a read of the store come in their place', async () => {
      let asked = 0
      const told = {
        ...store,
        scan: async (options: Parameters<PartitionStore['scan']>[0]) => {
          if (++asked === 2) index.scheduled(timerOf(5, 'late'))
          return store.scan(options)
        },
      }
      index = new TimeIndex(told)
      await write(upTo(700).map((at) => timerOf(at * 10)))
      const taken = (await index.take(9_999, 10_000)).map(({ dueAt }) => dueAt)
      expect(taken).toHaveLength(701)
      expect(new Set(taken).size).toBe(701)
      expect(taken.indexOf(5)).toBe(500)
    })
    it('a timer that is written twice is taken once', async () => {
      await write([timerOf(10)])
      await take(0)
      await write([timerOf(10), timerOf(20)])
      await write([timerOf(20)])
      expect(await take(20)).toEqual([10, 20])
    })
    it('more timers before the horizon than fit into memory are all taken', async () => {
      await take(0)
      await write(
        upTo(5_000)
          .toReversed()
          .map((dueAt) => timerOf(dueAt)),
      )
      expect(await take(9_999)).toEqual(upTo(5_000))
    })
    it('a timer that was deleted in the store before it was read is not taken', async () => {
      await write(upTo(1_000).map((dueAt) => timerOf(dueAt)))
      await take(0)
      await drop([timerOf(900), timerOf(1_000)])
      expect(await take(9_999)).toEqual(upTo(999).filter((dueAt) => dueAt !== 900))
    })
    it('a second index over the same store finds the remaining timers of the first', async () => {
      await write(upTo(20).map((dueAt) => timerOf(dueAt)))
      await take(9)
      index = new TimeIndex(store)
      expect(await take(99)).toEqual(upTo(20).slice(9))
    })
    it('timers stay apart from the keys beside them', async () => {
      await store.apply([
        put('a'),
        { key: stateKey('job'), value: Buffer.from('s') },
        { key: Buffer.of(0x55), value: Buffer.from('u') },
      ])
      await write([timerOf(1)])
      expect(await take(9)).toEqual([1])
      expect(await store.scan({ from: timerBound(0), to: rangeOf(0x54).to, limit: 9 })).toEqual([])
    })
  })
})
