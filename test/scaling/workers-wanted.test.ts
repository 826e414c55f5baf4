/** The number of workers that a pool needs, against a queue that is simulated without the formula. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { firstProcesses, processesWanted } from '../../src/scaling/processes-wanted.ts'
import { type Capacity, capacityKeptMs, type Load, lateMsMax, settleMs, workersWanted } from '../../src/scaling/workers-wanted.ts'

const idle: Load = {
  ...{ backlog: 0, forecast: 0, lateMs: 0, arrivalsPerS: 0, startsPerS: 0, starts: 0, running: 0, workers: 1, slots: 10 },
  partitions: 1_000,
}
const wanted = (load: Partial<Load>, before?: Capacity, nowMs = 0) => workersWanted({ ...idle, ...load }, before, nowMs)

it('an idle pool needs no worker; one run, one that comes due, or one at work needs one, also from none', () => {
  expect(wanted({ workers: 0 })).toMatchObject({ workers: 0, reason: 'idle' })
  expect(wanted({ workers: 0, backlog: 1 })).toMatchObject({ workers: 1, reason: 'backlog' })
  expect(wanted({ workers: 0, forecast: 1 })).toMatchObject({ workers: 1, reason: 'forecast' })
  expect(wanted({ workers: 0, running: 1 })).toMatchObject({ workers: 1, reason: 'running' })
})

it('handlers at work keep their slots: 41 of them with 10 slots are 5 workers', () => {
  expect(wanted({ running: 40, workers: 5 }).workers).toBe(4)
  expect(wanted({ running: 41, workers: 5 }).workers).toBe(5)
  // More than there are slots: the owners know of a batch that begins before its worker says that it has one slot.
  expect(wanted({ running: 600, workers: 2 }).workers).toBe(2)
})

it('long handlers get a slot each and no more; short ones are worked off in 10 seconds', () => {
  // 20 at work, and none has started since: each waiting run wants a slot.
  expect(wanted({ running: 20, backlog: 60, workers: 2 }).workers).toBe(2)
  expect(wanted({ running: 20, backlog: 600, workers: 2, startsPerS: 0.5, starts: 1 }).workers).toBe(62)
  // 10 at work and 100 starts a second: 0.1 s each, so a worker starts 100 a second; 3,000 in 10 s need 3, and 100 that come 1 more.
  expect(wanted({ running: 10, startsPerS: 100, arrivalsPerS: 100, starts: 200, backlog: 3_000 }).workers).toBe(4)
})

it('runs that are too short to be seen at work need no second worker', () => {
  const short = { running: 0, arrivalsPerS: 40, startsPerS: 40, starts: 80, forecast: 600 }
  expect(wanted(short)).toMatchObject({ workers: 1, reason: 'arrivals' })
})

it('runs that wait for two seconds get one worker more, once the last one has had time to start', () => {
  const late = { backlog: 5, lateMs: lateMsMax, running: 3, workers: 2 }
  const { capacity } = wanted(late)
  expect(wanted(late, capacity, settleMs - 1).workers).toBe(2)
  expect(wanted(late, capacity, settleMs)).toMatchObject({ workers: 3, reason: 'lateness' })
  expect(wanted({ ...late, lateMs: lateMsMax - 1 }, capacity, settleMs).workers).toBe(1)
})

it('what a worker can do is measured while runs wait, and used while they do not', () => {
  // The handlers compute: two workers start 20 a second together, although most of their slots are free.
  const busy = { backlog: 50, lateMs: 4_000, running: 2, workers: 2, startsPerS: 20, starts: 40, arrivalsPerS: 30 }
  const first = wanted(busy).capacity
  const { capacity, workers } = wanted(busy, first, settleMs)
  // 30 that come and 5 of the backlog, at 10 a second each.
  expect(workers).toBe(4)
  const calm = { running: 2, startsPerS: 30, starts: 60, arrivalsPerS: 30, workers: 4 }
  expect(wanted(calm, capacity, settleMs + 2_000).workers).toBe(3)
  expect(wanted(calm, capacity, settleMs + capacityKeptMs).workers).toBe(1)
})

it('a partition has one worker, so more workers than partitions are never wanted', () => {
  const load = { backlog: 90_000, lateMs: 60_000, running: 40, workers: 4, partitions: 4 }
  const { capacity, workers } = wanted(load)
  expect(workers).toBe(4)
  expect(wanted(load, capacity, settleMs).workers).toBe(4)
})

it('while owners do not answer, no worker is given up', () => {
  expect(wanted({ running: undefined, workers: 7 })).toMatchObject({ workers: 7, reason: 'owners-unknown' })
})

const number = (max: number) => fc.integer({ min: 0, max })
const anyLoad: fc.Arbitrary<Load> = fc.record({
  ...{ backlog: number(100_000), forecast: number(100_000), lateMs: number(60_000), arrivalsPerS: number(5_000) },
  ...{ startsPerS: number(5_000), starts: number(10_000), running: fc.option(number(10_000), { nil: undefined }) },
  ...{ workers: number(200), slots: fc.integer({ min: 1, max: 1_000 }), partitions: fc.constant(1_000_000) },
})

it('any load: a whole number, a slot for each handler at work, never fewer for more backlog', () => {
  fc.assert(
    fc.property(anyLoad, number(1_000_000), (load, more) => {
      const { workers } = workersWanted(load, undefined, 0)
      expect(Number.isSafeInteger(workers)).toBe(true)
      expect(workers * load.slots).toBeGreaterThanOrEqual(Math.min(load.running ?? 0, Math.max(load.workers, 1) * load.slots))
      expect(workersWanted({ ...load, backlog: load.backlog + more }, undefined, 0).workers).toBeGreaterThanOrEqual(workers)
      const isIdle = load.backlog + load.forecast + load.arrivalsPerS + (load.running ?? load.workers) === 0
      if (!isIdle && load.backlog + load.forecast + (load.running ?? 0) > 0) expect(workers).toBeGreaterThan(0)
    }),
  )
})

/** Seconds of a pool: runs come, each worker starts at most so many, and a new worker needs five seconds. It knows nothing of the formula. */
function simulated(comes: (second: number) => number, perWorkerPerS: number, seconds: number, max: number) {
  const limits = { min: 1, max, coolDownMs: 60_000 }
  let capacity: Capacity | undefined
  let decided = firstProcesses(limits)
  const ready = [0]
  const waiting: number[] = []
  const workers: number[] = []
  const waits: number[] = []
  let [came, started] = [0, 0]
  for (let second = 0; second < seconds; second++) {
    const arrivals = comes(second)
    came += arrivals
    for (let n = 0; n < arrivals; n++) waiting.push(second)
    const atWork = ready.filter((at) => at <= second).length
    const starts = waiting.splice(0, atWork * perWorkerPerS)
    started += starts.length
    for (const at of starts) waits.push(second - at)
    const load = {
      ...{ backlog: waiting.length, lateMs: waiting.length === 0 ? 0 : (second - (waiting[0] ?? second)) * 1_000 },
      ...{
        forecast: 0,
        arrivalsPerS: arrivals,
        startsPerS: starts.length,
        starts: starts.length,
        running: Math.min(atWork, starts.length),
      },
      ...{ workers: atWork, slots: 10, partitions: 100 },
    }
    const found = workersWanted(load, capacity, second * 1_000)
    capacity = found.capacity
    decided = processesWanted({ processes: found.workers, reason: found.reason }, decided, limits, second * 1_000)
    while (ready.length < decided.processes) ready.push(second + 5)
    ready.length = decided.processes
    workers.push(decided.processes)
  }
  return { workers, waits, lost: came - started - waiting.length, left: waiting.length }
}

