/** Runs of a paused pool wait, lose no attempt and no time, and start when it is resumed. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { whyOf } from '../../../streams/jobs/reasons.ts'
import { attemptTimeoutGraceMs, timersOf } from '../../../streams/state/timers.ts'
import { JobHistory } from './history.ts'

const hour = 3_600_000
const job = (more: Partial<JobDefinitionInput> = {}): JobHistory =>
  new JobHistory().define({ retry: { maxAttempts: 1 }, startDeadlineMs: 100_000, ...more })
const pause = (history: JobHistory, isDrained = false): JobHistory =>
  Object.assign(history, { pause: { at: history.now, isDrained } })
const resume = (history: JobHistory): JobHistory => Object.assign(history, { pause: undefined }).followWorkers()
const dispatches = ({ out }: JobHistory): number => out.filter(({ kind }) => kind === 'dispatch').length
/** A run that waits since 1000. */
const waiting = (more: Partial<JobDefinitionInput> = {}): JobHistory => pause(job(more)).until(1_000)

const limits: [string, Partial<JobDefinitionInput>][] = [
  ['without limits', {}],
  ['with a slot', { concurrencyKey: 'k', concurrencyLimit: 1 }],
  ['with a rate', { rateLimit: { key: 'r', limit: 1, perMs: 1_000 } }],
  ['pinned', { pinTo: 'w' }],
]

describe('while its pool is paused, a run', () => {
  it.each(limits)('%s waits as long as that takes, and starts with its first attempt', (_, more) => {
    const history = waiting(more).until(8 * hour)
    expect(dispatches(history)).toBe(0)
    expect(history.state.active).toMatchObject([{ status: 'RETRY_WAIT', attempt: 1, releasedAttempts: 0, poolPausedAt: 1_000 }])
    resume(history)
    expect(history.dispatched).toMatchObject([{ attempt: 1, dueAt: 8 * hour, startDeadlineAt: 8 * hour + 100_000 }])
  })
  it('costs one logged state, however long it waits', () => {
    const history = waiting()
    const { state } = history
    expect(history.until(24 * hour).state).toBe(state)
    expect(history.restore().until(48 * hour).state.active).toEqual(state.active)
  })
  it('says so', () => {
    const history = waiting()
    expect(whyOf(history.job, history.now)[0]).toMatchObject({
      code: 'pool-paused',
      text: 'Run 1 waits until its pool default is resumed. It loses no attempt.',
    })
    expect(history.last.notes).toContainEqual({ kind: 'waiting', reason: 'pool-paused' })
    expect(history.until(hour).state.decisions.filter(({ reason }) => reason === 'pool-paused')).toHaveLength(1)
  })
  it('holds no slot and takes no start', () => {
    const history = waiting({ concurrencyKey: 'k', rateLimit: { key: 'r', limit: 1, perMs: 1_000 } })
    expect(history.starts.size).toBe(0)
    expect(history.state.active).toMatchObject([{ status: 'RETRY_WAIT', waitsFor: null }])
  })
  it('that waited for a slot or a start gives that up when its turn comes', () => {
    const history = job({ concurrencyKey: 'k', concurrencyLimit: 1 })
    history.others = { held: 1, waiting: 0 }
    pause(history.until(1_000)).others = { held: 0, waiting: 0 }
    history.admit()
    expect(history.state.active).toMatchObject([{ status: 'RETRY_WAIT', waitsFor: null, poolPausedAt: 1_000 }])
    const rated = job({ schedule: { everyMs: 100 }, maxConcurrentRuns: 2, rateLimit: { key: 'r', limit: 1, perMs: 5_000 } })
    pause(rated.until(200)).until(6_000)
    expect(dispatches(rated)).toBe(1)
    expect(rated.state.active.at(-1)).toMatchObject({ status: 'RETRY_WAIT', waitsFor: null, poolPausedAt: 5_100 })
  })
  it('that a worker gives back waits too', () => {
    const history = pause(job().until(1_000), false).report('RELEASED')
    expect(history.state.active).toMatchObject([{ status: 'RETRY_WAIT', attempt: 2, releasedAttempts: 1, poolPausedAt: 1_000 }])
  })
  it('that is due again after a failure waits', () => {
    const history = pause(
      job({ retry: { maxAttempts: 3 } })
        .until(1_000)
        .report('STARTED'),
    ).fail()
    history.until(hour)
    expect(dispatches(history)).toBe(1)
    expect(history.state.active).toMatchObject([{ status: 'RETRY_WAIT', attempt: 2, releasedAttempts: 0 }])
  })
  it('that runs goes on', () => {
    const history = pause(job().until(1_000).report('STARTED')).until(30_000).report('SUCCEEDED')
    expect(history.state.lastRun).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
  })
  it('fires as before: what overlaps is skipped', () => {
    const history = pause(job({ schedule: { everyMs: 1_000 }, overlap: 'SKIP' })).until(5_000)
    expect(history.state).toMatchObject({ runNo: 1, skipped: 4 })
  })
  it('can be cancelled', () => {
    const history = waiting().command('CANCEL_RUN', { runNo: 1 })
    expect(history.state.lastRun).toMatchObject({ status: 'CANCELLED' })
    expect(dispatches(resume(history))).toBe(0)
  })
})

