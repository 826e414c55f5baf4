/**
 * A job whose decision failed, because a rule threw or the log refused it. The job keeps the error, and the run concerned ends.
 */
import { describe, expect, it } from 'vitest'
import { invalidated } from '../../../streams/jobs/step.ts'
import { timersOf } from '../../../streams/state/timers.ts'
import { JobHistory } from '../runs/history.ts'

const twoRuns = (): JobHistory => new JobHistory().define({ schedule: { everyMs: 1_000 }, maxConcurrentRuns: 5 }).until(2_500)

describe('a job whose decision fails', () => {
  it('is INVALID with the reason, keeps its next time, and fires only after a new definition', () => {
    const job = new JobHistory().define({ schedule: { everyMs: 1_000 } })
    expect(job.last.failed).toBe(false)
    const decision = invalidated(job.job, 'Something is wrong.', 500)
    expect(decision).toMatchObject({
      failed: true,
      out: [],
      historyPuts: [],
      notes: [{ kind: 'invalid', reason: 'Something is wrong.' }],
    })
    expect(decision.job.state).toMatchObject({ status: 'INVALID', reason: 'Something is wrong.', nextFireAt: 1_000, failed: 0 })
    expect(timersOf(decision.job)).toEqual([])
    job.job = decision.job
    expect(job.restore().until(5_000).fired).toEqual([])
    expect(job.define({ schedule: { everyMs: 1_000 } }).until(6_000).state.status).toBe('ACTIVE')
    expect(job.fired).toEqual([5_000, 6_000])
  })
  it('loses the run that failed, and no other', () => {
    const job = twoRuns().report('STARTED', { runNo: 2 })
    const { job: after, notes, historyPuts } = invalidated(job.job, 'It is too large.', 3_000, 2)
    expect(after.state).toMatchObject({
      status: 'INVALID',
      failed: 1,
      succeeded: 0,
      active: [{ runNo: 1, status: 'DISPATCHED' }],
    })
    expect(after.state?.lastRun).toMatchObject({
      runNo: 2,
      status: 'DEAD',
      scheduledFor: 2_000,
      trigger: 'SCHEDULE',
      attempts: 1,
      startedAt: 2_500,
      finishedAt: 3_000,
      worker: 'w',
      result: null,
      note: null,
      errors: [{ attempt: 1, at: 3_000, worker: 'w', type: 'Unrecordable', message: 'It is too large.' }],
    })
    expect(notes).toEqual([
      { kind: 'ended', status: 'DEAD' },
      { kind: 'invalid', reason: 'It is too large.' },
    ])
    expect(historyPuts).toEqual([])
  })
  it('leaves a dead letter of that run, without the possible cause, unless that cannot be written either', () => {
    const job = new JobHistory().define({ payload: Buffer.from('p'), headers: { a: Buffer.from('b') } }).until(1_000)
    expect(invalidated(job.job, 'No.', 3_000, 1).out).toMatchObject([
      {
        kind: 'dead-letter',
        letter: {
          jobId: 'job',
          runNo: 1,
          attempts: 1,
          deadAt: 3_000,
          errors: [{ type: 'Unrecordable', message: 'No.', at: 3_000 }],
        },
        execution: { jobId: 'job', runNo: 1, attempt: 1, handler: 'noop', payload: null, headers: {} },
      },
    ])
    expect(invalidated(job.job, 'No.', 3_000, 1, false).out).toEqual([])
    expect(invalidated(job.job, 'No.', 3_000).out).toEqual([])
  })
  it('keeps earlier ended runs visible', () => {
    const job = twoRuns().report('SUCCEEDED', { runNo: 1 })
    const { historyPuts, job: after } = invalidated(job.job, 'No.', 3_000, 2)
    expect(historyPuts).toMatchObject([{ runNo: 1, status: 'SUCCEEDED' }])
    expect(after.state).toMatchObject({ succeeded: 1, failed: 1, active: [], lastRun: { runNo: 2 } })
  })
  it('keeps nothing that only the ended run needed', () => {
    const job = twoRuns().define({ schedule: { everyMs: 7_000 }, maxConcurrentRuns: 5 })
    const [kept] = job.snapshots.keys()
    const first = invalidated(job.job, 'No.', 3_000, 1)
    const second = invalidated(first.job, 'No.', 3_000, 2)
    // Both runs were made from the same definition. Their snapshot is removed with the last of them.
    expect([...first.snapshotDeletes, ...second.snapshotDeletes]).toContain(kept)
    expect(second.job.state?.active).toEqual([])
  })
  it('is not deleted, also if its retention has begun', () => {
    const job = new JobHistory().define().until(1_000).report('SUCCEEDED')
    expect(job.state.deleteAt).not.toBeNull()
    expect(invalidated(job.job, 'No.', 2_000).job.state).toMatchObject({ status: 'INVALID', deleteAt: null })
  })
  it('is unchanged when the same failure comes again, so nothing has to be logged', () => {
    const first = invalidated(twoRuns().job, 'No.', 3_000).job
    const again = invalidated(first, 'No.', 4_000)
    expect(again).toMatchObject({ failed: true, notes: [] })
    expect(again.job.state).toBe(first.state)
    expect(invalidated(first, 'No.', 4_000, 9).job.state).toBe(first.state)
    expect(invalidated(first, 'Another.', 4_000).job.state).toMatchObject({ reason: 'Another.' })
    expect(invalidated(first, 'No.', 4_000, 1).job.state).toMatchObject({ failed: 1, active: [{ runNo: 2 }] })
    const leaving = { ...first, state: { ...(first.state ?? expect.fail()), deleteAt: 9_000 } }
    expect(invalidated(leaving, 'No.', 4_000).job.state).toMatchObject({ deleteAt: null })
  })
  it.each([
    [500, 'x'.repeat(500)],
    [501, `${'x'.repeat(500)}…`],
  ])('gives a reason of at most 500 characters: of %i', (length, reason) => {
    expect(invalidated(twoRuns().job, 'x'.repeat(length), 3_000).job.state?.reason).toBe(reason)
  })
  it('cuts no character of its reason in two', () => {
    const { reason = '' } = invalidated(twoRuns().job, `${'x'.repeat(499)}😀😀`, 3_000).job.state ?? {}
    expect(reason?.isWellFormed()).toBe(true)
  })
})
