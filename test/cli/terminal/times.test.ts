/** Times as people write them in options. */
import { expect, it } from 'vitest'
import { inSentence, parseTime, timeTextOf } from '../../../src/program/cli/terminal/times.ts'

const now = new Date(2030, 2, 15, 10, 30).getTime()
const hour = 3_600_000

it.each<[string, number | undefined]>([
  ['2030-01-31T09:00:00Z', Date.UTC(2030, 0, 31, 9)],
  ['1800000000000', 1_800_000_000_000],
  ['1h', now - hour],
  ['90m', now - 1.5 * hour],
  ['2d', now - 48 * hour],
  ['now', now],
  ['tomorrow', new Date(2030, 2, 16).getTime()],
  ['today', new Date(2030, 2, 15).getTime()],
  ['yesterday', new Date(2030, 2, 14).getTime()],
  ['2030-03-01', new Date(2030, 2, 1).getTime()],
  ['2030-03-01 08:15', new Date(2030, 2, 1, 8, 15).getTime()],
  ['2030-03-01T08:15:30', new Date(2030, 2, 1, 8, 15, 30).getTime()],
  // In seconds it would be in 1970.
  ['1800000000', undefined],
  ['2030-02-30', undefined],
  ['2030-03-01 25:00', undefined],
  ['tomorrow-ish', undefined],
  ['', undefined],
])('%j', (text, at) => {
  expect(parseTime(text, now)).toBe(at)
})

it('a duration is before now, or ahead where a time of the future is asked for', () => {
  expect(parseTime('1h', now, true)).toBe(now + hour)
})

it('times are shown in the zone of this machine with their offset, or in UTC, and options take them as shown', () => {
  const before = process.env.TZ
  try {
    for (const [zone, shown] of [
      ['Asia/Kolkata', '2030-01-31T14:30:05+05:30'],
      ['America/New_York', '2030-01-31T04:00:05-05:00'],
      ['UTC', '2030-01-31T09:00:05Z'],
    ] as const) {
      process.env.TZ = zone
      const time = timeTextOf(false)
      expect(time('2030-01-31T09:00:05.123Z')).toBe(shown)
      expect(parseTime(shown, now)).toBe(Date.UTC(2030, 0, 31, 9, 0, 5))
      expect(time('2030-01-31T09:00:05.123Z', true)).toBe(shown.replace(':05', ':05.123'))
      expect(timeTextOf(true)('2030-01-31T09:00:05.123Z')).toBe('2030-01-31T09:00:05Z')
      expect(inSentence('Run 1 is due 2030-01-31T09:00:05.000Z.', time)).toBe(`Run 1 is due ${shown}.`)
    }
  } finally {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  }
  const time = timeTextOf(false)
  expect([time(null), time(undefined), time('later')]).toEqual(['', '', 'later'])
})