it('a load that one worker cannot bear is borne by as many as it takes, within its limits, without a change to and fro', () => {
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 40 }), fc.integer({ min: 1, max: 8 }), (perWorkerPerS, times) => {
      const comes = perWorkerPerS * times - 1
      const { workers, waits, lost, left } = simulated((second) => (second < 300 ? comes : 0), perWorkerPerS, 500, 10)
      expect(lost).toBe(0)
      expect(left).toBe(0)
      // From the third minute on nobody waits, and the number stays.
      expect(waits.slice(comes * 150, comes * 290).every((wait) => wait <= 1)).toBe(true)
      const steady = workers.slice(180, 300)
      expect(Math.min(...steady)).toBeGreaterThanOrEqual(times)
      expect(Math.max(...workers)).toBeLessThanOrEqual(10)
      expect(steady.filter((count, at) => at > 0 && count > (steady[at - 1] ?? 0))).toEqual([])
      // And in the end, a cool-down after the last run, there is one.
      expect(workers.at(-1)).toBe(1)
    }),
    { numRuns: 30 },
  )
})

/**
 * Minutes of a pool with free slots, in which each run counts in the lag for so many seconds: a batch gathers, or an untracked handler works.
 * The number of workers changes nothing.
 */
function held(comes: (second: number) => number, holdS: number, seconds: number) {
  const limits = { min: 1, max: 16, coolDownMs: 60_000 }
  const came: number[] = [0]
  let capacity: Capacity | undefined
  let decided = firstProcesses(limits)
  const workers: number[] = []
  const at = (second: number): number => came[Math.max(0, Math.min(second, came.length - 1))] ?? 0
  for (let second = 1; second <= seconds; second++) {
    came.push(at(second) + comes(second))
    if (second % 2 === 1) continue
    const started = (until: number): number => at(until - holdS)
    const backlog = at(second) - started(second)
    const starts = started(second) - started(second - 2)
    const load = {
      ...{ backlog, forecast: 0, lateMs: backlog === 0 ? 0 : Math.min(second, holdS) * 1_000, running: 0 },
      ...{ arrivalsPerS: (at(second) - at(second - 2)) / 2, startsPerS: starts / 2, starts },
      ...{ workers: decided.processes, slots: 50, partitions: 64 },
    }
    const found = workersWanted(load, capacity, second * 1_000)
    capacity = found.capacity
    decided = processesWanted({ processes: found.workers, reason: found.reason }, decided, limits, second * 1_000)
    workers.push(decided.processes)
  }
  return workers
}

