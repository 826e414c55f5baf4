/** Decisions of a clock ahead of time have no lasting effect on a job after the clock is correct again. */
import { describe, expect, it } from 'vitest'
import { reserveStart, type Starts } from '../../../streams/state/starts.ts'
import { JobHistory } from './history.ts'

const hourMs = 3_600_000
const lastOut = (job: JobHistory) =>
  job.decisions.at(-1)?.out.map((output) => (output.kind === 'retry' ? `retry.${output.tier.name}` : output.kind))

describe('after a clock that was an hour ahead', () => {
  it('a retry comes when its backoff has passed', () => {
    const job = new JobHistory({ leadMs: 100 }).define({ retry: { backoff: { fixed: { delayMs: 7_000 } } } }).until(1_000)
    job.now = hourMs + 2_000
    job.fail()
    expect([lastOut(job), job.state.active[0]?.dueAt]).toEqual([['retry.5s'], hourMs + 9_000])
    // The clock is corrected. The delay of the tier has passed: 2 s of the backoff are left.
    job.now = 7_000
    job.report('RETRY_DUE', { attempt: 2 })
    expect(job.state.active[0]).toMatchObject({ status: 'RETRY_WAIT', parked: true, dueAt: 9_000 })
    expect(job.until(9_000).sent.at(-1)).toMatchObject({ attempt: 2, dueAt: 9_000 })
  })
  it('a retry whose tier is all of its backoff starts at once', () => {
    const job = new JobHistory().define({ retry: { backoff: { fixed: { delayMs: 5_000 } } } }).until(1_000)
    job.now = hourMs
    job.fail()
    job.now = 6_500
    job.report('RETRY_DUE', { attempt: 2 })
    expect(job.sent.at(-1)).toMatchObject({ attempt: 2, dueAt: 6_500 })
  })
  it('a retry starts at the end of its backoff if clocks differ by at most two minutes', () => {
    for (const [behindMs, dueAt] of [
      [1_000, 207_000],
      [120_000, 207_000],
      [120_001, 81_999],
    ] as const) {
      const job = new JobHistory().define({ retry: { backoff: { fixed: { delayMs: 7_000 } } } }).until(1_000)
      job.now = 200_000
      job.fail()
      job.now = 200_000 - behindMs
      job.report('RETRY_DUE', { attempt: 2 })
      expect([behindMs, job.state.active[0]?.dueAt]).toEqual([behindMs, dueAt])
    }
  })
  it('an early report of a backoff is limited by the possible delay', () => {
    const short = new JobHistory().define({ retry: { backoff: { fixed: { delayMs: 400 } } } }).until(1_000)
    short.now = hourMs
    short.fail()
    short.now = 7_000
    short.report('RETRY_DUE', { attempt: 2 })
    expect(short.until(7_400).dispatched.map(({ dueAt }) => dueAt)).toEqual([1_000, 7_400])
    const early = new JobHistory({ leadMs: 100 }).define({ schedule: { at: hourMs } })
    early.now = hourMs
    early.until(hourMs)
    early.now = 5_000
    early.report('RELEASED').report('RETRY_DUE', { attempt: 2 })
    expect(early.until(hourMs).dispatched.map(({ dueAt }) => dueAt)).toEqual([hourMs, hourMs])
  })
  it('a run that was dispatched then and is given back waits here until it is due, and uses no attempt', () => {
    const job = new JobHistory({ leadMs: 100 }).define({ schedule: { at: hourMs } })
    job.now = hourMs
    job.until(hourMs)
    expect(job.sent).toHaveLength(1)
    job.now = 5_000
    job.report('RELEASED')
    expect(job.sent).toHaveLength(1)
    expect(job.state.active[0]).toMatchObject({ status: 'RETRY_WAIT', parked: true, dueAt: hourMs, releasedAttempts: 1 })
    expect(job.until(hourMs).sent.at(-1)).toMatchObject({ attempt: 2, dueAt: hourMs })
    expect(job.sent).toHaveLength(2)
  })
  it('a run that is given back at most a minute before it is due goes to another worker at once', () => {
    for (const now of [10_000, 65_000]) {
      const job = new JobHistory({ leadMs: 100 }).define({ schedule: { at: 70_000 } })
      job.now = now
      job.fireAhead().report('RELEASED')
      expect(job.sent.map(({ attempt }) => attempt)).toEqual([1, 2])
    }
  })
  it('a run that was dispatched then has its lease from the present', () => {
    const job = new JobHistory().define({ leaseMs: 30_000 })
    job.now = hourMs
    job.until(hourMs)
    job.now = 2_000
    job.report('STARTED', { startedAt: 1_900 })
    expect(job.state.active[0]).toMatchObject({ status: 'RUNNING', startedAt: 2_000 })
  })
})

describe('starts under a rateLimit', () => {
  const rate = { limit: 3, perMs: 1_000 }
  const given = (before: Starts | undefined, now: number, times = 1): Starts => {
    let starts = before
    for (let count = 0; count < times; count++) starts = reserveStart(starts, rate, now, now).starts
    if (starts === undefined) throw new Error('Nothing was given.')
    return starts
  }
  it('that a clock assigned too far ahead do not block the key when it is right, and still count', () => {
    for (const times of [1, 2, 3, 51]) {
      const ahead = given(given(undefined, 10_000), 48 * hourMs, times)
      const { at, starts } = reserveStart(ahead, rate, 20_000, 20_000)
      expect(at).toBe(times < 3 ? 20_000 : 21_000)
      expect([...starts.times].every((time) => time <= 21_000)).toBe(true)
    }
  })
  it('that the rateLimit itself put far ahead stay', () => {
    const slow = { limit: 1, perMs: hourMs }
    let starts: Starts | undefined
    for (let count = 0; count < 100; count++) starts = reserveStart(starts, slow, 1_000, 1_000).starts
    expect(reserveStart(starts, slow, 2_000, 2_000).at).toBe(1_000 + 100 * hourMs)
  })
  it('of owners whose clocks differ by less than a minute are accepted', () => {
    expect(reserveStart(given(undefined, 59_000), rate, 0, 0).at).toBe(59_000)
  })
})
