/** Which occurrences become runs and when, and what a job does without a future occurrence. */
import { describe, expect, it } from 'vitest'
import type { ExecutionEvent, JobDefinitionInput } from '../../../schemas/generated.ts'
import { timerKind } from '../../../streams/state/keys.ts'
import { JobHistory } from './history.ts'

const succeeding = (): JobHistory => new JobHistory({ worker: { type: 'SUCCEEDED' } })
const second = 1_000
const hour = 3_600_000

describe('a job that is due once', () => {
  it.each([
    ['at its instant', { at: 5 * second }, 5 * second],
    ['its delay after the append time', { delayMs: 1_500 }, 3_500],
    ['at once without a delay', { delayMs: 0 }, 2_000],
  ])('is dispatched %s and never again', (_, schedule, dueAt) => {
    const job = new JobHistory().until(2 * second).define({ schedule })
    expect(job.next).toBe(dueAt)
    job.until(hour)
    expect(job.dispatched).toMatchObject([
      { runNo: 1, attempt: 1, trigger: 'SCHEDULE', scheduledFor: dueAt, dueAt, dispatchedAt: dueAt },
    ])
    expect(job.next).toBeNull()
  })
  it('is dispatched at once when its instant was past already', () => {
    const job = new JobHistory()
      .until(hour)
      .define({ schedule: { at: second } })
      .until(hour)
    expect(job.dispatched).toMatchObject([{ scheduledFor: second, dispatchedAt: hour }])
  })
  it('is COMPLETED when its run ends and not before', () => {
    const job = new JobHistory().define().until(2 * second)
    expect(job.state).toMatchObject({ status: 'ACTIVE', nextFireAt: null, finishedAt: null, deleteAt: null })
    job.report('SUCCEEDED')
    expect(job.state).toMatchObject({ status: 'COMPLETED', finishedAt: 2 * second, active: [], succeeded: 1 })
  })
  it('is COMPLETED without a run when its delay ends after endAt', () => {
    const job = new JobHistory().define({ schedule: { delayMs: second }, endAt: 500 }).until(hour / 2)
    expect(job.fired).toEqual([])
    expect(job.state).toMatchObject({ status: 'COMPLETED', runNo: 0, finishedAt: 0 })
  })
  it('carries its definition to the worker', () => {
    const definition: Partial<JobDefinitionInput> = {
      target: { handler: 'mail', pool: 'slow' },
      payload: Buffer.from('{}'),
      contentType: 'application/json',
      headers: { trace: Buffer.from('1') },
      priority: 'HIGH',
      leaseMs: 2_000,
      attemptTimeoutMs: 3_000,
      startDeadlineMs: 4_000,
    }
    const { target, startDeadlineMs: _, ...fields } = definition
    const job = new JobHistory().define().define(definition).until(second)
    expect(job.dispatched).toEqual([
      expect.objectContaining({ ...fields, ...target, jobId: 'job', specOffset: 1, startDeadlineAt: 5_000 }),
    ])
  })
})

describe('an interval', () => {
  it('fires each interval after its append time', () => {
    const job = succeeding()
      .until(250)
      .define({ schedule: { everyMs: second } })
      .until(4 * second)
    expect(job.fired).toEqual([1_250, 2_250, 3_250])
    expect(job.next).toBe(4_250)
  })
  it('fires on the grid of its anchor', () => {
    const job = succeeding()
      .until(hour)
      .define({ schedule: { everyMs: second, anchor: 70 } })
      .until(hour + 3 * second)
    expect(job.fired).toEqual([hour + 70, hour + 1_070, hour + 2_070])
  })
  it('from START keeps its times however late and long a run is', () => {
    const job = new JobHistory().define({ schedule: { everyMs: second } }).downUntil(1_700)
    expect(job.dispatched).toMatchObject([{ scheduledFor: second, dispatchedAt: 1_700 }])
    job
      .until(1_900)
      .report('SUCCEEDED')
      .until(2 * second)
    expect(job.fired).toEqual([second, 2 * second])
  })
  it('from END has no next time until its run ends, and then fires one interval later', () => {
    const job = new JobHistory().define({ schedule: { everyMs: second, from: 'END' } }).until(10 * second)
    expect(job.fired).toEqual([second])
    expect(job.next).toBeNull()
    job.until(10_321).report('SUCCEEDED')
    expect(job.next).toBe(11_321)
    expect(job.until(12 * second).fired).toEqual([second, 11_321])
  })
  it('from END counts from the end of the run and not from that of a failed attempt', () => {
    const job = new JobHistory()
      .define({ schedule: { everyMs: 10 * second, from: 'END' } })
      .until(10 * second)
      .fail()
    expect(job.next).toBeNull()
    job
      .until(12 * second)
      .report('RETRY_DUE')
      .until(13 * second)
      .report('SUCCEEDED')
    expect(job.next).toBe(23 * second)
  })
  it('from END does not count from a run that was triggered', () => {
    const job = new JobHistory()
      .define({ schedule: { everyMs: 1_000, from: 'END' } })
      .until(500)
      .command('TRIGGER')
    expect(job.report('SUCCEEDED').next).toBe(second)
    job.until(1_200).command('TRIGGER').report('SUCCEEDED')
    expect(job.next).toBeNull()
  })
})

