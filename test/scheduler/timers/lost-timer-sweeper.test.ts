/** The sweeper behind the time index: a job that is overdue while nothing is due has lost its timer. */
import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { newMetrics } from '../../../src/ground/metrics/metrics.ts'
import { knownDefinition } from '../../../src/ground/records/decoders.ts'
import { LostTimerSweeper } from '../../../src/scheduler/timers/lost-timer-sweeper.ts'
import { TimeIndex } from '../../../src/scheduler/timers/time-index.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { stepsSpent } from '../../../streams/schedules/steps.ts'
import { pristineState } from '../../../streams/state/draft.ts'
import { definitionKey, definitionValue, stateKey, type Timer } from '../../../streams/state/keys.ts'
import { codecs } from '../../model/world.ts'
import { type MemoryStore, memoryStore } from '../../tools/memory-store.ts'

const minute = 60_000
const startAt = 1_800_000_000_000
const metrics = newMetrics()

let now: number
let store: MemoryStore
let sweeper: LostTimerSweeper
let written: Timer[]

beforeEach(() => {
  now = startAt
  store = memoryStore()
  written = []
  metrics.timersRearmed.reset()
  const clock = { nowMs: () => now, steadyMs: () => now, at: () => () => {} }
  sweeper = new LostTimerSweeper(store, { codecs, clock, metrics, logger: pino({ level: 'silent' }) })
})

const look = () => sweeper.sweep(now, (timer) => void written.push(timer))
const count = async () => (await metrics.timersRearmed.get()).values[0]?.value

/** A job without any timer. */
async function put(
  id: string,
  schedule: JobDefinitionInput['schedule'],
  state?: (changed: ReturnType<typeof pristineState>) => object,
  payload?: Buffer,
) {
  const bytes = codecs.definition.encode(completeDefinition({ schedule, target: { handler: 'noop' }, payload }))
  const definition = await knownDefinition(codecs, { offset: 1, appendedAt: startAt, bytes })
  store.applyNow([{ key: definitionKey(id), value: definitionValue(definition) }])
  if (state === undefined) return
  const pristine = pristineState({ id, definition })
  store.applyNow([{ key: stateKey(id), value: codecs.state.encode({ state: { ...pristine, ...state(pristine) } }) }])
}

