/** Whatever a handler passes to run.log becomes one bounded line. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runLogLine } from '../../../src/worker/executor/report/run-log-line.ts'

const unreadable = {
  toString() {
    throw new Error('no text')
  },
}
const parsed = (fields: unknown) => JSON.parse(runLogLine('info', 'a', fields, 5).fields ?? 'null') as unknown

describe('a line', () => {
  it('has its time, level, text and fields', () => {
    const line = runLogLine('warn', 'Sent 12 of 40', { customer: 'a', sent: 12, late: false, next: null }, 5)
    expect(line).toEqual({
      at: 5,
      level: 'warn',
      text: 'Sent 12 of 40',
      fields: '{"customer":"a","sent":12,"late":false,"next":null}',
      shortened: false,
    })
  })

  it('takes values that are no text or level from programs without a compiler', () => {
    expect(runLogLine('loud', 7, undefined, 5)).toMatchObject({ level: 'info', text: '7', fields: null, shortened: false })
    expect(runLogLine(undefined, unreadable, undefined, 5).text).toBe('[a value without a text]')
    expect(runLogLine('info', Symbol('x'), 'no object', 5)).toMatchObject({ text: 'Symbol(x)', fields: null, shortened: true })
    expect(runLogLine('info', 'half \ud83d', undefined, 5).text).toBe('half \ufffd')
  })

  it('shows dates, errors and large integers as texts, leaves out what JSON leaves out, and never writes nested values', () => {
    const fields = { at: new Date(0), error: new TypeError('bad'), big: 2n ** 70n, odd: Number.NaN, none: undefined }
    expect(parsed(fields)).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      error: 'TypeError: bad',
      big: '1180591620717411303424',
      odd: 'NaN',
    })
    const nested = runLogLine('info', 'a', { list: [1, 2], deep: { a: 1 }, call: () => 1 }, 5)
    expect([nested.fields, nested.shortened]).toEqual(['{"list":"[object]","deep":"[object]","call":"[object]"}', true])
  })

  it('survives getters and proxies that throw', () => {
    const getter = Object.defineProperty({ fine: 1 }, 'bad', { enumerable: true, get: () => expect.fail() })
    expect(parsed(getter)).toEqual({ fine: 1, bad: '[a value without a text]' })
    const proxy = new Proxy({}, { ownKeys: () => expect.fail() })
    expect(runLogLine('info', 'a', proxy, 5).fields).toBeNull()
  })

  it('keeps the beginning of a text of more than 4,096 bytes, and never half a character', () => {
    const { text, shortened } = runLogLine('info', '\u{1f600}'.repeat(2_000), undefined, 5)
    expect(text).toBe(`${'\u{1f600}'.repeat(1_023)}…`)
    expect([Buffer.byteLength(text) <= 4_096, shortened]).toEqual([true, true])
    expect(runLogLine('info', 'x'.repeat(4_096), undefined, 5)).toMatchObject({ text: 'x'.repeat(4_096), shortened: false })
    expect(runLogLine('info', 'x'.repeat(5_000_000), undefined, 5).text).toBe(`${'x'.repeat(4_093)}…`)
  })

  it('keeps 32 fields, 1,024 bytes of each text, and 4,096 bytes of all', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`field${index}`, index]))
    expect(Object.keys(parsed(many) as object)).toHaveLength(32)
    expect(runLogLine('info', 'a', many, 5).shortened).toBe(true)
    const long = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`f${index}`, 'y'.repeat(2_000)]))
    const shown = parsed({ ...long, last: 1 }) as Record<string, unknown>
    expect(Object.keys(shown)).toEqual(['f0', 'f1', 'f2', 'last'])
    expect(shown.f0).toBe(`${'y'.repeat(1_021)}…`)
  })

  it('is bounded and whole JSON for any values', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true }),
        fc.string({ unit: 'binary' }),
        (fields, text) => {
          const line = runLogLine('info', text, fields, 5)
          const flat = Object.values(JSON.parse(line.fields ?? '{}') as object)
          expect(flat.every((value) => value === null || typeof value !== 'object')).toBe(true)
          expect(Buffer.byteLength(line.text) <= 4_096 && Buffer.byteLength(line.fields ?? '') <= 4_096).toBe(true)
          expect(line.text.isWellFormed() && (line.fields ?? '').isWellFormed()).toBe(true)
        },
      ),
    )
  })
})