describe('a cron schedule', () => {
  it('fires at its times in its zone', () => {
    const cron = { cron: '0 9 * * MON-FRI', timezone: 'Europe/Paris' }
    const job = succeeding().define({ schedule: cron }).until(Date.parse('1970-01-06T00:00:00Z'))
    expect(job.fired.map((at) => new Date(at).toISOString())).toEqual([
      '1970-01-01T08:00:00.000Z',
      '1970-01-02T08:00:00.000Z',
      '1970-01-05T08:00:00.000Z',
    ])
    expect(job.next).toBe(Date.parse('1970-01-06T08:00:00Z'))
  })
})

describe('a recurring job continues after a run that', () => {
  const schedules: [string, JobDefinitionInput['schedule'], second: (endedAt: number) => number][] = [
    ['an interval', { everyMs: 20 * second }, () => 40 * second],
    ['an interval from END', { everyMs: 20 * second, from: 'END' }, (endedAt) => endedAt + 20 * second],
    ['a cron schedule', { cron: '*/20 * * * * *' }, () => 40 * second],
  ]
  const ends: [string, report: ExecutionEvent['type'] | undefined, status: string, error: string | undefined, endedAt: number][] =
    [
      ['succeeded', 'SUCCEEDED', 'SUCCEEDED', undefined, 20 * second],
      ['failed', 'FAILED', 'DEAD', 'Error', 20 * second],
      ['was lost', 'STARTED', 'DEAD', 'LeaseLost', 22 * second],
      ['timed out', 'STARTED', 'DEAD', 'AttemptTimeout', 25_100],
      ['expired', undefined, 'EXPIRED', undefined, 28 * second],
    ]
  describe.each(ends)('%s', (_, report, status, error, endedAt) => {
    it.each(schedules)('with %s', (_, schedule, following) => {
      const leaseMs = error === 'LeaseLost' ? 2 * second : hour
      const job = new JobHistory()
        .define({ schedule, leaseMs, attemptTimeoutMs: 100, startDeadlineMs: 3 * second, retry: { maxAttempts: 1 } })
        .until(20 * second)
      if (report !== undefined) job.report(report)
      job.until(30 * second)
      expect(job.state.lastRun).toMatchObject({ runNo: 1, status, finishedAt: endedAt })
      expect(job.state.lastRun?.errors.map(({ type }) => type)).toEqual(error === undefined ? [] : [error])
      expect(job.state.status).toBe('ACTIVE')
      expect(job.until(50 * second).fired).toEqual([20 * second, following(endedAt)])
    })
  })
})

