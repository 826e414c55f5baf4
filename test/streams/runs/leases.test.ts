/** What happens to an attempt whose worker is silent, slow, or missing. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { type TimerKind, timerKind } from '../../../streams/state/keys.ts'
import { JobHistory } from './history.ts'

const hour = 3_600_000
const limits = { leaseMs: 2_000, attemptTimeoutMs: hour, startDeadlineMs: 5_000 }

/** A job that was dispatched at 1000, its last occurrence. */
const dispatched = (more: Partial<JobDefinitionInput> = {}): JobHistory =>
  new JobHistory().define({ ...limits, ...more }).until(1_000)
const started = (more: Partial<JobDefinitionInput> = {}): JobHistory => dispatched(more).report('STARTED')

describe('a lease', () => {
  it('is lost if the worker is silent for this long after the start; the next attempt starts at once', () => {
    const job = started().until(2_999)
    expect(job.dispatched).toHaveLength(1)
    job.until(3_000)
    expect(job.notes).toEqual(['lease-lost'])
    expect(job.dispatched.at(-1)).toMatchObject({ runNo: 1, attempt: 2, dueAt: 3_000, dispatchedAt: 3_000 })
    expect(job.state.active[0]?.errors).toEqual([
      {
        attempt: 1,
        at: 3_000,
        worker: 'w',
        type: 'LeaseLost',
        message: 'The worker w was silent for longer than the lease of 2000 ms.',
        ...{ dueAt: 1_000, dispatchedAt: 1_000, startedAt: 1_000, stack: null },
      },
    ])
  })
  it('is lost by a worker without a name too', () => {
    const job = dispatched().report('STARTED', { worker: '' }).until(3_000)
    expect(job.state.active[0]?.errors).toMatchObject([
      { worker: '', message: 'The worker was silent for longer than the lease of 2000 ms.' },
    ])
  })
  it('is renewed by each heartbeat, without a logged change', () => {
    const job = started()
    const { state } = job
    for (const time of [2_000, 3_500, 5_400]) job.until(time).heartbeat()
    expect(job.until(7_399).state).toBe(state)
    expect(job.until(7_400).notes).toEqual(['lease-lost'])
  })
  it('applies only to started attempts', () => {
    expect(
      dispatched()
        .until(4_000)
        .decisions.flatMap(({ notes }) => notes),
    ).toEqual([])
  })
  it('counts from the start by the worker, limited by our own clock', () => {
    const startedAt = (said: number): number | null | undefined =>
      dispatched().until(1_500).report('STARTED', { startedAt: said }).state.active[0]?.startedAt
    expect([200, 1_200, 9_000].map(startedAt)).toEqual([1_000, 1_200, 1_500])
  })
  it('that is lost is a failed attempt: after maxAttempts the run is given up', () => {
    const job = started({ retry: { maxAttempts: 1 } }).until(3_000)
    expect(job.last.out).toMatchObject([{ kind: 'dead-letter' }])
    expect(job.notes).toEqual(['lease-lost', 'ended'])
  })
  it('that is lost makes later reports of the silent worker stale', () => {
    const job = started().until(3_000).report('SUCCEEDED', { attempt: 1 })
    expect(job.notes).toEqual(['stale'])
    expect(job.state.active).toMatchObject([{ attempt: 2, status: 'DISPATCHED' }])
  })
  it('is that of the definition of the run', () => {
    const job = started()
      .define({ ...limits, schedule: { at: 9_000 }, leaseMs: hour })
      .until(3_000)
    expect(job.notes).toEqual(['lease-lost'])
  })
  it('is new for each attempt', () => {
    const job = started().until(2_900).fail('Error', { retryAfterMs: 0 }).report('STARTED').until(4_899)
    expect(job.state.active).toMatchObject([{ attempt: 2, status: 'RUNNING' }])
    expect(job.until(4_900).notes).toEqual(['lease-lost'])
  })
  it('of an earlier attempt does not end a later one, which has its own', () => {
    const job = started().until(2_900).fail('Error', { retryAfterMs: 0 }).report('STARTED')
    const { state } = job
    job.now = 3_000
    job.step({ kind: 'timer', timer: { dueAt: 3_000, kind: timerKind.lease, jobId: 'job', runNo: 1 } })
    expect(job.last).toMatchObject({ out: [], notes: [], extraTimers: [{ dueAt: 4_900, kind: timerKind.lease }] })
    expect(job.state).toBe(state)
  })
})

