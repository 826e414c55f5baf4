/** What a consumer of a topic of the user's finds there, and how much room it takes. */
import { expect, it } from 'vitest'
import { recordBytes } from '../../../streams/runs/topic-record.ts'
import { JobHistory } from './history.ts'

const recordOf = (target: object, more: object = {}) => {
  const job = new JobHistory().define({ target: { topic: { name: 'orders', ...target } }, ...more }).until(1_000)
  const [output] = job.out
  return output?.kind === 'record' ? { record: output.record } : expect.fail()
}

it('is the payload as it came, under the key of the job, with headers that tell of which run it is', () => {
  const { record } = recordOf({}, { payload: Buffer.from('p'), headers: { trace: Buffer.from('1') } })
  expect(record).toEqual({
    topic: 'orders',
    partition: null,
    key: 'job',
    value: Buffer.from('p'),
    headers: {
      trace: Buffer.from('1'),
      'duelog-job-id': 'job',
      'duelog-run-no': '1',
      'duelog-scheduled-for': '1000',
      'duelog-execution-id': 'job/1@0-0',
    },
  })
})

it('may have a key and a place of its own, and no value', () => {
  expect(recordOf({ key: Buffer.from('k'), partition: 3 }).record).toMatchObject({
    key: Buffer.from('k'),
    partition: 3,
    value: null,
  })
})

it('has headers of these names from us, whatever the job says', () => {
  const { record } = recordOf({}, { headers: { 'duelog-job-id': Buffer.from('another') } })
  expect(record.headers['duelog-job-id']).toBe('job')
})

it('takes no more room in the log than is counted, and hardly less', () => {
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
