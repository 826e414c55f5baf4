/** Runs that are due later than their nominal time, and when such a run is a misfire. */
import { describe, expect, it } from 'vitest'
import { whyOf } from '../../../streams/jobs/reasons.ts'
import { answerTo } from '../../../streams/jobs/receipt.ts'
import type { KnownDefinition } from '../../../streams/state/job.ts'
import { duration } from '../../../streams/text/quantities.ts'
import { JobHistory } from './history.ts'

const minute = 60_000
const jittered = { schedule: { everyMs: minute }, jitterMs: 30_000 }

describe('a job with jitter', () => {
  it('runs at its spread time, keeps the nominal one, and counts from that', () => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define(jittered).until(20 * minute)
    expect(job.dispatched.map(({ scheduledFor }) => scheduledFor)).toEqual(
      Array.from({ length: job.dispatched.length }, (_, index) => (index + 1) * minute),
    )
    expect(job.dispatched.length).toBeGreaterThanOrEqual(19)
    for (const { scheduledFor, dueAt, dispatchedAt } of job.dispatched) {
      expect(dispatchedAt).toBe(dueAt)
      expect(dueAt).toBeGreaterThanOrEqual(scheduledFor)
      expect(dueAt).toBeLessThanOrEqual(scheduledFor + 30_000)
    }
    expect(new Set(job.dispatched.map(({ scheduledFor, dueAt }) => dueAt - scheduledFor)).size).toBeGreaterThan(10)
  })
  it('has no missed occurrence while it only waits for its spread time', () => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define({ ...jittered, misfireThresholdMs: 0, catchUp: 'SKIP' })
    job.until(20 * minute)
    expect(job.state).toMatchObject({ skipped: 0 })
  })
  it('shows when its next run is due, apart from its nominal time', () => {
    const job = new JobHistory().define(jittered)
    const input = { kind: 'definition' as const, definition: job.job.definition as KnownDefinition }
    const { nextFireAt, nextDueAt } = answerTo({ id: 'job' }, input, job.last)
    expect(nextFireAt).toBe(minute)
    expect(nextDueAt).toBe(job.next)
    expect(nextDueAt).toBeGreaterThan(minute)
    const late = (nextDueAt ?? 0) - minute
    expect(whyOf(job.job, 0)).toEqual([
      {
        code: 'scheduled',
        at: nextDueAt,
        text: `The next occurrence is due in ${duration(nextDueAt ?? 0)}, ${duration(late)} after its nominal time because of its jitter.`,
      },
    ])
    const [plain] = whyOf(new JobHistory().define({ schedule: { everyMs: minute } }).job, 0)
    expect(plain).toMatchObject({ at: minute, text: 'The next occurrence is due in 1 min.' })
  })
  it('shows when its next occurrence is due in any state: after a run, after skips, paused, and none if there is none', () => {
    const job = new JobHistory().define({ ...jittered, catchUp: 'SKIP', misfireThresholdMs: 0, maxRuns: 3 })
    job
      .downUntil(10.9 * minute)
      .until(12 * minute)
      .command('PAUSE')
      .downUntil(20 * minute)
      .command('RESUME')
    job.downUntil(40.9 * minute).until(60 * minute)
    for (const { job: after } of job.decisions) {
      const { nextFireAt = null, nextDueAt = null } = after.state ?? {}
      if (nextFireAt === null) expect(nextDueAt).toBeNull()
      else if (nextDueAt !== null) expect(nextDueAt - nextFireAt).toBeLessThan(30_000)
      if (nextFireAt !== null) expect(nextDueAt).toBeGreaterThanOrEqual(nextFireAt)
    }
    expect(job.state).toMatchObject({ nextFireAt: null, nextDueAt: null, scheduledRuns: 3 })
  })
  it('accepts another jitter without losing its place', () => {
    const job = new JobHistory().define(jittered).until(5.9 * minute)
    const next = job.state?.nextFireAt
    job.define({ ...jittered, jitterMs: 0 })
    expect(job.state).toMatchObject({ nextFireAt: next, nextDueAt: null })
  })
})
