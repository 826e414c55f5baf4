/** Timers that are written into a bucket after its reading has begun: they come once, and without a scan of what was read. */
import { expect, it } from 'vitest'
import type { ScanOptions, StoreEntry } from '../../../src/ground/ports/store.ts'
import { BurstPlanner } from '../../../src/scheduler/timers/burst-planner.ts'
import { type Timer, timerKey, timerKind } from '../../../streams/state/keys.ts'
import { memoryStore } from '../../tools/memory-store.ts'

const now = 1_000_000
/** In a bucket that is read at once when commits take long. */
const dueAt = now + 1_000
const slow = { extraLeadMs: 5_000 }

function planner(): {
  write: (timers: Timer[]) => Promise<void>
  remove: (timers: Timer[]) => Promise<void>
  take: (max: number, how?: { extraLeadMs: number; at?: number }) => Promise<string[]>
  scans: () => number
} {
  const store = memoryStore()
  const scan = store.scan.bind(store)
  let scans = 0
  store.scan = (options: ScanOptions): Promise<StoreEntry[]> => {
    scans++
    return scan(options)
  }
  const bursts = new BurstPlanner(store, 100, 10_000)
  const write = async (timers: Timer[]): Promise<void> => {
    for (const timer of timers) bursts.scheduled(timer)
    await store.apply(timers.map((timer) => ({ key: timerKey(timer), value: Buffer.alloc(0) })))
  }
  const remove = (gone: Timer[]): Promise<void> => store.apply(gone.map((timer) => ({ key: timerKey(timer), value: null })))
  const take = async (max: number, { extraLeadMs = slow.extraLeadMs, at = now } = {}): Promise<string[]> => {
    const taken = await bursts.take(at, max, 0, { extraLeadMs })
    await remove(taken)
    return taken.map(({ jobId }) => jobId)
  }
  return { write, remove, take, scans: () => scans }
}

const timers = (name: string, count: number, offsetMs = 0): Timer[] =>
  Array.from({ length: count }, (_, index) => ({
    jobId: `${name}-${index}`,
    kind: timerKind.fire,
    runNo: 0,
    dueAt: dueAt + offsetMs,
  }))

const names = (...lists: Timer[][]): string[] =>
  lists
    .flat()
    .map(({ jobId }) => jobId)
    .sort()

it('timers that are written into a bucket that was read come without a scan, once', async () => {
  const { write, take, scans } = planner()
  await write(timers('first', 3))
  expect((await take(1_000)).sort()).toEqual(names(timers('first', 3)))
  const before = scans()
  await write(timers('second', 200))
  expect((await take(1_000)).sort()).toEqual(names(timers('second', 200)))
  expect(await take(1_000)).toEqual([])
  expect(scans()).toBe(before)
})

it('a bucket is read again when more than 200 were written into it', async () => {
  const { write, take, scans } = planner()
  await write(timers('first', 3))
  await take(1_000)
  const before = scans()
  await write(timers('second', 201))
  expect((await take(1_000)).sort()).toEqual(names(timers('second', 201)))
  expect(scans()).toBeGreaterThan(before)
  expect(await take(1_000)).toEqual([])
})

it('timers written before and after the place of reading come once', async () => {
  const { write, take } = planner()
  await write([...timers('a', 5, 10), ...timers('b', 5, 50)])
  const found = await take(5)
  await write([...timers('before', 3, 5), ...timers('after', 3, 70)])
  found.push(...(await take(20)), ...(await take(20)))
  expect(found.sort()).toEqual(names(timers('a', 5), timers('b', 5), timers('before', 3), timers('after', 3)))
  expect(await take(4)).toEqual([])
})

it('a bucket whose reading was interrupted by an earlier one is read again', async () => {
  const { write, take } = planner()
  await write(timers('late', 6, 500))
  const found = await take(2)
  await write(timers('early', 3))
  for (let left = 4; left > 0; left--) found.push(...(await take(2)))
  await write(timers('again', 1, 500))
  found.push(...(await take(4)), ...(await take(4)))
  expect(found.sort()).toEqual(names(timers('late', 6), timers('early', 3), timers('again', 1)))
})

it('one read brings the buckets of the next second', async () => {
  const { write, take, scans } = planner()
  const each = Array.from({ length: 8 }, (_, bucket) => timers(`of-${bucket}`, 5, bucket * 100))
  for (const some of each) await write(some)
  // The count of what has come into view.
  await take(1)
  const before = scans()
  const found = await take(1_000)
  expect(scans()).toBe(before + 1)
  expect(found.length).toBe(39)
  expect(await take(1_000)).toEqual([])
})

