/** Runs of jobs with trackRuns false. For the owner they end with the step that dispatches them. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { whyOf } from '../../../streams/jobs/reasons.ts'
import { JobHistory } from './history.ts'

type Definition = Partial<JobDefinitionInput>
const untracked = (definition: Definition = {}, leadMs = 0): JobHistory =>
  new JobHistory({ leadMs }).define({ trackRuns: false, ...definition })
const every: Definition = { schedule: { everyMs: 1_000 } }

describe('a run that is not tracked', () => {
  it('is dispatched and finished in one decision: no active run, only the timer of the job, and status DISPATCHED', () => {
    const job = untracked(every).until(1_000)
    expect(job.dispatched).toMatchObject([{ runNo: 1, attempt: 1, tracked: false, scheduledFor: 1_000 }])
    expect(job.last.out).toHaveLength(1)
    expect(job.state).toMatchObject({ active: [], runNo: 1, scheduledRuns: 1, succeeded: 0, failed: 0, nextFireAt: 2_000 })
    expect(job.state.lastRun).toMatchObject({ status: 'DISPATCHED', runNo: 1, startedAt: null, finishedAt: 1_000, attempts: 1 })
    expect(job.state.decisions).toEqual([])
    expect(job.next).toBe(2_000)
  })
  it('is recognized by its own definition: a run of a tracked job is tracked', () => {
    const job = new JobHistory().define(every).until(1_000)
    expect(job.dispatched).toMatchObject([{ tracked: true }])
    expect(job.state.active).toHaveLength(1)
  })
  it('ignores reports: they are counted and dropped', () => {
    const job = untracked(every).until(1_000)
    for (const type of ['STARTED', 'HEARTBEAT', 'SUCCEEDED', 'FAILED', 'RELEASED'] as const) {
      expect(job.report(type).last.notes).toEqual([{ kind: 'stale', what: type }])
      expect(job.state).toMatchObject({ active: [], runNo: 1, succeeded: 0, failed: 0 })
    }
    expect(job.sent).toHaveLength(1)
  })
  it('uses no room: all due runs are handed out, also within the start of one', () => {
    const job = untracked({ schedule: { everyMs: 100 } }).until(10_000)
    expect(job.fired).toHaveLength(100)
    expect(job.skips).toEqual({})
  })
  it('is in the run history like any other', () => {
    const job = untracked(every).until(4_000)
    expect([...job.endedRuns.values()].map(({ runNo, status }) => [runNo, status])).toEqual([
      [1, 'DISPATCHED'],
      [2, 'DISPATCHED'],
      [3, 'DISPATCHED'],
    ])
  })
})

describe('the job of runs that are not tracked', () => {
  it('is COMPLETED with its only occurrence, and deleted after retainCompletedMs', () => {
    const job = untracked({ retainCompletedMs: 500, retainFailedMs: 90_000 }).until(1_000)
    expect(job.state).toMatchObject({ status: 'COMPLETED', finishedAt: 1_000, deleteAt: 1_500 })
    expect(job.until(1_500).job).toEqual({ id: 'job' })
  })
  it('keeps to maxRuns and endAt', () => {
    expect(untracked({ ...every, maxRuns: 3 }).until(60_000).fired).toEqual([1_000, 2_000, 3_000])
    expect(untracked({ ...every, endAt: 2_500 }).until(60_000).fired).toEqual([1_000, 2_000])
  })
  it.each([
    ['SKIP', [10_000], 9],
    ['LATEST', [10_000], 9],
    ['ALL', [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000, 10_000], 0],
  ] as const)('catches up by %s', (catchUp, fired, skipped) => {
    const job = untracked({ ...every, catchUp, misfireThresholdMs: 0 }).downUntil(10_000)
    expect(job.fired).toEqual(fired)
    expect(job.state.skipped).toBe(skipped)
  })
  it('is triggered by a command, with its payload, once', () => {
    const payload = Buffer.from('other')
    const job = untracked(every).command('TRIGGER', { commandId: 't', payload }).command('TRIGGER', { commandId: 't', payload })
    expect(job.dispatched).toMatchObject([{ runNo: 1, trigger: 'MANUAL', payload, tracked: false }])
    expect(job.state.lastRun).toMatchObject({ commandId: 't', status: 'DISPATCHED' })
    expect([...job.snapshots]).toEqual([])
  })
  it('pauses, resumes, is cancelled and deleted like any other', () => {
    expect(untracked(every).command('PAUSE').until(5_000).fired).toEqual([])
    expect(untracked(every).command('PAUSE').until(5_000).command('RESUME').until(6_000).fired).toEqual([5_000, 6_000])
    expect(untracked(every).until(1_000).command('CANCEL').until(9_000).fired).toEqual([1_000])
    expect(untracked(every).until(1_000).remove().until(9_000).fired).toEqual([1_000])
  })
})

describe('what cannot be done with a run that has left', () => {
  it('is a cancellation: the answer says why', () => {
    const job = untracked(every).until(2_000)
    job.command('CANCEL_RUN', { runNo: 1 })
    expect(job.state.decisions).toMatchObject([{ what: 'DROPPED', reason: 'not-tracked', runNo: 1 }])
    job.command('CANCEL_RUN', { runNo: 3 })
    expect(job.state.decisions.at(-1)).toMatchObject({ reason: 'no-such-run', runNo: 3 })
    expect(job.out.filter(({ kind }) => kind === 'cancel')).toEqual([])
  })
  it('is a backfill: it is refused', () => {
    const job = untracked({ schedule: { everyMs: 1_000, anchor: 0 } }).until(3_500)
    job.command('BACKFILL', { from: 0, to: 3_000 })
    expect(job.state).toMatchObject({ backfill: null, decisions: [{ what: 'DROPPED', reason: 'not-tracked-backfill' }] })
    expect(job.dispatched.every(({ trigger }) => trigger === 'SCHEDULE')).toBe(true)
  })
  it.each<[string, Definition, string]>([
    ['that is not tracked', { trackRuns: false }, 'not-tracked-backfill'],
    ['for a topic', { target: { topic: { name: 't' } } }, 'topic-target'],
  ])('is the rest of a backfill under a definition %s: it ends there', (_, more, reason) => {
    const schedule = { everyMs: 1_000, anchor: 0 }
    const job = new JobHistory()
    job.now = 50_500
    job.define({ schedule, maxConcurrentRuns: 1 }).command('BACKFILL', { from: 0, to: 40_000 }).report('SUCCEEDED')
    expect(job.state.backfill).not.toBeNull()
    const before = job.dispatched.length
    job.define({ schedule, ...more })
    job.report('SUCCEEDED', { runNo: job.state.active[0]?.runNo ?? 0 })
    expect(job.state.backfill).toBeNull()
    expect(job.state.decisions.some((each) => each.reason === reason)).toBe(true)
    expect(job.dispatched.slice(before).filter(({ trigger }) => trigger === 'BACKFILL')).toEqual([])
  })
})

describe('an occurrence that was handed out ahead of its time', () => {
  const ahead = (definition: Definition) => untracked(definition).fireAhead()
  it('does not fire again under a definition with other times, also when a command made a run since', () => {
    const job = ahead({ schedule: { at: 5_000 }, retainCompletedMs: 60_000 }).command('TRIGGER')
    expect(job.state).toMatchObject({ latestFiredFor: 5_000, lastRun: { trigger: 'MANUAL' } })
    job.define({ trackRuns: false, schedule: { at: 5_000 }, startAt: 10 }).until(60_000)
    expect(job.fired).toEqual([5_000])
  })
  it('is not fired again by a recurring job either', () => {
    const job = ahead({ schedule: { everyMs: 5_000, anchor: 0 } }).command('TRIGGER')
    job.define({ trackRuns: false, schedule: { everyMs: 2_500, anchor: 0 } }).until(10_000)
    expect(job.fired).toEqual([5_000, 7_500, 10_000])
  })
  it('does not fire again if it is the only one of its schedule, and an earlier schedule had fired for a later time', () => {
    const job = ahead({ schedule: { everyMs: 5_000, anchor: 0 } })
    const at = { trackRuns: false, schedule: { at: 2_000 }, retainCompletedMs: 60_000 }
    job
      .define(at)
      .fireAhead()
      .define({ ...at, tags: ['other'] })
    expect(job.until(10_000).fired).toEqual([5_000, 2_000])
  })
  it('carries its time, so the worker holds it until then', () => {
    expect(ahead({ schedule: { at: 5_000 } }).dispatched).toMatchObject([{ dueAt: 5_000, dispatchedAt: 0 }])
  })
})

describe('a definition that changes between tracked and not', () => {
  it('keeps an active run as it was made: its retries are tracked', () => {
    const job = new JobHistory().define({ ...every, retry: { maxAttempts: 3, backoff: { list: [0] } } }).until(1_000)
    job.report('STARTED').define({ ...every, trackRuns: false })
    job.fail('Error', {}, { runNo: 1 })
    expect(job.sent.at(-1)).toMatchObject({ runNo: 1, attempt: 2, tracked: true })
    job.until(2_000)
    expect(job.dispatched.at(-1)).toMatchObject({ runNo: 2, tracked: false })
    expect(job.state.active).toMatchObject([{ runNo: 1, attempt: 2 }])
    job.report('RETRY_DUE', { runNo: 1, attempt: 2 })
    expect(job.dispatched.at(-1)).toMatchObject({ runNo: 1, attempt: 2, tracked: true })
    job.report('SUCCEEDED', { runNo: 1, attempt: 2 })
    expect(job.state).toMatchObject({ active: [], succeeded: 1, lastRun: { runNo: 1, status: 'SUCCEEDED' } })
  })
  it('redrives a tracked run that failed as a tracked one', () => {
    const job = new JobHistory().define({ ...every, retry: { maxAttempts: 1 } }).until(1_000)
    job
      .fail()
      .define({ ...every, trackRuns: false })
      .command('REDRIVE', { runNo: 1 })
    expect(job.dispatched.at(-1)).toMatchObject({ trigger: 'REDRIVE', tracked: true })
    expect(job.state.active).toHaveLength(1)
  })
})

describe('runs that wait for the starts of their rateLimit', () => {
  const rateLimit = { key: 'k', limit: 1, perMs: 1_000 }

  it('are active until they are handed out, and maxConcurrentRuns limits them', () => {
    const job = untracked({ schedule: { at: 1_000_000 }, rateLimit, maxConcurrentRuns: 100 })
    for (let run = 1; run <= 40; run++) job.command('TRIGGER')
    expect([job.state.active.length, job.state.runNo]).toEqual([39, 40])
    job.until(50_000)
    expect([
      job.state.active.length,
      job.dispatched.length,
      job.state.decisions.filter(({ what }) => what === 'DROPPED'),
    ]).toEqual([0, 40, []])
  })

  it('are refused beyond it, and the reason says that waiting runs count', () => {
    const job = untracked({ schedule: { at: 1_000_000 }, rateLimit })
    for (let run = 1; run <= 40; run++) job.command('TRIGGER')
    expect([job.state.active.length, job.state.runNo]).toEqual([16, 17])
    expect(whyOf(job.job, 0).filter(({ code }) => code === 'max-concurrent-runs')).toHaveLength(23)
    expect(whyOf(job.job, 0).find(({ code }) => code === 'max-concurrent-runs')?.text).toContain(
      'wait for a slot or a start count',
    )
  })
})
