import { describe, expect, it } from 'vitest'
import type { Run } from '../../src/answers/answers.ts'
import {
  axisDuration,
  failuresText,
  instant,
  jobState,
  rate,
  reasonWords,
  relative,
  scheduleWords,
  targetWords,
  waitWords,
} from '../../src/dashboard/model/words.ts'

describe('words', () => {
  it('gives the distance of a time in its largest unit', () => {
    expect([relative(5_500, 1_000), relative(1_000, 200_000), relative(1_400, 1_000)]).toEqual(['in 4 s', '3 min ago', 'now'])
  })

  it('tells a cancelled job from one that has fired for the last time', () => {
    const words = [
      ['COMPLETED', 'cancelled'],
      ['COMPLETED', null],
      ['ACTIVE', 'cancelled'],
    ] as const
    expect(words.map(([status, reason]) => jobState({ status, reason }))).toEqual(['CANCELLED', 'COMPLETED', 'ACTIVE'])
  })

  it('says why in words, and leaves sentences as they are', () => {
    const sentence = 'Pool gpu has no topics (duelog.executions.gpu.high does not exist): a-b'
    expect(['attempts', 'not-retryable', 'skipped: max-concurrent-runs', 'overlap', sentence].map(reasonWords)).toEqual([
      ...['no attempts left', 'not retryable', 'skipped: max concurrent runs', 'overlap', sentence],
    ])
  })

  it('shows an instant in any zone, with the year when it is not the current one', () => {
    const at = Date.UTC(2026, 10, 21, 8)
    expect(instant(at, 'Europe/Paris', at)).toBe('21 Nov 09:00:00')
    expect(instant(at, 'America/New_York', Date.UTC(2025, 1, 1))).toBe('21 Nov 2026 03:00:00')
  })

  it('shows a duration beside an axis in one unit', () => {
    expect([0, 250, 1_500, 60_000, 1_000_000, 7_200_000, 172_800_000].map(axisDuration)).toEqual([
      ...['0 ms', '250 ms', '1.5 s', '1 min', '16.7 min', '2 h', '2 d'],
    ])
  })

  it('shows rates with three digits', () => {
    expect([0, 0.123, 12.34, 1234.5].map(rate)).toEqual(['0', '0.12', '12.3', '1,235'])
  })

  it('say how many attempts of a run failed, and what a run waits for', () => {
    const error = (attempt: number) => ({ attempt }) as Run['errors'][number]
    const run = (status: Run['status'], attempts: number, errors: number[], startedAt: string | null = '2030-01-01T00:00:00Z') =>
      ({ status, attempts, errors: errors.map(error), startedAt }) as Run
    expect(failuresText(run('DEAD', 1, [1]))).toBe('1 error')
    expect(failuresText(run('SUCCEEDED', 5, [1, 2, 3, 4]))).toBe('4 of 5 attempts failed')
    expect(failuresText(run('RUNNING', 5, [1, 2, 3, 4]))).toBe('4 of 5 attempts failed')
    expect(failuresText(run('RETRY_WAIT', 2, [1, 2]))).toBe('2 of 2 attempts failed')
    expect(failuresText(run('DEAD', 8, [4, 5, 6, 7, 8]))).toBe('8 of 8 attempts failed, the last 5 errors are kept')
    const waiting = (waitsFor: 'SLOT' | 'RATE' | 'HANDLER') => waitWords({ ...run('WAITING', 1, []), waitsFor })
    expect([waiting('SLOT'), waiting('RATE'), waiting('HANDLER')]).toEqual([
      ...['for a slot of its concurrency key', 'for its rate limit', 'for a worker that has its handler'],
    ])
    const limited = (waitsFor: 'SLOT' | 'RATE', limitKey: string) => waitWords({ ...run('WAITING', 1, []), waitsFor, limitKey })
    expect([limited('SLOT', 'crm'), limited('RATE', 'a\u202e')]).toEqual(['for a slot of crm', 'for the rate limit a⟨202E⟩'])
    expect(waitWords({ ...run('WAITING', 1, []), waitsFor: 'POOL_PAUSED', limitKey: null })).toBe('until its pool is resumed')
  })

  it('describes when a schedule fires and what runs', () => {
    expect(scheduleWords({ everyMs: 300_000 })).toBe('every 5 min')
    expect(scheduleWords({ cron: '0 9 * * *', timezone: 'UTC' })).toBe('0 9 * * *')
    expect(scheduleWords({ at: 1 })).toBe('once')
    expect(targetWords({ topic: { name: 't' } })).toBe('topic t')
    expect(targetWords({ http: { url: 'https://a' } })).toBe('POST https://a')
  })
})