describe('an attempt without reports', () => {
  const silent = { leaseMs: 2_000, attemptTimeoutMs: hour }
  it.each<[string, () => JobHistory, TimerKind, number, string]>([
    ['loses its lease', () => started(silent), timerKind.lease, 3_000, 'RETRY'],
    ['has used up its time', () => started({ leaseMs: hour, attemptTimeoutMs: 3_000 }), timerKind.attemptTimeout, 9_000, 'RETRY'],
    ['is past its start deadline', () => dispatched(), timerKind.startDeadline, 11_000, 'EXPIRED'],
  ])('and which %s is not judged before all earlier reports are read', (_, begin, kind, dueAt, end) => {
    const job = begin()
    const { state } = job
    const timer = { kind: 'timer', timer: { dueAt, kind, jobId: 'job', runNo: 1 } } as const
    job.now = dueAt + 700
    job.eventsReadUntil = dueAt - 1
    job.step(timer)
    expect(job.last).toMatchObject({ out: [], notes: [], awaitsEventsUntil: dueAt })
    expect(job.state).toBe(state)
    job.eventsReadUntil = dueAt
    job.step(timer)
    expect(job.state.lastRun?.status ?? (job.state.active[0]?.attempt === 2 ? 'RETRY' : 'nothing')).toBe(end)
    expect(job.last.awaitsEventsUntil).toBeUndefined()
  })
  it('and which waits for a slot is judged at once: no worker has it', () => {
    const job = new JobHistory().define({ ...limits, concurrencyKey: 'k' })
    job.others.held = 1
    job.until(1_000).eventsReadUntil = 0
    expect(job.until(6_000).state.lastRun).toMatchObject({ status: 'EXPIRED' })
  })
})

describe('the time of an attempt', () => {
  const limit = { attemptTimeoutMs: 3_000, leaseMs: hour }
  it('is over five seconds after its limit, if the worker has not reported it', () => {
    const job = started(limit).until(8_999)
    expect(job.state.active).toMatchObject([{ status: 'RUNNING', errors: [] }])
    job.until(9_000)
    expect(job.state.active).toMatchObject([
      {
        status: 'RETRY_WAIT',
        attempt: 2,
        dueAt: 10_000,
        errors: [{ type: 'AttemptTimeout', message: 'The attempt took longer than 3000 ms and its worker did not say so.' }],
      },
    ])
  })
  it('is over also for a live worker', () => {
    const job = started({ ...limit, leaseMs: 2_000 })
    for (let time = 2_000; time < 9_000; time += 1_000) job.until(time).heartbeat()
    expect(job.until(9_000).state.active).toMatchObject([{ status: 'RETRY_WAIT', errors: [{ type: 'AttemptTimeout' }] }])
  })
  it('counts from the start of the attempt and not from its dispatch', () => {
    const job = dispatched(limit).until(4_000).report('STARTED').until(11_999)
    expect(job.state.active).toMatchObject([{ status: 'RUNNING' }])
    expect(job.until(12_000).state.active).toMatchObject([{ status: 'RETRY_WAIT' }])
  })
  it('is checked again if the clock went back after its timer was taken', () => {
    const timer = { dueAt: 9_000, kind: timerKind.attemptTimeout, jobId: 'job', runNo: 1 }
    expect(started(limit).step({ kind: 'timer', timer }).last.deferUntil).toBe(9_000)
  })
})

