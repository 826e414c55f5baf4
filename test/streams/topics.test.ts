/** Which partition a key belongs to. */
import fc from 'fast-check'
import { Partitioners } from 'kafkajs'
import { describe, expect, it } from 'vitest'
import { keyPartitionOf, partitionOf } from '../../streams/topics.ts'

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.stringMatching(/^[{}ab]{0,8}$/))
const count = fc.integer({ min: 1, max: 256 })
const plain = text.filter((part) => !/[{}]/.test(part))
const tag = plain.filter((part) => part !== '')

/** What Kafka's Java client and kafkajs choose for a key. */
function foreign(key: string, partitions: number): number {
  const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => {
    return { partitionId, leader: 1, partitionErrorCode: 0, replicas: [], isr: [] }
  })
  return Partitioners.DefaultPartitioner()({ topic: 't', partitionMetadata, message: { key, value: null } })
}

describe('the partition of a job id', () => {
  it('without a tag is the one that any client with murmur2 chooses', () => {
    fc.assert(
      fc.property(
        plain.filter((id) => id !== ''),
        count,
        (id, partitions) => {
          expect(partitionOf(id, partitions)).toBe(foreign(id, partitions))
          expect(partitionOf(Buffer.from(id), partitions)).toBe(partitionOf(id, partitions))
        },
      ),
    )
  })
  it('with a tag is that of the tag, whatever stands around it', () => {
    fc.assert(
      fc.property(plain, tag, text, count, (before, shared, after, partitions) => {
        expect(partitionOf(`${before}{${shared}}${after}`, partitions)).toBe(foreign(shared, partitions))
      }),
    )
  })
  it('is the same for text and bytes, and within the count, whatever the id', () => {
    fc.assert(
      fc.property(text, count, (id, partitions) => {
        const found = partitionOf(id, partitions)
        expect(found).toBe(partitionOf(Buffer.from(id), partitions))
        expect(Number.isInteger(found) && found >= 0 && found < partitions).toBe(true)
      }),
    )
  })
  it.each([
    ['{customer-7}invoice', 'customer-7'],
    ['invoice{customer-7}', 'customer-7'],
    ['a{b}c{d}', 'b'],
    ['a{b{c}d', 'b{c'],
    ['}{a}', 'a'],
    ['{ü€}x', 'ü€'],
    ['a{}b', 'a{}b'],
    ['a{}{b}', 'a{}{b}'],
    ['a{b', 'a{b'],
    ['a}b', 'a}b'],
    ['a}b{', 'a}b{'],
    ['{}', '{}'],
  ])('of %s goes by %s', (id, hashed) => {
    for (const partitions of [2, 7, 64]) expect(partitionOf(id, partitions)).toBe(keyPartitionOf(hashed, partitions))
  })
  it('spreads tags like ids', () => {
    const counts = new Array<number>(8).fill(0)
    for (let n = 0; n < 8_000; n++) {
      const partition = partitionOf(`{tag-${n}}job`, 8)
      counts[partition] = (counts[partition] ?? 0) + 1
    }
    for (const each of counts) expect(Math.abs(each - 1_000)).toBeLessThan(150)
  })
})

describe('the partition of any other key', () => {
  it('is the one that any client with murmur2 chooses, braces or not', () => {
    fc.assert(
      fc.property(
        text.filter((key) => key !== ''),
        count,
        (key, partitions) => {
          expect(keyPartitionOf(key, partitions)).toBe(foreign(key, partitions))
        },
      ),
    )
  })
})
