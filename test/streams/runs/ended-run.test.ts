/** The record of an ended run for the topic `runs`: one for each end, bounded, and without secrets' values. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { invalidated } from '../../../streams/jobs/step.ts'
import { JobHistory } from './history.ts'

const started = (more: Partial<JobDefinitionInput> = {}): JobHistory =>
  new JobHistory().define(more).until(1_000).report('STARTED')
const recordsOf = ({ last }: JobHistory) => last.endedRuns

describe('the record of an ended run', () => {
  it('names job, run, life, times, worker, outcome, handler and tags', () => {
    const job = started({ tags: ['night', 'report'] })
    expect(recordsOf(job)).toEqual([])
    const { life, active } = job.state
    job.report('SUCCEEDED', { result: Buffer.from('7') })
    const { startedAt, finishedAt, worker, attempts } = job.state.lastRun ?? expect.fail()
    expect(recordsOf(job)).toMatchObject([
      {
        ...{ jobId: job.job.id, runNo: 1, life, outcome: 'SUCCEEDED', reason: null, trigger: 'SCHEDULE', commandId: null },
        ...{ tags: ['night', 'report'], topic: null, scheduledFor: 1_000, dueAt: active[0]?.dueAt },
        ...{ startedAt, finishedAt, worker, attempts, errorType: null, errorMessage: null, resultBytes: 1 },
      },
    ])
    expect(recordsOf(job)[0]?.handler).toBe(job.job.definition?.spec?.target.handler)
    expect(recordsOf(job)[0]?.result?.toString()).toBe('7')
  })
  it('is written for skipped occurrences too, which have no run, with their number, reason and handler', () => {
    const job = new JobHistory().define({ schedule: { everyMs: 1_000 }, overlap: 'SKIP', tags: ['night'] }).downUntil(3_500)
    job.until(5_000)
    const skipped = job.decisions.flatMap(({ endedRuns }) => endedRuns)
    expect(skipped).toMatchObject([
      { runNo: 0, outcome: 'SKIPPED', reason: 'catch-up', scheduledFor: 1_000, finishedAt: 3_500, note: '2 occurrences' },
      { runNo: 0, outcome: 'SKIPPED', reason: 'overlap', scheduledFor: 4_000, note: null, tags: ['night'], startedAt: null },
      { runNo: 0, outcome: 'SKIPPED', reason: 'overlap', scheduledFor: 5_000, note: null },
    ])
    expect(skipped[0]).toMatchObject({ life: job.state.life, handler: job.job.definition?.spec?.target.handler, attempts: 0 })
  })
  it('has the last error of a dead run, and none of a run that succeeded in the end', () => {
    const dead = started({ retry: { maxAttempts: 1 } }).fail('Timeout', { message: 'too slow' })
    expect(recordsOf(dead)).toMatchObject([
      { outcome: 'DEAD', reason: 'attempts', errorType: 'Timeout', errorMessage: 'too slow' },
    ])
    const retried = started().fail().until(2_000).report('RETRY_DUE').report('STARTED').report('SUCCEEDED')
    expect(recordsOf(retried)).toMatchObject([{ outcome: 'SUCCEEDED', attempts: 2, errorType: null }])
  })
  it('has the length of a result over 4,096 bytes in place of the result', () => {
    const kept = started().report('SUCCEEDED', { result: Buffer.alloc(4_096, '1') })
    expect(recordsOf(kept)).toMatchObject([{ resultBytes: 4_096, result: Buffer.alloc(4_096, '1') }])
    const left = started().report('SUCCEEDED', { result: Buffer.alloc(4_097, '1') })
    expect(recordsOf(left)).toMatchObject([{ resultBytes: 4_097, result: null }])
  })
  it('is written for each run that ends with its deleted job', () => {
    const job = new JobHistory().define({ schedule: { everyMs: 1_000 }, overlap: 'ALLOW', maxConcurrentRuns: 3 }).until(2_000)
    expect(job.state.active).toHaveLength(2)
    job.remove()
    expect(recordsOf(job).map(({ runNo, outcome, reason }) => [runNo, outcome, reason])).toEqual([
      [1, 'CANCELLED', 'deleted'],
      [2, 'CANCELLED', 'deleted'],
    ])
  })
  it('says that texts of the run may hold secrets if its definition has headers, and shows none of them', () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const headers = { traceparent: Buffer.from(traceparent), authorization: Buffer.from('Bearer abc') }
    const secret = started({ headers }).report('SUCCEEDED')
    expect(recordsOf(secret)).toMatchObject([{ mayHoldSecrets: true, traceparent }])
    expect(JSON.stringify(recordsOf(secret))).not.toContain('abc')
    const wrong = started({ headers: { traceparent: Buffer.from('Bearer abc') } }).report('SUCCEEDED')
    expect(recordsOf(wrong)).toMatchObject([{ traceparent: null }])
    expect(recordsOf(started().report('SUCCEEDED'))).toMatchObject([{ mayHoldSecrets: false, traceparent: null }])
  })
  it('of a run that its job was redefined under has the handler that it was made with', () => {
    const job = started({ target: { handler: 'first' } })
    job.define({ target: { handler: 'second' } }).report('SUCCEEDED')
    expect(recordsOf(job)).toMatchObject([{ runNo: 1, handler: 'first', mayHoldSecrets: false }])
  })
  it('is left out together with the dead letter of a decision that the log refuses', () => {
    const { job } = started()
    expect(invalidated(job, 'refused', 2_000, 1).endedRuns).toMatchObject([{ outcome: 'DEAD', errorType: 'Unrecordable' }])
    expect(invalidated(job, 'refused', 2_000, 1, false).endedRuns).toEqual([])
  })
})
