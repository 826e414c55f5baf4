/** The number of workers that a pool needs, against a queue that is simulated without the formula. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { firstProcesses, processesWanted } from '../../src/server/scaling/process-scaler.ts'
import { type Load, lateMsMax, type Pace, paceKeptMs, settleMs, workersWanted } from '../../src/server/scaling/workers-wanted.ts'

const idle: Load = {
  ...{ backlog: 0, forecast: 0, lateMs: 0, arrivalsPerS: 0, startsPerS: 0, starts: 0, running: 0, workers: 1, slots: 10 },
  partitions: 1_000,
}
const wanted = (load: Partial<Load>, before?: Pace, nowMs = 0) => workersWanted({ ...idle, ...load }, before, nowMs)

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
  const { pace } = wanted(late)
  expect(wanted(late, pace, settleMs - 1).workers).toBe(2)
  expect(wanted(late, pace, settleMs)).toMatchObject({ workers: 3, reason: 'lateness' })
  expect(wanted({ ...late, lateMs: lateMsMax - 1 }, pace, settleMs).workers).toBe(1)
})

it('what a worker can do is measured while runs wait, and used while they do not', () => {
  // The handlers compute: two workers start 20 a second together, although most of their slots are free.
  const busy = { backlog: 50, lateMs: 4_000, running: 2, workers: 2, startsPerS: 20, starts: 40, arrivalsPerS: 30 }
  const { pace, workers } = wanted(busy, wanted(busy).pace, settleMs)
  // 30 that come and 5 of the backlog, at 10 a second each.
  expect(workers).toBe(4)
  const calm = { running: 2, startsPerS: 30, starts: 60, arrivalsPerS: 30, workers: 4 }
  expect(wanted(calm, pace, settleMs + 2_000).workers).toBe(3)
  // Half as many are tried after an hour, as the handlers may have become shorter. Workers that start more show it at once.
  const tried = wanted(calm, pace, settleMs + paceKeptMs)
  expect(tried.workers).toBe(2)
  expect(wanted(calm, tried.pace, settleMs + paceKeptMs + 2_000).workers).toBe(2)
  expect(wanted({ ...calm, workers: 1 }, pace, settleMs + 2_000).workers).toBe(1)
})

it('a partition has one worker, so more workers than partitions are never wanted', () => {
  const load = { backlog: 90_000, lateMs: 60_000, running: 40, workers: 4, partitions: 4 }
  const { pace, workers } = wanted(load)
  expect(workers).toBe(4)
  expect(wanted(load, pace, settleMs).workers).toBe(4)
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
  let pace: Pace | undefined
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
    const found = workersWanted(load, pace, second * 1_000)
    pace = found.pace
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

it('a load that rises and falls with each hour is followed: for four hours few swings, and next to nobody waits', () => {
  const seconds = 4 * 3_600
  const comes = (second: number): number => Math.round(60 + 50 * Math.sin((2 * Math.PI * second) / 3_600))
  const { workers, waits } = simulated(comes, 12, seconds, 10)
  const steps = workers.map((count, at) => Math.sign(count - (workers[at - 1] ?? count))).filter((step) => step !== 0)
  expect(steps.filter((step, at) => step === -(steps[at - 1] ?? step)).length).toBeLessThanOrEqual(6 * 4)
  expect(waits.filter((wait) => wait > 10).length).toBeLessThan(waits.length / 1_000)
})
