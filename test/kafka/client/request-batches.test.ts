import fc from 'fast-check'
import { Partitioners } from 'kafkajs'
import { describe, expect, test } from 'vitest'
import type { RecordOut } from '../../../src/ground/ports/log.ts'
import { batchBytesMax, roundsOf } from '../../../src/log/kafka/client/produce.ts'
import { keyPartitionOf } from '../../../streams/topics/topics.ts'

const counts = new Map([
  ['a', 3],
  ['b', 2],
])

const records = fc.array(
  fc.record({ topic: fc.constantFrom('a', 'b'), partition: fc.nat(1), bytes: fc.constantFrom(1, 10, 300_000, 900_000) }),
  { maxLength: 30 },
)

describe('records to write', () => {
  test("go to the partition that Kafka's default partitioner chooses", () => {
    const partitioner = Partitioners.DefaultPartitioner()
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ minLength: 1 }), fc.string({ minLength: 1, unit: 'binary' })),
        fc.integer({ min: 1, max: 256 }),
        (key, count) => {
          const partitionMetadata = Array.from({ length: count }, (_, partitionId) => ({
            partitionId,
            leader: 1,
            partitionErrorCode: 0,
            replicas: [],
            isr: [],
          }))
          expect(keyPartitionOf(key, count)).toBe(partitioner({ topic: 't', partitionMetadata, message: { key, value: null } }))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('keep their order in each partition, and no batch is over its limit', () => {
    fc.assert(
      fc.property(records, (wanted) => {
        const out = wanted.map(
          ({ topic, partition, bytes }, index): RecordOut => ({
            topic,
            partition,
            key: String(index),
            value: Buffer.allocUnsafe(bytes),
          }),
        )
        const seen = new Map<string, string[]>()
        for (const round of roundsOf(out, counts)) {
          expect(new Set(round.map(({ topic, partition }) => `${topic}/${partition}`)).size).toBe(round.length)
          for (const { topic, partition, records: batch } of round) {
            const place = `${topic}/${partition}`
            seen.set(place, [...(seen.get(place) ?? []), ...batch.map(({ key }) => String(key))])
            expect(batch.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)).toBeLessThanOrEqual(batchBytesMax)
          }
        }
        const expected = new Map<string, string[]>()
        out.forEach(({ topic, partition }, index) => {
          const place = `${topic}/${partition}`
          expected.set(place, [...(expected.get(place) ?? []), String(index)])
        })
        expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(expected))
      }),
    )
  })

  test('are one request when they are few', () => {
    const out = Array.from({ length: 100 }, (_, index) => ({ topic: 'a', key: `k${index}`, value: Buffer.alloc(10) }))
    expect(roundsOf(out, counts)).toHaveLength(1)
  })
})
