/**
 * Bursts that may not be dispatched ahead of their time, such as jobs that share a limit: later timers do not wait until all of
 * the burst is decided.
 */
import { expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../schemas/generated.ts'
import { TimerSource } from '../../src/scheduler/commit/timer-source.ts'
import type { Shared } from '../../src/scheduler/options/options.ts'
import { HeavyJobs } from '../../src/scheduler/state/job-loader.ts'
import { TimeIndex } from '../../src/scheduler/timers/time-index.ts'
import { type Timer, timerKey, timerKind } from '../../streams/state/keys.ts'
import { leadMs, names } from '../model/world.ts'
import { ManualClock } from '../tools/manual-clock.ts'
import { memoryStore } from '../tools/memory-store.ts'
import { beginMs, SchedulerDriver } from '../tools/scheduler-driver.ts'

const count = 8_000
const commitMs = 50
const dueAt = beginMs + 100_000

/** `decided`: number of decisions for each job of the burst. `lateMs`: time of each neighbor from its due time until it is in the log. */
async function fired(limits: Partial<JobDefinitionInput>) {
  const driver = new SchedulerDriver(1, 'owners', { leadMsMax: 10_000 })
  driver.boot('A')
  await driver.settle()
  const decided = new Map<string, number>()
  const append = driver.log.append.bind(driver.log)
  driver.log.append = (records, transaction) => {
    // A commit takes some time, so the next commit cycles are later.
    if (transaction !== undefined) driver.time.nowMs += commitMs
    for (const { topic, key } of records) {
      const name = String(key)
      if (topic === names.state && name.includes('herd-')) decided.set(name, (decided.get(name) ?? 0) + 1)
    }
    return append(records, transaction)
  }
  const target = { handler: 'x' }
  for (let index = 0; index < count; index++) driver.define(`herd-${index}`, { schedule: { at: dueAt }, target, ...limits })
  const neighbors = Array.from({ length: 10 }, (_, index) => dueAt + 50 + 100 * index)
  for (const at of neighbors) driver.define(`neighbor-${at}`, { schedule: { at }, target })
  await driver.advance(85_000, 1_000)
  decided.clear()
  await driver.advance(20_000, 20)
  const executions = driver.executions()
  const isNeighbor = ({ jobId }: { jobId: string }): boolean => jobId.startsWith('neighbor')
  return {
    decided,
    burst: executions.filter((execution) => !isNeighbor(execution)),
    lateMs: executions.filter(isNeighbor).map((execution) => beginMs + execution.at - execution.dueAt),
    neighbors: neighbors.length,
  }
}

it.each([
  ['a rate', { rateLimit: { key: 'k', limit: 3, perMs: 1_000 } }, 18],
  ['a concurrency key', { concurrencyKey: 'k', concurrencyLimit: 3 }, 3],
])('neighbors of thousands of jobs of %s are in the log one commit after they are due', async (_, limits, mayGo) => {
  const { decided, burst, lateMs, neighbors } = await fired(limits)
  expect(lateMs).toHaveLength(neighbors)
  expect(Math.max(...lateMs)).toBeLessThanOrEqual(commitMs)
  expect(decided.size).toBe(count)
  // Runs that got a slot are decided once more for it. All others wait and are not touched.
  expect([...decided.values()].reduce((sum, times) => sum + times, 0)).toBeLessThanOrEqual(count + mayGo)
  expect(new Set(burst.map(({ jobId }) => jobId)).size).toBe(mayGo)
  expect(burst).toHaveLength(mayGo)
  expect(burst.every(({ dispatchedAt, dueAt: due }) => due - dispatchedAt <= leadMs)).toBe(true)
})

const timer = (jobId: string, at: number): Timer => ({ jobId, kind: timerKind.fire, runNo: 0, dueAt: at })

async function timerSourceOf(timers: Timer[], shared: Partial<Shared>): Promise<TimerSource> {
  const store = memoryStore()
  await store.apply(timers.map((each) => ({ key: timerKey(each), value: Buffer.alloc(0) })))
  return new TimerSource(new TimeIndex(store), store, { clock: new ManualClock(), ...shared } as Shared, new HeavyJobs())
}

it('half of a batch is for deferred timers while others are due, and each timer comes once', async () => {
  const burst = Array.from({ length: 3_000 }, (_, index) => timer(`herd-${String(index).padStart(4, '0')}`, 1_000))
  const others = Array.from({ length: 700 }, (_, index) => timer(`other-${index}`, 1_001))
  const timerSource = await timerSourceOf([...burst, ...others], { leadMs: 0, leadMsMax: 0 })
  timerSource.defer(burst.map((each) => ({ timer: each, untilMs: 1_000 })))
  const taken: string[][] = []
  for (let runCommitCycle = 0; runCommitCycle < 5; runCommitCycle++)
    taken.push((await timerSource.take(1_001, false, 0)).map(({ jobId }) => jobId))
  const counts = taken.map((ids) => [
    ids.filter((id) => id.startsWith('herd')).length,
    ids.filter((id) => id.startsWith('other')).length,
  ])
  expect(counts).toEqual([
    [500, 500],
    [800, 200],
    [1_000, 0],
    [700, 0],
    [0, 0],
  ])
  expect(new Set(taken.flat()).size).toBe(burst.length + others.length)
})

it('a timer that is deferred beyond its due time comes at its time too: it may have been written again', async () => {
  const late = timer('late', 1_000)
  const timerSource = await timerSourceOf([late], { leadMs: 0, leadMsMax: 0 })
  timerSource.defer([{ timer: late, untilMs: 9_000 }])
  expect(await timerSource.take(1_000, false, 0)).toEqual([late])
})

it('while very many timers are deferred no burst is sought ahead of its time, and nothing wakes up for it', async () => {
  const burst = Array.from({ length: 300 }, (_, index) => timer(`herd-${index}`, 9_000))
  const putOff = (many: number) =>
    Array.from({ length: many }, (_, index) => ({ timer: timer(`${index}`, 5_000), untilMs: 5_000 }))
  const few = await timerSourceOf(burst, { leadMs: 100, leadMsMax: 10_000 })
  few.defer(putOff(39_999))
  expect(await few.take(1_000, false, 0)).toHaveLength(0)
  expect(few.wakeAt(1_000)).toBeLessThan(5_000)
  const many = await timerSourceOf(burst, { leadMs: 100, leadMsMax: 10_000 })
  many.defer(putOff(40_000))
  expect(await many.take(4_900, false, 0)).toHaveLength(0)
  expect(many.wakeAt(4_900)).toBe(5_000)
})
