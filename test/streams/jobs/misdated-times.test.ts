/** Times that were set by a clock ahead of time are found and corrected. What a correct clock postponed stays as it is. */
import { describe, expect, it } from 'vitest'
import { misdatedTimersOf } from '../../../streams/jobs/misdated-times.ts'
import { StartTimes } from '../../../streams/state/starts.ts'
import { JobHistory } from '../runs/history.ts'

const hourMs = 3_600_000

/** The clock is correct again, and the owner finds the job. */
function correctTimes(job: JobHistory, now: number): JobHistory {
  job.now = now
  const timers = misdatedTimersOf(job.job, now)
  expect(timers).not.toEqual([])
  for (const timer of timers) job.step({ kind: 'timer', timer })
  expect(misdatedTimersOf(job.job, now)).toEqual([])
  return job
}

const limits = { rateLimit: { key: 'k', limit: 1, perMs: 1_000 }, startDeadlineMs: 2 * hourMs }

describe('after a clock that was hours ahead', () => {
  it('a missing topic is checked again at once', () => {
    let problem: string | undefined = 'Topic out does not exist.'
    const job = new JobHistory({ topicProblem: () => problem })
    job.now = 5 * hourMs
    job.define({ schedule: { everyMs: 10_000 }, target: { topic: { name: 'out' } } })
    expect(job.state).toMatchObject({ status: 'INVALID', recheckAt: 5 * hourMs + 5_000 })
    problem = undefined
    expect(correctTimes(job, 20_000).until(20_000).state).toMatchObject({ status: 'ACTIVE', recheckAt: null })
  })
  it('a parked retry comes when its backoff has passed, with the full time to start', () => {
    const job = new JobHistory().define({ startDeadlineMs: 7_000, retry: { backoff: { fixed: { delayMs: 500 } } } }).until(1_000)
    job.now = 5 * hourMs
    job.fail()
    expect(job.state.active[0]).toMatchObject({ status: 'RETRY_WAIT', parked: true, dueAt: 5 * hourMs + 500 })
    correctTimes(job, 20_000)
    expect(job.state.active[0]).toMatchObject({ dueAt: 20_500, startDeadlineAt: 27_500 })
    expect(job.until(20_500).sent.at(-1)).toMatchObject({ attempt: 2, dueAt: 20_500 })
  })
  it('a start under a rateLimit is assigned again', () => {
    const job = new JobHistory().define({
      ...limits,
      schedule: { everyMs: 100 },
      overlap: 'ALLOW',
      catchUp: 'ALL',
      catchUpMax: 3,
    })
    job.now = 5 * hourMs
    job.until(5 * hourMs)
    expect(job.state.active.map(({ status }) => status)).toEqual(['DISPATCHED', 'WAITING', 'WAITING'])
    correctTimes(job, 20_000)
    expect(job.state.active.slice(1).map(({ dueAt }) => dueAt)).toEqual([21_000, 22_000])
    expect(job.until(22_000).sent.map(({ dispatchedAt }) => dispatchedAt)).toEqual([5 * hourMs, 21_000, 22_000])
  })
  it('a start under a rateLimit is assigned again to runs with payloads of their own, each loaded separately', () => {
    const job = new JobHistory().define({ ...limits, schedule: { at: 90 * hourMs }, overlap: 'ALLOW', maxConcurrentRuns: 3 })
    job.now = 5 * hourMs
    for (const payload of ['a', 'b', 'c']) job.command('TRIGGER', { payload: Buffer.from(payload) })
    expect(job.state.active.map(({ status }) => status)).toEqual(['DISPATCHED', 'WAITING', 'WAITING'])
    correctTimes(job, 20_000)
    expect(job.until(22_000).sent.map(({ payload }) => payload?.toString())).toEqual(['a', 'b', 'c'])
  })
  it('a running attempt has its lease and its timeout from the present', () => {
    const job = new JobHistory().define({ leaseMs: 10_000, attemptTimeoutMs: 15_000 }).until(1_000)
    job.now = 5 * hourMs
    job.report('STARTED', { startedAt: 5 * hourMs })
    correctTimes(job, 20_000)
    expect(job.state.active[0]).toMatchObject({ status: 'RUNNING', startedAt: 20_000 })
    expect(job.until(30_000).state.active[0]).toMatchObject({ attempt: 2 })
  })
  it('a pinned run is redelivered', () => {
    const job = new JobHistory().define({ pinTo: 'w' })
    job.now = 5 * hourMs
    job.until(5 * hourMs)
    expect(job.state.active[0]?.tellAt).toBeGreaterThan(5 * hourMs)
    correctTimes(job, 20_000).until(20_000)
    expect(job.out.at(-1)).toMatchObject({ kind: 'redeliver' })
  })
  it('a run that waits for its handler is checked, and starts when a worker has it', () => {
    const job = new JobHistory().define({ schedule: { at: 5 * hourMs }, leaseMs: 10_000 })
    job.workers = { a: ['x'] }
    job.until(5 * hourMs)
    job.workers = { b: ['noop'] }
    correctTimes(job, 20_000).until(21_000)
    expect(job.dispatched).toMatchObject([{ dueAt: 20_000 }])
  })
  it('a run that waits for its handler, and is due by that clock only, is due now', () => {
    const job = new JobHistory().define()
    job.workers = { a: ['x'] }
    const { active } = job.until(1_000).state
    job.job = { ...job.job, state: { ...job.state, active: active.map((run) => ({ ...run, dueAt: 5 * hourMs })) } }
    expect(correctTimes(job, 20_000).state.active).toMatchObject([{ dueAt: 20_000, handlerMissingAt: 1_000 }])
  })
  it('a run that waits for its pool, and is due by that clock only, is due now', () => {
    const job = new JobHistory().define()
    job.pause = { at: 0, isDrained: false }
    const { active } = job.until(1_000).state
    job.job = { ...job.job, state: { ...job.state, active: active.map((run) => ({ ...run, dueAt: 5 * hourMs })) } }
    expect(correctTimes(job, 20_000).state.active).toMatchObject([{ dueAt: 20_000, poolPausedAt: 1_000 }])
  })
  it('an interval from the end of a run continues, and a finished job is deleted in time', () => {
    const job = new JobHistory().define({ schedule: { everyMs: 10_000, from: 'END' } }).until(10_000)
    job.now = 5 * hourMs
    job.report('SUCCEEDED')
    expect(correctTimes(job, 20_000).state.nextFireAt).toBe(30_000)
    const done = new JobHistory().define({ retainCompletedMs: 60_000 }).until(1_000)
    done.now = 5 * hourMs
    done.report('SUCCEEDED')
    expect(correctTimes(done, 20_000).state).toMatchObject({ status: 'COMPLETED', finishedAt: 20_000, deleteAt: 80_000 })
  })
})

it.each([
  ['a late start of its own accord', { schedule: { everyMs: 60_000, from: 'END' as const }, startAt: 9 * hourMs }, 'none'],
  [
    'a late first run of an interval from the end of the last',
    { schedule: { everyMs: 60_000, from: 'END' as const, anchor: 9 * hourMs } },
    'trigger',
  ],
  ['a retry with a long backoff', { retry: { backoff: { fixed: { delayMs: 9 * hourMs } } } }, 'fail'],
  ['a start under an exhausted rate', { ...limits, rateLimit: { key: 'k', limit: 1, perMs: hourMs } }, 'exhausted'],
  ['a pinned run with a long lease', { pinTo: 'w', leaseMs: hourMs }, 'none'],
] as const)('%s is unchanged', (_, definition, then) => {
  const job = new JobHistory()
  if (then === 'exhausted') job.starts.set('k', { times: StartTimes.of([hourMs]), limit: 1, perMs: hourMs, givenAt: 0 })
  job.define(definition).until(1_000)
  if (then === 'fail') job.fail()
  if (then === 'trigger') job.command('TRIGGER').report('SUCCEEDED')
  expect(misdatedTimersOf(job.job, job.now)).toEqual([])
})
