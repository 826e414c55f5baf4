/** A redrive makes a dead run again, as a new run. */
import { describe, expect, it } from 'vitest'
import type { Execution, JobDefinitionInput } from '../../../schemas/generated.ts'
import { JobHistory } from './history.ts'

const once: Partial<JobDefinitionInput> = { retry: { maxAttempts: 1 }, payload: Buffer.from('old') }
const dead = (more: Partial<JobDefinitionInput> = {}): JobHistory =>
  new JobHistory()
    .define({ ...once, ...more })
    .until(1_000)
    .fail()

describe('a redrive', () => {
  it('makes a new run, due now, for the same nominal time', () => {
    const job = dead().until(5_000).command('REDRIVE', { runNo: 1, commandId: 'again' })
    expect(job.dispatched.at(-1)).toMatchObject({ runNo: 2, attempt: 1, trigger: 'REDRIVE', scheduledFor: 1_000, dueAt: 5_000 })
    expect(job.state).toMatchObject({ failed: 1, scheduledRuns: 1, active: [{ runNo: 2, commandId: 'again' }] })
  })
  it('has the payload, headers and target that the dead run had, in each attempt', () => {
    const job = dead({ retry: { maxAttempts: 2 }, headers: { a: Buffer.from('b') }, priority: 'HIGH' })
    job.report('RETRY_DUE').until(2_000).report('RETRY_DUE').fail()
    job.define({ payload: Buffer.from('new'), target: { handler: 'other', pool: 'else' } }).command('REDRIVE', { runNo: 1 })
    job.fail('Error', { retryAfterMs: 0 })
    const again = job.dispatched.filter(({ runNo }) => runNo === 2)
    expect(again.map(({ attempt }) => attempt)).toEqual([1, 2])
    for (const { payload, headers, handler, pool, priority } of again) {
      expect([String(payload), String(headers.a), handler, pool, priority]).toEqual(['old', 'b', 'noop', 'default', 'HIGH'])
    }
  })
  it.each<[string, Partial<JobDefinitionInput>]>([
    ['a handler', { target: { handler: 'mail', pool: 'slow' }, pinTo: 'gpu', contentType: 'text/plain', priority: 'LOW' }],
    ['a URL', { target: { http: { url: 'https://a.example/x', method: 'PUT' } }, contentType: null }],
  ])('has everything that the dead run had, if that called %s, whatever the definition is meanwhile', (_, more) => {
    const job = dead({ headers: { a: Buffer.from('b') }, leaseMs: 5_000, attemptTimeoutMs: 7_000, ...more })
    const [before] = job.dispatched
    job.define({ target: { handler: 'other', pool: 'else' }, contentType: 'text/html', payload: Buffer.from('new') })
    const after = job.command('REDRIVE', { runNo: 1 }).dispatched.at(-1)
    const made = ({ handler, httpTarget, payload, contentType, headers, pool, priority, pinTo }: Execution) => ({
      handler,
      httpTarget,
      payload,
      contentType,
      headers,
      pool,
      priority,
      pinTo,
    })
    expect(after && made(after)).toEqual(before && made(before))
    expect(after?.handler).toBe(more.target?.handler ?? 'http')
    expect(after?.httpTarget?.url ?? null).toBe(more.target?.http?.url ?? null)
  })
  it('has the payload of the trigger that made the dead run', () => {
    const job = new JobHistory()
      .define({ ...once, schedule: { at: 900_000 } })
      .command('TRIGGER', { payload: Buffer.from('special') })
      .fail()
    expect(String(job.command('REDRIVE', { runNo: 1 }).dispatched.at(-1)?.payload)).toBe('special')
  })
  it('is possible once for each dead run: then it is another run', () => {
    const job = dead().command('REDRIVE', { runNo: 1 })
    expect(job.state.deadRuns).toEqual([])
    expect(job.command('REDRIVE', { runNo: 1 }).dispatched).toHaveLength(2)
    expect(job.state.decisions.at(-1)).toMatchObject({ what: 'DROPPED', reason: 'no-such-dead-run', runNo: 1 })
  })
  it('that fails too can be redriven again', () => {
    const job = dead().command('REDRIVE', { runNo: 1 }).fail()
    expect(job.state.deadRuns).toEqual([2])
    expect(job.command('REDRIVE', { runNo: 2 }).report('SUCCEEDED').state).toMatchObject({
      succeeded: 1,
      failed: 2,
      deadRuns: [],
    })
    expect(String(job.dispatched.at(-1)?.payload)).toBe('old')
  })
  it('keeps a COMPLETED job from being deleted while it runs', () => {
    const job = dead({ retainFailedMs: 5_000 }).until(4_000).command('REDRIVE', { runNo: 1 })
    expect(job.state).toMatchObject({ finishedAt: null, deleteAt: null })
    expect(job.until(8_000).report('SUCCEEDED').state).toMatchObject({ status: 'COMPLETED', finishedAt: 8_000 })
  })
  it('is possible while the job is PAUSED', () => {
    const job = dead({ schedule: { everyMs: 1_000 } })
      .command('PAUSE')
      .command('REDRIVE', { runNo: 1 })
    expect(job.dispatched).toHaveLength(2)
  })
  it('beyond the limit of active runs is refused, and the dead run stays for the next one', () => {
    const job = dead({ maxConcurrentRuns: 1 }).command('TRIGGER').command('REDRIVE', { runNo: 1 })
    expect(job.dispatched.map(({ runNo }) => runNo)).toEqual([1, 2])
    expect(job.last.refusal).toBe('max-concurrent-runs')
    expect(job.state).toMatchObject({ deadRuns: [1], active: [{ runNo: 2 }] })
    job.report('SUCCEEDED').command('REDRIVE', { runNo: 1 })
    expect(job.dispatched.at(-1)).toMatchObject({ runNo: 3, trigger: 'REDRIVE' })
  })
  it.each<[string, (job: JobHistory) => unknown, number | null]>([
    ['names no run', () => {}, null],
    ['names a run that there never was', () => {}, 7],
    ['names a run that is active', (job) => job.command('TRIGGER'), 2],
    ['names a run that has succeeded', (job) => job.command('TRIGGER').report('SUCCEEDED'), 2],
    ['names a run that was cancelled', (job) => job.command('TRIGGER').command('CANCEL_RUN', { runNo: 2 }), 2],
  ])('that %s is refused', (_, act, runNo) => {
    const job = dead()
    act(job)
    const before = job.dispatched.length
    job.command('REDRIVE', { runNo })
    expect(job.dispatched).toHaveLength(before)
    expect(job.state.decisions.at(-1)).toMatchObject({ what: 'DROPPED', reason: 'no-such-dead-run' })
  })
})

