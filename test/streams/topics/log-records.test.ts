/** The size of a record in the log, compared with Kafka's record format, and the append time of a copy. */
import { expect, it } from 'vitest'
import { appendedAtHeader, appendedAtOf, recordBytes } from '../../../streams/topics/log-records.ts'

it('is at least the size in the log, and little more', () => {
  const varint = (value: number): number => (value < 64 ? 1 : value < 8_192 ? 2 : value < 1_048_576 ? 3 : 4)
  for (const [keyBytes, valueBytes, names] of [
    [1, 0, []],
    [40, 100, ['a']],
    [256, 900_000, ['trace', 'x'.repeat(200)]],
    [3, 7, Array.from({ length: 50 }, (_, index) => `header-${index}`)],
  ] as const) {
    const headers = Object.fromEntries(names.map((name) => [name, Buffer.alloc(500)]))
    const value = valueBytes === 0 ? null : Buffer.alloc(valueBytes)
    // The format of Kafka's records, version 2: lengths as varints, attributes, and deltas of up to ten and five bytes.
    let bytes = 1 + 10 + 5 + varint(keyBytes) + keyBytes + varint(valueBytes) + valueBytes + varint(names.length)
    for (const name of names) bytes += varint(name.length) + name.length + varint(500) + 500
    bytes += varint(bytes)
    const counted = recordBytes({ key: Buffer.alloc(keyBytes), value, headers })
    expect(counted).toBeGreaterThanOrEqual(bytes)
    expect(counted - bytes).toBeLessThan(32 + names.reduce((sum, name) => sum + 10 + 2 * name.length, 0))
  }
})

it('the append time of a copied definition is the first one, if that is earlier', () => {
  const of = (text: string): number => appendedAtOf({ timestampMs: 1_000, headers: { [appendedAtHeader]: Buffer.from(text) } })
  expect(appendedAtOf({ timestampMs: 1_000, headers: {} })).toBe(1_000)
  expect(['700', '0', '1000'].map(of)).toEqual([700, 0, 1_000])
  // Nothing comes from the future, and what is no time is ignored.
  expect(['1001', '9'.repeat(16), '9'.repeat(17), '', '-5', '7.5', '1e2', ' 7', '0x10', 'soon'].map(of)).toEqual(
    Array(10).fill(1_000),
  )
})