describe('a job with an end', () => {
  it.each<[string, Partial<JobDefinitionInput>, number[]]>([
    ['maxRuns', { schedule: { everyMs: second }, maxRuns: 3 }, [1_000, 2_000, 3_000]],
    ['maxRuns and an interval from END', { schedule: { everyMs: second, from: 'END' }, maxRuns: 2 }, [1_000, 2_000]],
    ['maxRuns and cron', { schedule: { cron: '* * * * * *' }, maxRuns: 1 }, [1_000]],
    ['endAt, at which it fires', { schedule: { everyMs: second }, endAt: 2_000 }, [1_000, 2_000]],
    ['endAt and an interval from END', { schedule: { everyMs: second, from: 'END' }, endAt: 2_999 }, [1_000, 2_000]],
    ['endAt and cron', { schedule: { cron: '* * * * * *' }, endAt: 1_999 }, [1_000]],
  ])('fires until %s', (_, definition, times) => {
    const job = succeeding()
      .define(definition)
      .until(hour / 2)
    expect(job.fired).toEqual(times)
    expect(job.state).toMatchObject({ status: 'COMPLETED', finishedAt: times.at(-1), succeeded: times.length })
  })
  it('is COMPLETED only when the last of its runs has ended', () => {
    const job = new JobHistory().define({ schedule: { everyMs: second }, maxRuns: 2 }).until(5 * second)
    job.report('SUCCEEDED', { runNo: 2 })
    expect(job.state.status).toBe('ACTIVE')
    job.report('SUCCEEDED', { runNo: 1 })
    expect(job.state.status).toBe('COMPLETED')
  })
  it('does not count a trigger among its maxRuns', () => {
    const job = succeeding()
      .define({ schedule: { everyMs: second }, maxRuns: 2 })
      .command('TRIGGER')
      .until(5 * second)
    expect(job.fired).toEqual([1_000, 2_000])
    expect(job.state).toMatchObject({ runNo: 3, scheduledRuns: 2 })
  })
})

describe('a COMPLETED job', () => {
  const retention = { retainCompletedMs: 1_000, retainFailedMs: 5_000, startDeadlineMs: 1_000, retry: { maxAttempts: 1 } }
  it.each<[string, (job: JobHistory) => unknown, number]>([
    ['succeeded', (job) => job.report('SUCCEEDED'), 2_000],
    ['is dead', (job) => job.fail(), 6_000],
    ['has expired', (job) => job.until(7_000), 12_000],
  ])('whose last run %s is kept for the retention of that', (_, end, deleteAt) => {
    const job = new JobHistory().define(retention).until(second)
    end(job)
    expect(job.state.deleteAt).toBe(deleteAt)
    expect(job.until(deleteAt - 1).job.definition).toBeDefined()
    job.until(deleteAt)
    expect(job.out.at(-1)).toEqual({ kind: 'tombstone', observedOffset: 0, observedDeleteAt: deleteAt })
    expect(job.job).toEqual({ id: 'job' })
  })
  it('is judged by its last run, whatever the outcome of earlier ones', () => {
    const job = new JobHistory()
      .define({ ...retention, schedule: { everyMs: second }, maxRuns: 2 })
      .until(second)
      .fail()
    job.until(2 * second).report('SUCCEEDED')
    expect(job.state).toMatchObject({ failed: 1, succeeded: 1, deleteAt: 3 * second })
  })
  it('that is triggered is kept until that run has ended and its retention is over', () => {
    const job = new JobHistory().define(retention).until(second).report('SUCCEEDED').until(1_500).command('TRIGGER')
    expect(job.state).toMatchObject({ finishedAt: null, deleteAt: null })
    job.until(2_400).report('SUCCEEDED')
    expect(job.state).toMatchObject({ status: 'COMPLETED', finishedAt: 2_400, deleteAt: 3_400 })
  })
  it('that is PAUSED by command beforehand still ends', () => {
    const job = new JobHistory().define(retention).until(second).command('PAUSE').report('SUCCEEDED')
    expect(job.state).toMatchObject({ status: 'COMPLETED', deleteAt: 2 * second })
  })
})

describe('ended runs', () => {
  it('are numbered without gaps and the last eleven are kept', () => {
    const job = succeeding()
      .define({ schedule: { everyMs: second } })
      .until(14 * second)
    expect(job.state.lastRun).toMatchObject({ runNo: 14, scheduledFor: 14 * second })
    expect([...job.endedRuns.values()].map(({ runNo }) => runNo).sort((left, right) => left - right)).toEqual([
      4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
    ])
  })
})

it('a paused job does not fire by a timer from a restore', () => {
  const job = new JobHistory().define({ schedule: { at: 5_000 } }).command('PAUSE')
  expect(job.state).toMatchObject({ status: 'PAUSED', nextFireAt: 5_000 })
  job.now = 5_000
  job.step({ kind: 'timer', timer: { dueAt: 5_000, kind: timerKind.fire, jobId: 'job', runNo: 0 } })
  expect(job.dispatched).toEqual([])
})
