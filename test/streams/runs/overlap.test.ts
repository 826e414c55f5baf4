/** What happens to an occurrence that is due while earlier runs are active. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { JobHistory } from './history.ts'

const everySecond = (more: Partial<JobDefinitionInput>, leadMs = 0): JobHistory =>
  new JobHistory({ leadMs }).define({ schedule: { everyMs: 1_000 }, ...more })

describe('overlap ALLOW', () => {
  it('runs beside earlier runs, up to maxConcurrentRuns', () => {
    const job = everySecond({ maxConcurrentRuns: 2 }).until(4_000)
    expect(job.fired).toEqual([1_000, 2_000])
    expect(job.skips).toEqual({ 'max-concurrent-runs': 2 })
    expect(job.state).toMatchObject({ skipped: 2, reason: 'skipped: max-concurrent-runs', nextFireAt: 5_000 })
    // Reported as one: the first skipped occurrence, and the time of the last.
    expect(job.state.decisions).toMatchObject([
      { what: 'SKIPPED', reason: 'max-concurrent-runs', count: 2, scheduledFor: 3_000, at: 4_000 },
    ])
  })
  it('runs on once there is room, and numbers runs and not occurrences', () => {
    const job = everySecond({ maxConcurrentRuns: 2 }).until(3_500).report('SUCCEEDED', { runNo: 1 }).until(4_000)
    expect(job.dispatched.at(-1)).toMatchObject({ runNo: 3, scheduledFor: 4_000 })
  })
  it('with catchUp ALL skips nothing: an occurrence of a full job waits for an end', () => {
    const job = everySecond({ maxConcurrentRuns: 2, catchUp: 'ALL' }).until(4_500)
    expect(job.fired).toEqual([1_000, 2_000])
    expect(job.state).toMatchObject({ waiting: true, nextFireAt: 3_000, skipped: 0 })
    expect(job.state.decisions).toMatchObject([
      { what: 'WAITING', reason: 'max-concurrent-runs', scheduledFor: 3_000, at: 3_000 },
    ])
    job.report('SUCCEEDED', { runNo: 1 }).until(4_500)
    expect(job.fired).toEqual([1_000, 2_000, 3_000])
    job.report('SUCCEEDED', { runNo: 2 }).report('SUCCEEDED', { runNo: 3 }).until(4_500)
    expect(job.fired).toEqual([1_000, 2_000, 3_000, 4_000])
    expect(job.state).toMatchObject({ waiting: false, nextFireAt: 5_000, skipped: 0 })
  })
  it('with catchUp ALL runs all that were missed, a few at a time', () => {
    const job = everySecond({ maxConcurrentRuns: 3, catchUp: 'ALL' }).downUntil(50_500)
    for (let runNo = 1; runNo <= 50; runNo++) job.report('SUCCEEDED', { runNo }).until(50_500)
    expect(job.fired).toHaveLength(50)
    expect(job.skips).toEqual({})
  })
  it('counts a triggered run as one, and refuses a trigger beyond the limit', () => {
    const job = everySecond({ maxConcurrentRuns: 1 }).command('TRIGGER').command('TRIGGER').until(1_000)
    expect(job.state.active).toHaveLength(1)
    expect(job.decisions[2]?.refusal).toBe('max-concurrent-runs')
    expect(job.skips).toEqual({ 'max-concurrent-runs': 1 })
  })
})

describe('overlap SKIP', () => {
  it.each<[string, (job: JobHistory) => unknown]>([
    ['waits for a worker', () => {}],
    ['is running', (job) => job.report('STARTED')],
    ['waits for a retry', (job) => job.fail('Error', { retryAfterMs: 60_000 })],
    ['was given back', (job) => job.report('RELEASED')],
  ])('skips what is due while a run %s, and keeps the times', (_, act) => {
    const job = everySecond({ overlap: 'SKIP' }).until(1_000)
    act(job)
    job.until(3_500)
    expect(job.fired).toEqual([1_000])
    expect(job.skips).toEqual({ overlap: 2 })
    expect(job.next).toBe(4_000)
  })
  it('skips with catchUp ALL too: that applies to occurrences that nobody could fire', () => {
    const job = everySecond({ overlap: 'SKIP', catchUp: 'ALL' }).until(3_500)
    expect(job.skips).toEqual({ overlap: 2 })
    expect(job.state).toMatchObject({ waiting: false, decisions: [{ what: 'SKIPPED', reason: 'overlap', count: 2 }] })
  })
  it('runs what is due after the run has ended', () => {
    const job = everySecond({ overlap: 'SKIP' }).until(2_500).report('SUCCEEDED').until(3_000)
    expect(job.fired).toEqual([1_000, 3_000])
  })
  it('skips for a triggered run as well', () => {
    expect(everySecond({ overlap: 'SKIP' }).command('TRIGGER').until(1_000).skips).toEqual({ overlap: 1 })
  })
  it('skips nothing of an interval from END, whose own run it waits for', () => {
    const job = everySecond({ schedule: { everyMs: 1_000, from: 'END' }, overlap: 'SKIP' }).until(60_000)
    expect(job.skips).toEqual({})
  })
  it('that refuses an interval from END for a triggered run lets it go on from then', () => {
    const job = everySecond({ schedule: { everyMs: 1_000, from: 'END' }, overlap: 'SKIP' })
      .command('TRIGGER')
      .until(1_000)
    expect(job.skips).toEqual({ overlap: 1 })
    expect(job.next).toBe(2_000)
  })
  it('completes a job whose last occurrence is skipped only when its run has ended', () => {
    const job = everySecond({ overlap: 'SKIP', endAt: 2_000 }).until(2_000)
    expect(job.state).toMatchObject({ status: 'ACTIVE', nextFireAt: null, skipped: 1 })
    expect(job.report('SUCCEEDED').state.status).toBe('COMPLETED')
  })
})

describe('overlap QUEUE_ONE', () => {
  const queueing = (more: Partial<JobDefinitionInput> = {}): JobHistory => everySecond({ overlap: 'QUEUE_ONE', ...more })
  it('keeps the first overlap waiting, and skips the others', () => {
    const job = queueing().until(3_500)
    expect(job.fired).toEqual([1_000])
    expect(job.skips).toEqual({ overlap: 1 })
    expect(job.state).toMatchObject({ queuedFor: 2_000, nextFireAt: 4_000 })
  })
  it.each<[string, (job: JobHistory) => unknown]>([
    ['has succeeded', (job) => job.report('SUCCEEDED')],
    ['is given up', (job) => job.fail('Error', { retryable: false })],
    ['is cancelled', (job) => job.command('CANCEL_RUN', { runNo: 1 })],
  ])('runs the waiting occurrence at once when the run %s', (_, end) => {
    const job = queueing().until(2_300)
    end(job)
    expect(job.dispatched.at(-1)).toMatchObject({ runNo: 2, scheduledFor: 2_000, dueAt: 2_300, trigger: 'SCHEDULE' })
    expect(job.state.queuedFor).toBeNull()
  })
  it('queues again once the waiting occurrence runs', () => {
    const job = queueing().until(2_300).report('SUCCEEDED').until(3_000).report('SUCCEEDED')
    expect(job.fired).toEqual([1_000, 2_000, 3_000])
    expect(job.skips).toEqual({})
  })
  it('waits through retries of the run', () => {
    const job = queueing().until(1_000).fail('Error', { retryAfterMs: 0 }).until(2_000)
    expect(job.fired).toEqual([1_000])
    expect(job.state.queuedFor).toBe(2_000)
  })
  it.each<[string, (job: JobHistory) => unknown, (job: JobHistory) => unknown]>([
    ['paused by command', (job) => job.command('PAUSE'), (job) => job.command('RESUME')],
    ['paused by definition', (job) => redefine(job, { paused: true }), (job) => redefine(job)],
    ['INVALID', (job) => job.garble(), (job) => redefine(job)],
  ])('keeps the waiting occurrence of a job that is %s, and runs it afterwards', (_, stop, goOn) => {
    const job = queueing().until(2_000)
    stop(job)
    job.report('SUCCEEDED')
    expect(job.fired).toEqual([1_000])
    goOn(job)
    expect(job.fired).toEqual([1_000, 2_000])
  })
  it('completes the job only when the last occurrence, which waits, has had its run', () => {
    const job = queueing({ endAt: 2_000 }).until(2_500)
    expect(job.state).toMatchObject({ status: 'ACTIVE', nextFireAt: null, queuedFor: 2_000 })
    expect(job.report('SUCCEEDED').state.status).toBe('ACTIVE')
    expect(job.report('SUCCEEDED').state).toMatchObject({ status: 'COMPLETED', succeeded: 2 })
  })
  it('counts an interval from END from the end of the run that waited', () => {
    const job = queueing({ schedule: { everyMs: 1_000, from: 'END' } })
      .command('TRIGGER')
      .until(1_500)
    expect(job.state).toMatchObject({ queuedFor: 1_000, nextFireAt: null })
    job.report('SUCCEEDED', { runNo: 1 }).until(4_000).report('SUCCEEDED', { runNo: 2 })
    expect(job.fired).toEqual([1_000])
    expect(job.next).toBe(5_000)
  })
  it('counts the waiting occurrence against maxRuns', () => {
    const job = queueing({ maxRuns: 2 }).until(2_500).report('SUCCEEDED').report('SUCCEEDED').until(9_000)
    expect(job.fired).toEqual([1_000, 2_000])
    expect(job.state.status).toBe('COMPLETED')
  })
  it('runs the waiting occurrence before a backfill continues', () => {
    const job = queueing().until(2_500).command('BACKFILL', { from: 1_000, to: 2_500 }).report('SUCCEEDED')
    expect(job.dispatched.map(({ trigger }) => trigger)).toEqual(['SCHEDULE', 'SCHEDULE'])
    job.report('SUCCEEDED')
    expect(job.dispatched.at(-1)).toMatchObject({ trigger: 'BACKFILL', scheduledFor: 1_000 })
  })
  const redefine = (job: JobHistory, more: Partial<JobDefinitionInput> = {}): JobHistory =>
    job.define({ schedule: { everyMs: 1_000 }, overlap: 'QUEUE_ONE', ...more })
})

describe('overlap CANCEL_PREVIOUS', () => {
  const replacing = (more: Partial<JobDefinitionInput> = {}): JobHistory => everySecond({ overlap: 'CANCEL_PREVIOUS', ...more })
  it('cancels the earlier run, notifies its worker, and runs', () => {
    const job = replacing().until(1_000).report('STARTED').until(2_000)
    expect(job.fired).toEqual([1_000, 2_000])
    expect(job.out).toContainEqual({ kind: 'cancel', runNo: 1, attempt: 1, specOffset: 0, reason: 'overlap' })
    expect(job.state).toMatchObject({ cancelled: 1, skipped: 0, lastRun: { runNo: 1, status: 'CANCELLED', finishedAt: 2_000 } })
    expect(job.state.active.map(({ runNo }) => runNo)).toEqual([2])
  })
  it('cancels all runs, also one that was triggered', () => {
    const job = replacing().command('TRIGGER').command('TRIGGER').until(1_000)
    expect(job.state.active.map(({ runNo }) => runNo)).toEqual([3])
    expect(job.state.cancelled).toBe(2)
  })
  it('cancels nothing when the earlier run has ended', () => {
    expect(replacing().until(1_500).report('SUCCEEDED').until(2_000).state.cancelled).toBe(0)
  })
  it('cancels nothing ahead of the time that is due', () => {
    const job = everySecond({ overlap: 'CANCEL_PREVIOUS' }, 100).until(1_999)
    expect(job.fired).toEqual([1_000])
    expect(job.report('SUCCEEDED').state).toMatchObject({ succeeded: 1, cancelled: 0 })
  })
  it('leaves a job ACTIVE while its last occurrence, which took the place of another, runs', () => {
    const job = replacing({ endAt: 2_000 }).until(2_000)
    expect(job.state).toMatchObject({ status: 'ACTIVE', nextFireAt: null, finishedAt: null })
    expect(job.report('SUCCEEDED').state).toMatchObject({ status: 'COMPLETED', succeeded: 1, cancelled: 1 })
  })
  it('lets a backfill go on only when its own run has ended', () => {
    const job = replacing().until(1_000).report('SUCCEEDED').until(1_500).command('BACKFILL', { from: 0, to: 1_500 }).until(2_000)
    expect(job.state.active).toMatchObject([{ trigger: 'SCHEDULE', scheduledFor: 2_000 }])
  })
  it('counts an interval from END from the end of the run that took the place', () => {
    const job = replacing({ schedule: { everyMs: 1_000, from: 'END' } })
      .command('TRIGGER')
      .until(1_000)
    expect(job.next).toBeNull()
    expect(job.until(3_000).report('SUCCEEDED').next).toBe(4_000)
  })
})

describe('an occurrence that is dispatched ahead of its time', () => {
  const leadMs = 100
  it('is dispatched then, with its own time to start at', () => {
    const job = everySecond({}, leadMs).until(900)
    expect(job.dispatched).toMatchObject([{ dispatchedAt: 900, dueAt: 1_000, scheduledFor: 1_000 }])
    expect(job.out).toMatchObject([{ kind: 'dispatch', ahead: false }])
  })
  it('goes to the ahead topic when it is taken earlier than the lead', () => {
    const job = everySecond({}, leadMs).until(899).fireAhead()
    expect(job.out).toMatchObject([{ kind: 'dispatch', ahead: true }])
    expect(job.next).toBe(2_000)
  })
  it.each([
    ['overlap', { overlap: 'SKIP' as const }],
    ['max-concurrent-runs', { maxConcurrentRuns: 1 }],
  ])('is not refused for %s before it is due', (_, more) => {
    const job = everySecond(more, leadMs).until(1_999)
    expect(job.last).toMatchObject({ deferUntil: 2_000, out: [], notes: [] })
    expect(job.state).toMatchObject({ nextFireAt: 2_000, skipped: 0 })
  })
  it('is dispatched on time when the earlier run ends meanwhile', () => {
    const job = everySecond({ overlap: 'SKIP' }, leadMs).until(1_950).report('SUCCEEDED').until(2_000)
    expect(job.dispatched.at(-1)).toMatchObject({ scheduledFor: 2_000, dispatchedAt: 2_000 })
    expect(job.skips).toEqual({})
  })
  it('is skipped, once, when the earlier run is still active', () => {
    const job = everySecond({ overlap: 'SKIP' }, leadMs).until(2_000)
    expect(job.skips).toEqual({ overlap: 1 })
    expect(job.next).toBe(3_000)
  })
  it('is dispatched once: its timer is void afterwards', () => {
    const job = everySecond({}, leadMs).until(500).fireAhead()
    job.until(1_500)
    expect(job.fired).toEqual([1_000])
  })
})

describe('a job that is defined again while two runs are active', () => {
  const both = (): JobHistory => everySecond({ maxConcurrentRuns: 2 }).until(2_000)
  it('queues until the last of them has ended', () => {
    const job = both()
      .define({ schedule: { everyMs: 1_000 }, overlap: 'QUEUE_ONE' })
      .until(3_000)
    expect(job.state).toMatchObject({ queuedFor: 3_000, active: [{ runNo: 1 }, { runNo: 2 }] })
    expect(job.report('SUCCEEDED', { runNo: 1 }).state).toMatchObject({ queuedFor: 3_000, active: [{ runNo: 2 }] })
    expect(job.report('SUCCEEDED', { runNo: 2 }).fired).toEqual([1_000, 2_000, 3_000])
  })
  it('as an interval from END does not count from a run that is canceled while the other continues', () => {
    const job = both().define({ schedule: { everyMs: 5_000, from: 'END' } })
    expect(job.command('CANCEL_RUN', { runNo: 1 }).next).toBeNull()
    expect(job.until(4_000).report('SUCCEEDED', { runNo: 2 }).next).toBe(9_000)
  })
})
