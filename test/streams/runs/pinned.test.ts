/** A run that is pinned to one worker is sent again until that worker starts it. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { timerKind } from '../../../streams/state/keys.ts'
import { type HistoryOptions, JobHistory } from './history.ts'

const minute = 60_000
const pinned = (more: Partial<JobDefinitionInput> = {}, options: HistoryOptions = {}): JobHistory =>
  new JobHistory(options).define({ pinTo: 'gpu', leaseMs: 10_000, startDeadlineMs: 10 * minute, ...more })
/** The times at which the attempt was sent again, with the attempt. */
const tellings = ({ decisions }: JobHistory, since = 0): number =>
  decisions.slice(since).filter(({ out }) => out.some(({ kind }) => kind === 'redeliver')).length

/** The times of all messages up to `end`. */
function times(job: JobHistory, end: number): number[] {
  const found: number[] = []
  for (let now = job.now; now <= end; now += 500) {
    const before = job.decisions.length
    job.until(now)
    if (tellings(job, before) > 0) found.push(now)
  }
  return found
}

/** The decisions that changed the state, which an owner must log. */
const logged = ({ decisions }: JobHistory): number => decisions.filter(({ job, before }) => job.state !== before).length

describe('a pinned run whose worker is away', () => {
  const away = (): JobHistory => {
    const job = pinned({ startDeadlineMs: 1440 * minute })
    job.namedSince = null
    return job
  }
  const back = (job: JobHistory): JobHistory => Object.assign(job, { namedSince: job.now }).followWorkers()
  it('is not sent again, and costs no logged state, for a day', () => {
    const job = away().until(1_000)
    const before = logged(job)
    job.until(1430 * minute)
    expect([tellings(job), logged(job) - before, job.state.active.length]).toEqual([0, 0, 1])
    expect(job.decisions.length).toBeLessThan(200)
  })
  it('is sent when its worker comes back, and not again for each other change of the workers', () => {
    const job = away().until(600 * minute)
    expect(tellings(job.followWorkers())).toBe(0)
    expect(back(job).last.out).toEqual([{ kind: 'redeliver', execution: job.dispatched[0], to: 'gpu' }])
    for (let changes = 0; changes < 10; changes++) job.followWorkers()
    expect(tellings(job)).toBe(1)
    job.now += 1
    expect(tellings(back(job))).toBe(2)
  })
  it('is sent when its worker comes back before the due time of a run that was dispatched ahead', () => {
    const job = pinned({ schedule: { at: 5_000 } }).fireAhead()
    job.now = 2_000
    expect(tellings(back(job))).toBe(1)
    expect(tellings(job.followWorkers())).toBe(1)
  })
  it('is sent at a check if nobody has seen that its worker came back', () => {
    const job = away().until(600 * minute)
    job.namedSince = job.now
    expect(tellings(job.until(611 * minute))).toBe(1)
  })
  it('is checked by the next owner too, also if that one has lost all timers but the first', () => {
    const job = away()
      .until(600 * minute)
      .restore()
      .until(601 * minute)
    job.namedSince = job.now
    expect(tellings(job.until(612 * minute))).toBe(1)
  })
})

describe('a run for a worker that was chosen', () => {
  it('costs no logged state while that worker has a long backlog', () => {
    const job = new JobHistory()
    job.workers = { a: [], b: ['noop'] }
    job.define({ leaseMs: 10_000, startDeadlineMs: 1440 * minute }).until(1_000)
    const before = logged(job)
    job.until(29 * minute)
    expect([tellings(job), logged(job) - before]).toEqual([0, 0])
  })
})

describe('a pinned run', () => {
  it('is redelivered one lease after it was due, then in doubling intervals of at most ten minutes', () => {
    const day = times(pinned({ startDeadlineMs: 1440 * minute }), 60 * minute).map((time) => time / 1_000)
    expect(day).toEqual([11, 21, 41, 81, 161, 321, 641, 1_241, 1_841, 2_441, 3_041])
  })
  it('is not redelivered earlier if it was dispatched ahead, or late', () => {
    const ahead = pinned({ schedule: { at: 5_000 } }).fireAhead()
    expect(times(ahead, 30_000)).toEqual([15_000, 25_000])
    expect(times(pinned().downUntil(minute), 90_000)).toEqual([70_000, 80_000])
  })
  it('is redelivered as it was dispatched: the same attempt, with the same deadline', () => {
    const job = pinned({ payload: Buffer.from('p') }).until(11_000)
    expect(job.last.out).toEqual([{ kind: 'redeliver', execution: job.dispatched[0], to: 'gpu' }])
    expect(job.dispatched).toHaveLength(1)
  })
  it('is not redelivered once it is started; then its lease applies', () => {
    const job = pinned({ retry: { maxAttempts: 1 } })
      .until(9_000)
      .report('STARTED')
    expect(times(job, 18_500)).toEqual([])
    expect(job.until(19_000).notes).toEqual(['lease-lost', 'ended'])
  })
  it('is redelivered once if a timer comes at another time', () => {
    const job = pinned().until(11_000)
    const { state } = job
    job.now = 30_000
    job.step({ kind: 'timer', timer: { dueAt: 11_000, kind: timerKind.lease, jobId: 'job', runNo: 1 } })
    expect(job.last).toMatchObject({ out: [], deferUntil: undefined })
    expect(job.state).toBe(state)
  })
  it('is redelivered in time if the clock went back after the timer was taken', () => {
    const job = pinned().until(1_000)
    job.step({ kind: 'timer', timer: { dueAt: 11_000, kind: timerKind.lease, jobId: 'job', runNo: 1 } })
    expect(job.last).toMatchObject({ out: [], deferUntil: 11_000 })
  })
  it('keeps the start deadline of its definition, whatever its topics keep, because it is redelivered', () => {
    const job = pinned({ startDeadlineMs: 50 * 60 * minute }, { keptMs: 0 }).until(1_000)
    expect(job.dispatched[0]?.startDeadlineAt).toBe(1_000 + 50 * 60 * minute)
  })
  it('is not redelivered after a failed attempt, while the next one waits for its backoff', () => {
    const job = pinned({ retry: { backoff: { fixed: { delayMs: 60_000 } } } })
      .until(1_000)
      .fail()
    const { state } = job
    job.now = 11_000
    job.step({ kind: 'timer', timer: { dueAt: 11_000, kind: timerKind.lease, jobId: 'job', runNo: 1 } })
    expect(job.last.out).toEqual([])
    expect(job.state).toBe(state)
  })
  it('is redelivered in its next attempt too', () => {
    const job = pinned().until(1_000).fail('Error', { retryAfterMs: 0 })
    expect(times(job, 30_000)).toEqual([11_000, 21_000])
    expect(job.out.flatMap((output) => (output.kind === 'redeliver' ? [output.execution.attempt] : []))).toEqual([2, 2])
  })
})

it('a run that is not pinned is sent once', () => {
  const job = new JobHistory().define({ leaseMs: 10_000, startDeadlineMs: 10 * minute })
  expect(times(job, 5 * minute)).toEqual([])
})