describe('the lost-timer sweeper', () => {
  it('sets a lost timer again, where the time index finds it, and counts it', async () => {
    await put('a', { delayMs: 1_000 })
    const index = new TimeIndex(store)
    expect(await index.take(startAt + 10 * minute, 10)).toEqual([])
    now += 10 * minute
    await sweeper.sweep(now, (timer) => index.scheduled(timer))
    expect(await count()).toBe(1)
    expect(await index.take(now, 10)).toMatchObject([{ jobId: 'a', dueAt: startAt + 1_000 }])
    expect(await new TimeIndex(store).take(now, 10)).toHaveLength(1)
  })
  it('does so also for a job with decisions', async () => {
    await put('a', { everyMs: 1_000 }, () => ({ nextFireAt: startAt + 5_000, runNo: 4 }))
    now += 2 * minute
    await look()
    expect(written).toMatchObject([{ jobId: 'a', dueAt: startAt + 5_000 }])
  })
  it.each([
    ['is ahead', 0, { everyMs: minute }],
    ['may be on its way', minute, { delayMs: 1_000 }],
  ])('ignores %s', async (_, passedMs, schedule) => {
    await put('a', schedule)
    now += passedMs
    await look()
    expect(written).toEqual([])
    expect(await count()).toBe(0)
  })
  it.each<[string, object]>([
    ['is paused', { status: 'PAUSED' }],
    ['waits for a place', { waiting: true }],
    ['waits for its tombstone to be read', { status: 'COMPLETED', nextFireAt: null, deleteAt: startAt }],
  ])('ignores a job that %s', async (_, state) => {
    await put('a', { delayMs: 1_000 }, () => state)
    now += 10 * minute
    await look()
    expect(written).toEqual([])
  })
  it('stores the next check of a run that waits for a handler, and takes no moved check for a lost one', async () => {
    const worker = { startedAt: null, worker: null, waitsFor: null, limits: null, commandId: null, errors: [] }
    const times = { dueAt: startAt, dispatchedAt: startAt, scheduledFor: startAt, startDeadlineAt: startAt + 60 * minute }
    const waiting = { handlerMissingAt: startAt, tellAt: startAt + 1_000, status: 'RETRY_WAIT' as const, parked: true }
    const numbers = { runNo: 1, specOffset: 1, attempt: 1, releasedAttempts: 0, leaseMs: 10_000, attemptTimeoutMs: 60_000 }
    const made = {
      trigger: 'SCHEDULE' as const,
      snapshot: false,
      snapshotRunNo: null,
      routedTo: null,
      chainDepth: 0,
      chainLeft: 1,
    }
    const active = [{ ...worker, ...times, ...waiting, ...numbers, ...made }]
    await put('a', { delayMs: 1_000 }, () => ({ nextFireAt: null, runNo: 1, active }))
    const index = new TimeIndex(store)
    const sweepTo = async (at: number) => {
      now = at
      await sweeper.sweep(now, (timer) => index.scheduled(timer))
    }
    await sweepTo(startAt + 10 * minute)
    await sweepTo(startAt + 10 * minute + 3_000)
    expect(await count()).toBe(0)
    // Its wait began on the minute; the first four seconds are from the waits that double.
    expect(await index.take(now + minute, 10)).toMatchObject([{ jobId: 'a', runNo: 1, dueAt: startAt + 10 * minute + 4_000 }])
    await sweepTo(startAt + 90 * minute)
    expect(await index.take(now, 10)).toMatchObject([{ dueAt: startAt + 60 * minute }])
  })
  it('checks a few jobs each time, all of them in turn, and then begins again', async () => {
    for (let index = 0; index < 250; index++) await put(`job-${String(index).padStart(3, '0')}`, { delayMs: 1_000 })
    now += 10 * minute
    const found: number[] = []
    for (let looks = 0; looks < 4; looks++) {
      expect(sweeper.nextSweepAt).toBeLessThanOrEqual(now)
      const before = written.length
      await look()
      found.push(written.length - before)
      expect(sweeper.nextSweepAt).toBe(now + 2_000)
      now += 2_000
    }
    expect(found).toEqual([100, 100, 50, 100])
    expect(new Set(written.slice(0, 250).map(({ jobId }) => jobId)).size).toBe(250)
  })
  it('reads a megabyte each time if jobs are large, and continues after the last one', async () => {
    const payload = Buffer.alloc(500_000, 'x')
    for (let index = 0; index < 20; index++)
      await put(`job-${String(index).padStart(3, '0')}`, { delayMs: 1_000 }, undefined, payload)
    now += 10 * minute
    let read = 0
    const { get } = store
    store.get = async (keys) => {
      const values = await get(keys)
      for (const value of values) read += value?.length ?? 0
      return values
    }
    let most = 0
    for (let looks = 0; written.length < 20; looks++) {
      expect(looks).toBeLessThan(10)
      read = 0
      await look()
      most = Math.max(most, read)
      now += 2_000
    }
    expect(new Set(written.map(({ jobId }) => jobId)).size).toBe(20)
    expect(most).toBeLessThanOrEqual(2_100_000)
  })
  it('searches for a few milliseconds each time if rules are expensive, and continues after the last one', async () => {
    const rule = (index: number) => ({
      rrule: `FREQ=HOURLY;INTERVAL=1000;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU,SA;BYMINUTE=${index % 60};BYSECOND=${Math.floor(index / 60)}`,
      dtstart: 0,
    })
    for (let index = 0; index < 100; index++) await put(`job-${String(index).padStart(3, '0')}`, rule(index))
    now = Date.UTC(3_000, 0, 1)
    let [most, looks] = [0, 0]
    for (; new Set(written.map(({ jobId }) => jobId)).size < 100; looks++) {
      expect(looks).toBeLessThan(100)
      const before = stepsSpent()
      await look()
      most = Math.max(most, stepsSpent() - before)
      now += 2_000
    }
    expect(looks).toBeGreaterThan(1)
    expect(most).toBeLessThan(700_000)
  })
})
