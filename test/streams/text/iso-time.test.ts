import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isoTime, parseIsoTime } from '../../../streams/text/iso-time.ts'

describe('a time in JSON', () => {
  it.each([
    ['2030-01-31T09:00:00Z', Date.UTC(2030, 0, 31, 9)],
    ['2030-01-31T09:00Z', Date.UTC(2030, 0, 31, 9)],
    ['2030-01-31t09:00:00z', Date.UTC(2030, 0, 31, 9)],
    ['2030-01-31T09:00:00.123456789+05:30', Date.UTC(2030, 0, 31, 3, 30, 0, 123)],
    ['2030-01-31T09:00:00,5-0800', Date.UTC(2030, 0, 31, 17, 0, 0, 500)],
    ['2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29)],
  ])('%s is understood', (text, expected) => {
    expect(parseIsoTime(text)).toBe(expected)
  })
  it.each([
    '2030-01-31',
    '2030-01-31T09:00:00',
    '2030-02-29T00:00:00Z',
    '2030-13-01T00:00:00Z',
    '2030-01-01T24:00:00Z',
    '2030-01-01T00:60:00Z',
    '2030-01-01T00:00:60Z',
    '2030-01-01T00:00:00+24:00',
    '2030-01-01T00:00:00+02',
    ' 2030-01-01T00:00:00Z',
    'tomorrow',
    '',
  ])('%j is not', (text) => {
    expect(parseIsoTime(text)).toBeUndefined()
  })
  it('is written so that it reads back exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), (ms) => {
        expect(parseIsoTime(String(isoTime(ms)))).toBe(ms)
      }),
      { numRuns: 2000 },
    )
  })
  it('stays a number where ISO 8601 has no four-digit year that reads back', () => {
    expect(isoTime(Number.NaN)).toBeNaN()
    expect(isoTime(9e15)).toBe(9e15)
    expect(isoTime(8_640_000_000_000_000)).toBe(8_640_000_000_000_000)
  })
})
