/** What happens to a run, or to a whole job, that an operator cancels. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { JobHistory } from './history.ts'

const everySecond = (more: Partial<JobDefinitionInput> = {}): JobHistory =>
  new JobHistory().define({ schedule: { everyMs: 1_000 }, ...more })
const cancels = (job: JobHistory) => job.out.filter(({ kind }) => kind === 'cancel')

describe('a run that is canceled', () => {
  it('ends now, and is counted as canceled', () => {
    const job = everySecond().until(1_200).report('STARTED').until(1_500).command('CANCEL_RUN', { runNo: 1 })
    expect(job.state).toMatchObject({ cancelled: 1, failed: 0, succeeded: 0, active: [] })
    expect(job.state.lastRun).toMatchObject({ runNo: 1, status: 'CANCELLED', startedAt: 1_200, finishedAt: 1_500, worker: 'w' })
  })
  it.each<[string, (job: JobHistory) => unknown]>([
    ['was dispatched', () => {}],
    ['is running', (job) => job.report('STARTED')],
    ['was given back and dispatched again', (job) => job.report('RELEASED')],
    ['failed and was dispatched again at once', (job) => job.fail('Error', { retryAfterMs: 0 })],
  ])('whose attempt %s is announced to the workers', (_, act) => {
    const job = everySecond().until(1_000)
    act(job)
    const attempt = job.dispatched.at(-1)?.attempt
    job.command('CANCEL_RUN', { runNo: 1 })
    expect(cancels(job)).toEqual([{ kind: 'cancel', runNo: 1, attempt, specOffset: 0, reason: 'command' }])
  })
  it.each([
    ['in a delay topic', 5_000],
    ['in the time index', 86_400_000],
  ])('that waits for its retry %s is not announced, and is not retried', (_, retryAfterMs) => {
    const job = everySecond({ endAt: 1_000 }).until(1_000).fail('Error', { retryAfterMs }).command('CANCEL_RUN', { runNo: 1 })
    expect(cancels(job)).toEqual([])
    job.until(1_000 + retryAfterMs).report('RETRY_DUE')
    expect(job.notes).toEqual(['stale'])
    expect(job.dispatched).toHaveLength(1)
  })
  it.each(['STARTED', 'SUCCEEDED', 'FAILED', 'RELEASED', 'RETRY_DUE'] as const)('ignores a later %s of its worker', (type) => {
    const job = everySecond().until(1_000).report('STARTED').command('CANCEL_RUN', { runNo: 1 })
    const { state } = job
    expect(job.report(type).state).toBe(state)
    expect(job.last).toMatchObject({ out: [], notes: [{ kind: 'stale', what: type }] })
  })
  it('has no active timer left', () => {
    const job = everySecond({ endAt: 1_000 }).until(1_000).report('STARTED').command('CANCEL_RUN', { runNo: 1 })
    expect(job.until(400_000).state).toMatchObject({ cancelled: 1, failed: 0, runNo: 1 })
  })
  it('does not affect other runs and the schedule', () => {
    const job = everySecond().until(2_000).command('CANCEL_RUN', { runNo: 1 }).until(3_000)
    expect(job.state.active.map(({ runNo }) => runNo)).toEqual([2, 3])
  })
  it('continues an interval from END from its end', () => {
    const job = everySecond({ schedule: { everyMs: 1_000, from: 'END' } })
      .until(1_700)
      .command('CANCEL_RUN', { runNo: 1 })
    expect(job.next).toBe(2_700)
  })
  it('makes room for a waiting run of a full job', () => {
    const job = everySecond({ maxConcurrentRuns: 1, catchUp: 'ALL' })
      .until(2_500)
      .command('CANCEL_RUN', { runNo: 1 })
      .until(2_500)
    expect(job.fired).toEqual([1_000, 2_000])
  })
  it('that is not active is refused, and the refusal is remembered', () => {
    const job = everySecond().until(1_000).report('SUCCEEDED').command('CANCEL_RUN', { runNo: 1 }).command('CANCEL_RUN')
    expect(job.state.decisions).toMatchObject([
      { what: 'DROPPED', reason: 'no-such-run', runNo: 1 },
      { what: 'DROPPED', reason: 'no-such-run', runNo: null },
    ])
    expect(job.state).toMatchObject({ succeeded: 1, cancelled: 0 })
  })
  it('deletes its snapshot', () => {
    const job = everySecond()
      .command('TRIGGER', { payload: Buffer.from('a') })
      .command('CANCEL_RUN', { runNo: 1 })
    expect(job.last.snapshotDeletes).toEqual([1])
  })
})

describe('a job that is canceled', () => {
  it('ends all its runs and fires no more', () => {
    const job = everySecond().until(2_000).command('CANCEL')
    expect(cancels(job)).toHaveLength(2)
    expect(job.state).toMatchObject({ status: 'COMPLETED', reason: 'cancelled', nextFireAt: null, active: [], cancelled: 2 })
    expect(job.until(60_000).fired).toEqual([1_000, 2_000])
  })
  it('is kept like a successful one, and then deleted', () => {
    const job = everySecond({ retainCompletedMs: 5_000 }).until(1_000).command('CANCEL')
    expect(job.state).toMatchObject({ finishedAt: 1_000, deleteAt: 6_000 })
    expect(job.until(6_000).job).toEqual({ id: 'job' })
  })
  it.each<[string, (job: JobHistory) => unknown]>([
    ['of which nothing was decided yet', () => {}],
    ['that is PAUSED', (job) => job.command('PAUSE')],
    ['whose occurrence waits for the end of a run', (job) => job.until(3_000)],
    ['whose backfill goes on', (job) => job.until(3_000).command('BACKFILL', { from: 0, to: 3_000 })],
    ['whose interval counts from END', (job) => job.define({ schedule: { everyMs: 1_000, from: 'END' } }).until(3_000)],
  ])('may be one %s', (_, act) => {
    const job = everySecond({ overlap: 'QUEUE_ONE' })
    act(job)
    const before = job.dispatched.length
    job.command('CANCEL')
    expect(job.state).toMatchObject({ status: 'COMPLETED', active: [], queuedFor: null, backfill: null, waiting: false })
    expect(job.until(60_000).dispatched).toHaveLength(before)
  })
  it('is revived by a new definition, and its run numbers continue', () => {
    const job = everySecond()
      .until(1_000)
      .command('CANCEL')
      .until(1_500)
      .define({ schedule: { everyMs: 500 } })
    expect(job.until(2_000).dispatched.at(-1)).toMatchObject({ runNo: 2, scheduledFor: 2_000 })
    expect(job.state).toMatchObject({ status: 'ACTIVE', finishedAt: null, deleteAt: null })
  })
  it.each<[string, Partial<JobDefinitionInput>, number]>([
    ['an interval, on its grid', { schedule: { everyMs: 1_000 } }, 3_000],
    ['cron', { schedule: { cron: '* * * * * *' } }, 3_000],
    ['an instant that is still ahead', { schedule: { at: 5_000 } }, 5_000],
    ['a delay, which is counted from the new definition', { schedule: { delayMs: 4_000 } }, 6_500],
    ['an interval from END', { schedule: { everyMs: 1_000, from: 'END' } }, 3_000],
  ])('is revived also by the same definition: %s', (_, definition, next) => {
    const job = new JobHistory().define(definition).until(800).command('CANCEL').until(2_500).define(definition)
    expect(job.next).toBe(next)
    expect(job.until(next).fired).toEqual([next])
  })
  it('does not run again an instant that has had its run', () => {
    const definition = { schedule: { at: 1_000 } }
    const job = new JobHistory().define(definition).until(1_000).command('CANCEL').until(1_500).define(definition).until(60_000)
    expect(job.fired).toEqual([1_000])
    const ahead = new JobHistory().define(definition).fireAhead().command('CANCEL').until(500).define(definition).until(60_000)
    expect(ahead.fired).toEqual([1_000])
  })
})