describe('the snapshot of a run', () => {
  it('is never replaced by a later definition: if it is missing or unreadable, the rule fails', () => {
    const job = new JobHistory().define({ payload: Buffer.from('old') }).until(1_000)
    job.define({ payload: Buffer.from('new') })
    const [snapshotNo] = job.snapshots.keys()
    job.snapshots.clear()
    expect(() => job.fail('Error', { retryAfterMs: 0 })).toThrow('The snapshot of run 1 cannot be read: it is missing')
    job.job = { ...job.job, snapshots: new Map(), unreadableRuns: new Map([[snapshotNo ?? expect.fail(), 'No such schema.']]) }
    expect(() => job.fail('Error', { retryAfterMs: 0 })).toThrow('The snapshot of run 1 cannot be read: No such schema.')
  })
})

describe('dead runs', () => {
  const failing = (count: number, payload: Buffer, job = new JobHistory()): JobHistory => {
    job.define({ ...once, payload, schedule: { everyMs: 1_000 } })
    for (let run = 0; run < count; run++) job.until(job.now + 1_000).fail()
    return job
  }
  it('of a night, one each minute, can all be redriven', () => {
    const job = failing(480, Buffer.from('small'))
    expect(job.state).toMatchObject({ deadRunsDropped: 0, deadRuns: Array.from({ length: 480 }, (_, index) => index + 1) })
    expect(job.command('REDRIVE', { runNo: 1 }).dispatched.at(-1)).toMatchObject({ trigger: 'REDRIVE', runNo: 481 })
  })
  it('are at most 1,000; older ones are dropped with their snapshots, and counted', () => {
    const job = failing(1_003, Buffer.from('small'))
    expect(job.state.deadRuns).toHaveLength(1_000)
    expect(job.state).toMatchObject({ deadRunsDropped: 3 })
    expect(job.decisions.flatMap(({ snapshotDeletes }) => snapshotDeletes)).toEqual([1, 2, 3])
    expect(job.command('REDRIVE', { runNo: 3 }).state.decisions.at(-1)).toMatchObject({ reason: 'no-such-dead-run' })
  })
  it('with large inputs are as many as fit, and never fewer than ten', () => {
    expect(failing(50, Buffer.alloc(100_000)).state).toMatchObject({ deadRuns: { length: 41 }, deadRunsDropped: 9 })
    const job = failing(12, Buffer.alloc(500_000))
    expect(job.state).toMatchObject({ deadRuns: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12], deadRunsDropped: 2 })
  })
  it('become no more while the partition has too many: the oldest make room, and none of those that are kept goes at once', () => {
    const job = failing(8, Buffer.from('small'))
    job.mayKeepDead = false
    expect(failing(4, Buffer.from('small'), job).state).toMatchObject({ deadRuns: { length: 10 }, deadRunsDropped: 2 })
    job.mayKeepDead = true
    failing(20, Buffer.from('small'), job).mayKeepDead = false
    expect(failing(1, Buffer.from('small'), job).state).toMatchObject({ deadRuns: { length: 30 }, deadRunsDropped: 3 })
  })
  it('keep their ends, without result and stack and with the last error only', () => {
    const [end] = dead({ retry: { maxAttempts: 2 } })
      .report('RETRY_DUE')
      .until(9_000)
      .fail().last.deadEnds
    expect(end).toMatchObject({ runNo: 1, status: 'DEAD', attempts: 2, result: null })
    expect(end?.errors).toMatchObject([{ attempt: 2, stack: null }])
  })
  it('are forgotten with the job', () => {
    expect(dead().remove().last.snapshotDeletes).toEqual([1])
  })
  it('do not include expired runs: nothing of them is kept', () => {
    const job = new JobHistory().define({ ...once, startDeadlineMs: 1_000 }).until(7_000)
    expect(job.state).toMatchObject({ failed: 1, deadRuns: [], lastRun: { status: 'EXPIRED' } })
  })
})

describe('a discard', () => {
  const discard = (job: JobHistory, runNo: number) => job.command('CANCEL_RUN', { runNo, discard: true })
  it('takes a dead run away: its record and its count stay, its snapshot goes, and it cannot be redriven', () => {
    const job = discard(dead(), 1)
    expect(job.state).toMatchObject({ deadRuns: [], failed: 1, lastRun: { runNo: 1, status: 'DEAD' } })
    expect(job.last.snapshotDeletes).toEqual([1])
    expect(job.last.refusal).toBeUndefined()
    expect(job.command('REDRIVE', { runNo: 1 }).last.refusal).toBe('no-such-dead-run')
  })
  it('of an active or unknown run is refused, and the run goes on', () => {
    const job = new JobHistory().define({ schedule: { at: 1_000 } }).until(1_000)
    expect(discard(job, 1).last.refusal).toBe('no-such-dead-run')
    expect(job.state.active).toMatchObject([{ runNo: 1 }])
    expect(discard(job, 9).last.refusal).toBe('no-such-dead-run')
  })
})
