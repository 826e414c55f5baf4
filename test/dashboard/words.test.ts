import { describe, expect, it } from 'vitest'
import { instant, rate, relative, scheduleWords, targetWords } from '../../src/dashboard/model/words.ts'

describe('words', () => {
  it('gives the distance of a time in its largest unit', () => {
    expect([relative(5_500, 1_000), relative(1_000, 200_000), relative(1_400, 1_000)]).toEqual(['in 4 s', '3 min ago', 'now'])
  })

  it('shows an instant in any zone, with the year when it is not the current one', () => {
    const at = Date.UTC(2026, 10, 21, 8)
    expect(instant(at, 'Europe/Paris', at)).toBe('21 Nov 09:00:00')
    expect(instant(at, 'America/New_York', Date.UTC(2025, 1, 1))).toBe('21 Nov 2026 03:00:00')
  })

  it('shows rates with three digits', () => {
    expect([0, 0.123, 12.34, 1234.5].map(rate)).toEqual(['0', '0.12', '12.3', '1,235'])
  })

  it('describes when a schedule fires and what runs', () => {
    expect(scheduleWords({ everyMs: 300_000 })).toBe('every 5 min')
    expect(scheduleWords({ cron: '0 9 * * *', timezone: 'UTC' })).toBe('0 9 * * *')
    expect(scheduleWords({ at: 1 })).toBe('once')
    expect(targetWords({ topic: { name: 't' } })).toBe('topic t')
    expect(targetWords({ http: { url: 'https://a' } })).toBe('POST https://a')
  })
})