describe('the deadlines', () => {
  it('startDeadlineMs counts only outside the pause', () => {
    // Half of it is over while no worker has the handler.
    const history = job()
    history.workers = { a: ['x'] }
    pause(history.until(51_000)).followWorkers().until(10_000_000)
    // Nothing has changed for the run before its next check, which finds the pause.
    const { startDeadlineAt = 0, poolPausedAt } = history.state.active[0] ?? {}
    history.workers = undefined
    resume(history)
    expect(history.dispatched.at(-1)?.startDeadlineAt).toBe(10_000_000 + startDeadlineAt - (poolPausedAt ?? 0))
    expect(startDeadlineAt).toBe(101_000)
  })
  it('expireAt holds, and says so', () => {
    const history = waiting({ schedule: { everyMs: 1_000_000, anchor: 1_000 }, expireAt: 500_000 }).until(499_999)
    expect(history.state.active).toHaveLength(1)
    history.until(500_000)
    expect(history.state.lastRun).toMatchObject({ status: 'EXPIRED', finishedAt: 500_000 })
    expect(history.decisions.flatMap(({ endedRuns }) => endedRuns)).toMatchObject([{ reason: 'pool-paused' }])
  })
  it('a run that nobody starts because of the pause does not expire', () => {
    const history = pause(job().until(1_000), false)
    history.now = 41_000
    history.pause = { at: 41_000, isDrained: false }
    history.until(101_000 + attemptTimeoutGraceMs)
    expect(history.state.active).toMatchObject([{ status: 'RETRY_WAIT', attempt: 2, releasedAttempts: 1, poolPausedAt: 41_000 }])
    expect(history.out).toContainEqual({ kind: 'cancel', runNo: 1, attempt: 1, specOffset: 0, reason: 'pool-paused' })
    resume(history.until(hour))
    expect(history.dispatched.at(-1)).toMatchObject({ attempt: 2, startDeadlineAt: hour + 60_000 })
  })
  it.each([
    ['the pool is drained, so its workers had all the time', 41_000, true],
    ['the pool was paused after the deadline', 101_000, false],
  ])('it expires if %s', (_, at, isDrained) => {
    const history = job().until(1_000)
    history.pause = { at, isDrained }
    history.until(101_000 + attemptTimeoutGraceMs)
    expect(history.state.lastRun).toMatchObject({ status: 'EXPIRED' })
  })
  it('a report that is not read yet is awaited', () => {
    const history = pause(job().until(1_000))
    history.eventsReadUntil = 101_000
    history.until(101_000 + attemptTimeoutGraceMs)
    expect(history.last.awaitsEventsUntil).toBe(101_000 + attemptTimeoutGraceMs)
    expect(history.state.active).toMatchObject([{ status: 'DISPATCHED', attempt: 1 }])
  })
})

describe('the owner', () => {
  it('checks every 10 minutes, and goes on by that alone', () => {
    const history = waiting()
    expect(timersOf(history.job).map(({ dueAt }) => dueAt)).toEqual([601_000])
    history.pause = undefined
    history.until(601_000)
    expect(history.dispatched).toMatchObject([{ attempt: 1, dueAt: 601_000 }])
  })
  it('decides nothing at a change that is of no use', () => {
    const history = waiting()
    const { state } = history
    expect(history.followWorkers().state).toBe(state)
  })
  it('does not dispatch a run before its time because its clock was ahead', () => {
    const history = waiting({ schedule: { at: 30_000 } }).until(30_000)
    history.now = 10_000
    expect(dispatches(resume(history))).toBe(0)
    expect(history.state.active).toMatchObject([{ status: 'RETRY_WAIT', poolPausedAt: null }])
    expect(history.until(30_000).dispatched).toMatchObject([{ attempt: 1, dueAt: 30_000, startDeadlineAt: 130_000 }])
  })
  it('does not dispatch a run hours late because its clock was ahead', () => {
    const history = waiting({ schedule: { at: 5 * hour } })
    history.until(5 * hour)
    expect(history.state.active).toHaveLength(1)
    history.now = 20_000
    resume(history)
    expect(history.dispatched).toMatchObject([{ attempt: 1, dueAt: 20_000, startDeadlineAt: 120_000 }])
  })
  it('goes on after a restore', () => {
    const history = waiting().restore()
    expect(resume(history).dispatched).toHaveLength(1)
  })
  it('lets a run wait for a handler after that, and the other way round', () => {
    const history = waiting()
    history.workers = { a: ['x'] }
    resume(history)
    expect(history.state.active).toMatchObject([{ handlerMissingAt: 1_000, poolPausedAt: null }])
    pause(history).until(2_000)
    expect(history.state.active).toMatchObject([{ handlerMissingAt: null, poolPausedAt: 2_000 }])
  })
})