it('runs that are held and not late take no more workers: each step is tried, and not tried again for 10 minutes', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 2, max: 8 }), (rate, holdS) => {
      const workers = held(() => rate, holdS, 3_600)
      expect(Math.max(...workers)).toBeLessThanOrEqual(4)
      // In the second half hour: at most one step up in 10 minutes, and down again.
      const late = workers.slice(900)
      const steps = late.filter((count, index) => index > 0 && count > (late[index - 1] ?? 0)).length
      expect(steps).toBeLessThanOrEqual(3)
      expect(late.filter((count) => count <= 3).length).toBeGreaterThan(late.length * 0.7)
    }),
  )
})

it('a backlog that grows ends the pause of steps', () => {
  const late = { backlog: 40, lateMs: 5_000, arrivalsPerS: 8, startsPerS: 8, starts: 16, running: 0, slots: 50 }
  const one = wanted(late, wanted(late).capacity, settleMs)
  expect(one.workers).toBe(2)
  const two = wanted({ ...late, workers: 2 }, one.capacity, settleMs + 2_000)
  const tried = wanted({ ...late, workers: 2 }, two.capacity, 2 * settleMs + 2_000)
  expect(tried).toMatchObject({ workers: 1, capacity: { futile: { backlog: 40 } } })
  const grown = wanted({ ...late, workers: 2, backlog: 80 }, tried.capacity, 2 * settleMs + 4_000)
  expect(grown.workers).toBeGreaterThan(2)
  expect(grown.capacity.futile).toBeUndefined()
  // Nothing waits any more: what comes next is judged anew.
  expect(
    wanted({ ...late, backlog: 0, lateMs: 0, workers: 2 }, tried.capacity, 2 * settleMs + 4_000).capacity.futile,
  ).toBeUndefined()
})

it('a step is of use if more runs start, or fewer wait', () => {
  const late = { backlog: 40, lateMs: 5_000, arrivalsPerS: 20, startsPerS: 8, starts: 16, running: 0, slots: 50 }
  const before = wanted({ ...late, workers: 1 }, wanted(late).capacity, settleMs).capacity
  const futileWith = (second: Partial<Load>) => {
    const begun = wanted({ ...late, ...second, workers: 2 }, before, settleMs + 2_000).capacity
    const middle = wanted({ ...late, ...second, workers: 2 }, begun, settleMs + 7_000).capacity
    return wanted({ ...late, ...second, workers: 2 }, middle, 2 * settleMs + 2_000).capacity.futile
  }
  // 16 starts in 10 s at the first, and at each of the two measurements of the second.
  expect(futileWith({ starts: 8 })).toMatchObject({ backlog: 40 })
  expect(futileWith({ starts: 40 })).toBeUndefined()
  expect(futileWith({ starts: 8, backlog: 30 })).toBeUndefined()
})

it('while steps are of no use, what waits keeps one worker; after 10 minutes they are tried again', () => {
  const stuck = { backlog: 5, lateMs: 60_000, running: 0 }
  const before = wanted(stuck, wanted(stuck).capacity, settleMs).capacity
  const begun = wanted({ ...stuck, workers: 2 }, before, settleMs + 2_000).capacity
  const tried = wanted({ ...stuck, workers: 2 }, begun, 2 * settleMs + 2_000)
  expect(tried).toMatchObject({ workers: 1, reason: 'backlog' })
  const again = wanted(stuck, wanted(stuck, tried.capacity, 3 * settleMs).capacity, 2 * settleMs + 2_000 + capacityKeptMs)
  expect(again).toMatchObject({ workers: 2, reason: 'lateness' })
})

it('a step is of use too if its slots are taken: each one starts as many of long runs as the one before it', () => {
  const late = { backlog: 100, lateMs: 5_000, arrivalsPerS: 1, startsPerS: 0, slots: 10 }
  const settled = (load: Partial<Load>, before: Capacity | undefined, atMs: number) => {
    const begun = wanted({ ...late, ...load, starts: 10 }, before, atMs).capacity
    return wanted({ ...late, ...load, starts: 0 }, begun, atMs + settleMs)
  }
  const two = settled({ workers: 2, running: 20 }, settled({ workers: 1, running: 10 }, undefined, 0).capacity, settleMs + 2_000)
  const three = settled({ workers: 3, running: 30 }, two.capacity, 2 * settleMs + 4_000)
  expect(three).toMatchObject({ workers: 4, reason: 'lateness', capacity: { futile: undefined } })
  // The slots of the fourth stay free.
  const four = settled({ workers: 4, running: 32 }, three.capacity, 3 * settleMs + 6_000)
  expect(four.capacity.futile).toMatchObject({ backlog: 100 })
})