describe('the start deadline', () => {
  it('ends a run that no worker has started: EXPIRED, without another attempt', () => {
    const job = dispatched().until(10_999)
    expect(job.state.active).toMatchObject([{ status: 'DISPATCHED', startDeadlineAt: 6_000 }])
    job.until(11_000)
    expect(job.last).toMatchObject({ out: [], notes: [{ kind: 'ended', status: 'EXPIRED' }] })
    expect(job.state).toMatchObject({
      failed: 1,
      lastRun: { status: 'EXPIRED', attempts: 1, startedAt: null, finishedAt: 11_000 },
    })
  })
  it('counts from the dispatch of a run that was late', () => {
    const job = new JobHistory().define(limits).downUntil(60_000)
    expect(job.state.active).toMatchObject([{ scheduledFor: 1_000, startDeadlineAt: 65_000 }])
  })
  it('counts from the time due of a run that was dispatched ahead', () => {
    expect(new JobHistory().define(limits).fireAhead().state.active).toMatchObject([{ dispatchedAt: 0, startDeadlineAt: 6_000 }])
  })
  it('is in each attempt of a late run as long as in the first', () => {
    const job = new JobHistory().define(limits).downUntil(60_000).fail('Error', { retryAfterMs: 900 }).until(61_000)
    expect(job.dispatched.at(-1)).toMatchObject({ attempt: 2, dueAt: 60_900, startDeadlineAt: 65_900 })
  })
  it('is that of the definition of the run, in each of its attempts', () => {
    const job = dispatched()
      .define({ ...limits, schedule: { at: hour }, startDeadlineMs: 500_000 })
      .fail('Error', { retryAfterMs: 900 })
      .until(2_000)
    expect(job.dispatched.at(-1)).toMatchObject({ attempt: 2, startDeadlineAt: 6_900 })
  })
  it('that a topic with short retention reduced is full again in the next attempt, if the topic keeps more', () => {
    const topics = { keptMs: 2 * hour }
    const job = new JobHistory(topics).define({ ...limits, startDeadlineMs: 50 * hour }).until(1_000)
    expect(job.dispatched.at(-1)?.startDeadlineAt).toBe(1_000 + 2 * hour - 600_000)
    topics.keptMs = 1_000 * hour
    job.fail('Error', { retryAfterMs: 0 })
    expect(job.dispatched.at(-1)).toMatchObject({ attempt: 2, startDeadlineAt: 1_000 + 50 * hour })
  })
  it('leaves an hour to start also if the topic keeps nothing, because its retention may be temporary', () => {
    const long = { ...limits, startDeadlineMs: 50 * hour }
    const job = new JobHistory({ keptMs: 0 }).define(long).until(1_000)
    expect(job.dispatched[0]?.startDeadlineAt).toBe(1_000 + hour)
    const late = new JobHistory({ keptMs: 0 }).define(long).downUntil(hour)
    expect(late.dispatched[0]?.startDeadlineAt).toBe(2 * hour)
    const ahead = new JobHistory({ keptMs: 0 }).define({ ...long, schedule: { at: hour } }).fireAhead()
    expect(ahead.dispatched[0]).toMatchObject({ dispatchedAt: 0, startDeadlineAt: 2 * hour })
  })
  it.each<[string, Partial<JobDefinitionInput>, object, string]>([
    ['start-deadline: it was over', {}, {}, 'start-deadline'],
    ['start-deadline: the job was not valid any longer', { startDeadlineMs: 50 * hour, expireAt: 4_000 }, {}, 'start-deadline'],
    ['topic-retention: its topic may have lost it', { startDeadlineMs: 50 * hour }, { keptMs: 2 * hour }, 'topic-retention'],
    ['start-deadline, though the topic keeps little', { startDeadlineMs: 1_000 }, { keptMs: 2 * hour }, 'start-deadline'],
    ['start-deadline, with limits too', { concurrencyKey: 'k', startDeadlineMs: 1_000 }, {}, 'start-deadline'],
  ])('says why a run has expired: %s', (_, more, options, reason) => {
    const job = new JobHistory(options).define({ ...limits, ...more }).until(60 * hour)
    expect(job.state.decisions).toMatchObject([{ what: 'EXPIRED', reason, runNo: 1, scheduledFor: 1_000 }])
  })
  it('also gives the reason for a late run, and for one whose definition was replaced', () => {
    const late = new JobHistory().define(limits).downUntil(60_000).until(hour)
    expect(late.state.decisions).toMatchObject([{ what: 'EXPIRED', reason: 'start-deadline' }])
    const lost = new JobHistory({ keptMs: 2 * hour }).define({ ...limits, startDeadlineMs: 2 * hour }).downUntil(hour)
    expect(lost.until(9 * hour).state.decisions).toMatchObject([{ what: 'EXPIRED', reason: 'topic-retention' }])
    const waited = new JobHistory().define({ ...limits, concurrencyKey: 'k' })
    waited.others.held = 1
    waited.until(4_000).others.held = 0
    expect(waited.admit().until(hour).state.decisions.at(-1)).toMatchObject({ what: 'EXPIRED', reason: 'start-deadline' })
    const replaced = dispatched()
      .define({ ...limits, schedule: { at: 2 * hour }, startDeadlineMs: 50 * hour })
      .until(hour)
    expect(replaced.state.decisions).toMatchObject([{ what: 'EXPIRED', reason: 'start-deadline' }])
  })
  it('does not pass during a backoff', () => {
    const job = dispatched({ retry: { backoff: { fixed: { delayMs: hour } } } })
      .fail()
      .until(hour)
    expect(job.state.active).toMatchObject([{ status: 'RETRY_WAIT' }])
  })
  it('does not end what has started', () => {
    expect(started({ leaseMs: hour }).until(60_000).state.active).toMatchObject([{ status: 'RUNNING' }])
  })
  it('makes reports of a late worker stale', () => {
    expect(dispatched().until(11_000).report('STARTED').notes).toEqual(['stale'])
  })
  it('lets a report of a start in time arrive within the grace', () => {
    expect(dispatched({ leaseMs: hour }).until(10_999).report('STARTED').until(20_000).state.active).toMatchObject([
      { status: 'RUNNING' },
    ])
  })
  it('is checked again if the clock went back after its timer was taken', () => {
    const job = dispatched().step({
      kind: 'timer',
      timer: { dueAt: 11_000, kind: timerKind.startDeadline, jobId: 'job', runNo: 1 },
    })
    expect(job.last.deferUntil).toBe(11_000)
  })
})