it.each([3, 7, 12, 39])('timers come once and in due order, %i at a time, also those written meanwhile', async (max) => {
  const { write, take } = planner()
  const each = Array.from({ length: 8 }, (_, bucket) => timers(`of-${bucket}`, 5, bucket * 100))
  for (const some of each) await write(some)
  const found = await take(max)
  const later = [timers('later', 201, 350), timers('also', 3, 750)]
  for (const some of later) await write(some)
  for (let taken = await take(max); taken.length > 0; taken = await take(max)) found.push(...taken)
  expect(found.toSorted()).toEqual(names(...each, ...later))
  const buckets = found.filter((id) => id.startsWith('of-')).map((id) => Number(id.split('-')[1]))
  expect(buckets).toEqual(buckets.toSorted((left, right) => left - right))
})

it('a bucket with more than 200 timers is read when its turn comes', async () => {
  const { write, take, scans } = planner()
  const each = [timers('first', 3), timers('many', 201, 100), timers('last', 3, 200)]
  for (const some of each) await write(some)
  const found = await take(3)
  const before = scans()
  found.push(...(await take(1_000)))
  // The end of the first bucket with what follows, and the large one.
  expect(scans()).toBe(before + 2)
  expect(found.toSorted()).toEqual(names(...each))
  expect(await take(1_000)).toEqual([])
})

it('timers behind the view are not kept: those that stay come once, with those that are written meanwhile', async () => {
  const { write, remove, take } = planner()
  const each = [timers('in-view', 3, 8_800), timers('behind', 3, 9_050)]
  const deleted = timers('deleted', 3, 9_060)
  for (const some of [...each, deleted]) await write(some)
  const found = await take(1_000, { extraLeadMs: 20_000 })
  await remove(deleted)
  const later = timers('later', 3, 9_070)
  await write(later)
  found.push(...(await take(1_000, { extraLeadMs: 20_000, at: now + 500 })))
  expect(found.toSorted()).toEqual(names(...each, later))
})

const instant = now + 90_000
const stepMs = 50

/** A planner of a partition with so many timers at one instant, whose cycles with `timers` each took `tookMs`. */
async function planOf(count: number, { leadMsMax = 120_000, timers = 1_000, tookMs = 200 } = {}) {
  const store = memoryStore()
  const bursts = new BurstPlanner(store, 100, leadMsMax)
  const burst = Array.from({ length: count }, (_, index): Timer => {
    return { jobId: `burst-${index}`, kind: timerKind.fire, runNo: 0, dueAt: instant }
  })
  await store.apply(burst.map((timer) => ({ key: timerKey(timer), value: Buffer.alloc(0) })))
  for (let cycle = 0; cycle < 100; cycle++) bursts.dispatched(timers, tookMs)
  /** How long before the instant its dispatch begins. */
  const leadMs = async (): Promise<number> => {
    for (let at = now; at < instant; at += stepMs) if ((await bursts.take(at, 1, 0)).length > 0) return instant - at
    return 0
  }
  return { bursts, burst, leadMs }
}

it('a burst is dispatched earlier the larger it is and the slower this partition was', async () => {
  // 5 in a millisecond, of which four fifths are counted on.
  const quickMs = await (await planOf(20_000)).leadMs()
  expect(Math.abs(quickMs - 5_100)).toBeLessThanOrEqual(stepMs)
  const slowMs = await (await planOf(20_000, { tookMs: 1_000 })).leadMs()
  expect(Math.abs(slowMs - 25_100)).toBeLessThanOrEqual(stepMs)
  const largeMs = await (await planOf(60_000)).leadMs()
  expect(Math.abs(largeMs - 15_100)).toBeLessThanOrEqual(stepMs)
})

it('a burst that has begun goes on without a pause, also if this partition was quicker than planned', async () => {
  const { bursts, leadMs } = await planOf(20_000, { tookMs: 1_000 })
  const begun = instant - (await leadMs())
  for (let cycle = 0; cycle < 100; cycle++) bursts.dispatched(1_000, 200)
  expect(await bursts.take(begun, 1_000, 0)).toHaveLength(1_000)
  expect(bursts.wakeAt(begun, instant)).toBe(begun)
})

it('a small burst keeps a small lead, and cycles with few timers say nothing about the rate', async () => {
  expect(await (await planOf(400, { timers: 100, tookMs: 1_000 })).leadMs()).toBeLessThanOrEqual(350)
})

it('no lead is longer than the longest', async () => {
  expect(await (await planOf(20_000, { leadMsMax: 10_000, tookMs: 1_000 })).leadMs()).toBeLessThanOrEqual(10_000)
})

it('a large bucket is counted a part between two cycles, and the next cycle begins at once', async () => {
  const { bursts } = await planOf(10_000)
  const wakes: number[] = []
  for (let cycle = 0; cycle < 3; cycle++) {
    await bursts.take(now, 1, 0)
    wakes.push(bursts.wakeAt(now, instant) - now)
  }
  expect(wakes).toEqual([0, 0, 6_000])
})

it('timers that are written while their bucket is counted count once', async () => {
  const { bursts, burst, leadMs } = await planOf(20_000)
  await bursts.take(now, 1, 0)
  for (const timer of burst) bursts.scheduled(timer)
  // A fifth was counted before.
  expect(await leadMs()).toBeLessThanOrEqual(6_100 + stepMs)
})
