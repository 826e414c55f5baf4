/** The time limits for an occurrence and for the attempts of a run: expireAt of the job, and retry.maxAgeMs of each run. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { JobHistory } from './history.ts'

type Definition = Partial<JobDefinitionInput>
const every: Definition = { schedule: { everyMs: 1_000 } }

describe('expireAt', () => {
  it.each<[string, Definition]>([
    ['an interval', every],
    ['cron', { schedule: { cron: '* * * * * *' } }],
  ])('lets nothing fire after it, and then the job is COMPLETED: %s', (_, definition) => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define({ ...definition, expireAt: 2_500 }).until(60_000)
    expect(job.fired).toEqual([1_000, 2_000])
    expect(job.skips).toEqual({ expired: 1 })
    expect(job.decisions.find(({ job: { state } }) => state?.status === 'COMPLETED')?.job.state).toMatchObject({
      finishedAt: 3_000,
    })
  })
  it.each(['SKIP', 'LATEST', 'ALL'] as const)('does not fire missed occurrences from before, with catchUp %s', (catchUp) => {
    const job = new JobHistory().define({ ...every, catchUp, expireAt: 3_500 }).downUntil(3_501)
    expect(job.fired).toEqual([])
    expect(job.state).toMatchObject({ status: 'COMPLETED', skipped: 3, decisions: [{ reason: 'expired', count: 3 }] })
  })
  it.each([
    [3_499, [1_000, 2_000, 3_000]],
    [3_500, []],
  ])('of 3500 lets at %i catch up what was missed: %j', (now, fired) => {
    expect(new JobHistory().define({ ...every, catchUp: 'ALL', expireAt: 3_500 }).downUntil(now).fired).toEqual(fired)
  })
  it.each([0, 200])('is exclusive: an occurrence that is due in that ms does not fire, with a lead of %d ms', (leadMs) => {
    const job = new JobHistory({ leadMs, worker: { type: 'SUCCEEDED' } }).define({ ...every, expireAt: 3_000 }).until(60_000)
    expect(job.fired).toEqual([1_000, 2_000])
    expect(job.skips).toEqual({ expired: 1 })
    expect(job.state.failed).toBe(0)
  })
  it('ends the wait of a run whose topic is missing, also when it is there again', () => {
    let problem: string | undefined = 'It is gone.'
    const job = new JobHistory({ topicProblem: () => problem }).definition(
      {
        spec: completeDefinition({ schedule: { at: 1_000 }, target: { topic: { name: 'out' } }, expireAt: 9_000 }),
      },
      true,
    )
    job.until(1_000)
    expect(job.state.active).toMatchObject([{ status: 'RETRY_WAIT', tellAt: 9_000 }])
    problem = undefined
    expect(job.until(9_000).state).toMatchObject({ active: [], failed: 1, lastRun: { status: 'EXPIRED' } })
    expect(job.out).toEqual([])
  })
  it('ends a backfill', () => {
    const job = new JobHistory()
    job.now = 9_500
    job.define({ schedule: { everyMs: 1_000, anchor: 0 }, overlap: 'SKIP', expireAt: 9_900 })
    job.command('BACKFILL', { from: 0, to: 4_000 }).until(14_900)
    expect(job.state).toMatchObject({ backfill: null, lastRun: { status: 'EXPIRED' } })
    expect(job.state.decisions.find(({ what }) => what === 'DROPPED')).toMatchObject({ reason: 'expired', scheduledFor: 1_000 })
    job.command('BACKFILL', { from: 0, to: 4_000 })
    expect(job.last.refusal).toBe('expired')
  })
  it('allows no redrive after it', () => {
    const job = new JobHistory()
      .define({ schedule: { at: 1_000 }, expireAt: 4_000 })
      .until(1_000)
      .fail('Error', { retryable: false })
    job.until(4_000).command('REDRIVE', { runNo: 1 })
    expect(job.last.refusal).toBe('expired')
    expect(job.state).toMatchObject({ deadRuns: [1], active: [], runNo: 1 })
  })
  it('ends a missed instant', () => {
    const job = new JobHistory().define({ schedule: { at: 1_000 }, expireAt: 2_000 }).downUntil(5_000)
    expect(job.fired).toEqual([])
    expect(job.state).toMatchObject({ status: 'COMPLETED', runNo: 0, skipped: 1 })
  })
  it.each([0, 200])('applies also to a dispatch ahead of its time, with a lead of %d ms', (leadMs) => {
    const job = new JobHistory({ leadMs, worker: { type: 'SUCCEEDED' } }).define({ ...every, expireAt: 2_900 }).until(9_000)
    expect(job.fired).toEqual([1_000, 2_000])
    expect(job.skips).toEqual({ expired: 1 })
  })
  it('expires a run that has not started by then, before its start deadline', () => {
    const job = new JobHistory().define({ schedule: { at: 1_000 }, expireAt: 4_000 }).until(3_999)
    expect(job.dispatched[0]?.startDeadlineAt).toBe(4_000)
    expect(job.state.active).toHaveLength(1)
    expect(job.until(9_000).state).toMatchObject({ failed: 1, lastRun: { status: 'EXPIRED', finishedAt: 9_000 } })
  })
  it('does not lengthen a start deadline that is earlier', () => {
    const job = new JobHistory().define({ schedule: { at: 1_000 }, startDeadlineMs: 1_000, expireAt: 90_000 }).until(1_000)
    expect(job.dispatched[0]?.startDeadlineAt).toBe(2_000)
  })
  it('does not end a run that has started', () => {
    const job = new JobHistory()
      .define({ schedule: { at: 1_000 }, expireAt: 4_000 })
      .until(1_000)
      .report('STARTED')
      .until(20_000)
    expect(job.report('SUCCEEDED').state).toMatchObject({ succeeded: 1, failed: 0 })
  })
  it('expires an attempt that was given back and not started again', () => {
    const job = new JobHistory()
      .define({ schedule: { at: 1_000 }, expireAt: 4_000 })
      .until(2_000)
      .report('STARTED')
      .report('RELEASED')
    expect(job.until(9_000).state.lastRun).toMatchObject({ status: 'EXPIRED', finishedAt: 9_000 })
  })
  it('skips a queued occurrence when it passes', () => {
    const job = new JobHistory()
      .define({ ...every, overlap: 'QUEUE_ONE', expireAt: 2_500 })
      .until(1_000)
      .report('STARTED')
    job.until(2_600).report('SUCCEEDED')
    expect(job.fired).toEqual([1_000])
    expect(job.state).toMatchObject({
      queuedFor: null,
      decisions: [
        { what: 'QUEUED', reason: 'overlap', scheduledFor: 2_000, at: 2_000 },
        { what: 'SKIPPED', reason: 'expired', scheduledFor: 2_000, at: 2_600 },
      ],
    })
  })
  it('completes a resumed job if its queued occurrence has expired and no other is ahead', () => {
    const job = new JobHistory().define({ ...every, overlap: 'QUEUE_ONE', endAt: 2_000, expireAt: 2_500 }).until(2_000)
    job.command('PAUSE').report('SUCCEEDED').until(3_000).command('RESUME')
    expect(job.state).toMatchObject({ status: 'COMPLETED', queuedFor: null, active: [] })
  })
  it('may be moved by a new definition before it has passed', () => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define({ ...every, expireAt: 1_500 }).until(1_200)
    expect(job.define({ ...every, expireAt: 3_500 }).until(9_000).fired).toEqual([1_000, 2_000, 3_000])
  })
})

describe('retry.maxAgeMs', () => {
  const aging = (maxAgeMs: number | null): JobHistory =>
    new JobHistory().define({
      schedule: { at: 1_000 },
      retry: { maxAttempts: 10, maxAgeMs, backoff: { list: [], fixed: { delayMs: 1_000 } } },
    })
  it('lets a run be retried while its next attempt is due within it', () => {
    const job = aging(2_000).until(2_000).fail()
    expect(job.state.active).toMatchObject([{ status: 'RETRY_WAIT', dueAt: 3_000 }])
  })
  it('gives a run up if its retry would be later', () => {
    const job = aging(2_000).until(2_001).fail()
    expect(job.state).toMatchObject({
      failed: 1,
      deadRuns: [1],
      active: [],
      decisions: [{ what: 'DEAD', reason: 'max-age', runNo: 1 }],
    })
    expect(job.out.at(-1)).toMatchObject({ kind: 'dead-letter', letter: { runNo: 1, attempts: 1 } })
  })
  it('counts from the nominal time, however late the run began', () => {
    const job = aging(2_000).downUntil(60_000).fail()
    expect(job.dispatched).toHaveLength(1)
    expect(job.state.lastRun).toMatchObject({ status: 'DEAD', attempts: 1 })
  })
  it('includes the delay that a worker requests', () => {
    expect(aging(2_000).until(1_000).fail('Error', { retryAfterMs: 2_001 }).state.lastRun).toMatchObject({ status: 'DEAD' })
    expect(aging(2_000).until(1_000).fail('Error', { retryAfterMs: 2_000 }).state.active).toHaveLength(1)
  })
  it('also ends a run whose worker is silent', () => {
    const job = aging(2_000).until(1_000).report('STARTED').until(40_000)
    expect(job.state).toMatchObject({ failed: 1, lastRun: { status: 'DEAD', errors: [{ type: 'LeaseLost' }] } })
  })
  it('does not apply to redrives or backfills, which are old from their beginning', () => {
    const job = aging(2_000).until(1_000).fail('Error', { retryable: false }).until(60_000)
    job.command('REDRIVE', { runNo: 1 }).fail()
    expect(job.state.active).toMatchObject([{ trigger: 'REDRIVE', status: 'RETRY_WAIT', attempt: 2 }])
    const past = new JobHistory()
    past.now = 90_500
    past.define({ schedule: { everyMs: 1_000, anchor: 0 }, retry: { maxAgeMs: 2_000 }, endAt: 91_000, maxConcurrentRuns: 2 })
    past.command('BACKFILL', { from: 10_000, to: 11_000 }).fail()
    expect(past.state.active).toMatchObject([{ trigger: 'BACKFILL', status: 'RETRY_WAIT', attempt: 2 }])
  })
  it('does not end an attempt that is given back, because nothing has failed', () => {
    const job = aging(2_000).until(9_000).report('RELEASED')
    expect(job.dispatched.at(-1)?.attempt).toBe(2)
  })
  it('has no limit if it is not set', () => {
    expect(aging(null).until(500_000).fail().state.active).toMatchObject([{ status: 'RETRY_WAIT' }])
  })
})