describe('a timer that no longer follows from the state', () => {
  const timer = (kind: TimerKind, dueAt: number, runNo = 1) =>
    ({ kind: 'timer', timer: { dueAt, kind, jobId: 'job', runNo } }) as const
  const patient = { leaseMs: hour, attemptTimeoutMs: 100, startDeadlineMs: hour }
  /** Long after every time of the timers below. */
  const late = (job: JobHistory): JobHistory => {
    job.now = hour / 2
    return job
  }
  const waiting = (delayMs: number): JobHistory => dispatched({ retry: { backoff: { fixed: { delayMs } } } }).fail()
  it.each<[string, JobHistory, TimerKind]>([
    ['the lease of what waits for a worker', late(dispatched(patient)), timerKind.lease],
    ['the time limit of what waits for a worker', late(dispatched(patient)), timerKind.attemptTimeout],
    ['the time limit of an earlier attempt', started(patient), timerKind.attemptTimeout],
    ['the start deadline of what runs', late(started(limits)), timerKind.startDeadline],
    ['the start deadline of an earlier attempt', dispatched(patient), timerKind.startDeadline],
    ['a backoff of what runs', late(started(patient)), timerKind.retry],
    ['a backoff that is still in its delay topic', waiting(1_000), timerKind.retry],
    ['an earlier backoff', waiting(900), timerKind.retry],
    ['a deletion of what is not COMPLETED', late(started(patient)), timerKind.delete],
    ['the retention of a job that was COMPLETED before', late(started().report('SUCCEEDED')), timerKind.delete],
    ['an occurrence that has become a run', late(started(patient)), timerKind.fire],
  ])('does nothing: %s', (_, job, kind) => {
    const { state } = job
    job.step(timer(kind, 2_000))
    expect(job.last).toMatchObject({ out: [], notes: [], extraTimers: [], deferUntil: undefined })
    expect(job.state).toBe(state)
  })
  it('does nothing: the backstop of a backoff whose end was reported', () => {
    const job = waiting(1_000).until(2_000).report('RETRY_DUE').report('STARTED')
    const { state } = job
    job.now = 62_000
    job.step(timer(timerKind.retry, 62_000))
    expect(job.last).toMatchObject({ out: [], notes: [], extraTimers: [], deferUntil: undefined })
    expect(job.state).toBe(state)
  })
  it('does nothing for a job without decisions', () => {
    const job = new JobHistory().define()
    for (const kind of Object.values(timerKind)) expect(job.step(timer(kind, 500)).job.state).toBeUndefined()
  })
  it('does nothing for a run that has ended', () => {
    const job = started({ schedule: { everyMs: hour }, startAt: 1_000 }).report('SUCCEEDED')
    const { state } = job
    for (const kind of Object.values(timerKind)) expect(job.step(timer(kind, 1_000)).state).toBe(state)
  })
  it('of a job without a definition deletes its remaining data', () => {
    const job = started().remove({ decided: true })
    expect(job.job.definition).toBeUndefined()
    expect(job.until(60_000).job).toEqual({ id: 'job' })
  })
})
