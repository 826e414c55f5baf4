/** Aborted records are never delivered, in any order in which their transactions began and ended. */
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { decodeBatches, roomOfAnswer } from '../../../src/log/kafka/client/record-batches.ts'

interface Plan {
  /** Number of its producer. */
  of: number
  /** First and last offset. Default: one record. */
  to?: number
  key?: Buffer
  control?: 'abort' | 'commit'
  transactional?: boolean
  unread?: boolean
}

const require = createRequire(import.meta.url)
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0') as {
  RecordBatch(plan: object): Promise<{ buffer: Buffer }>
}
const encodeRecord = require('kafkajs/src/protocol/recordBatch/record/v0') as (plan: object) => object

/** One batch at each offset, with one record. */
async function answer(plans: Record<number, Plan>): Promise<Buffer> {
  const batches = Object.entries(plans).map(async ([first, plan]) => {
    const { of, to = Number(first), key, control, transactional = true, unread = false } = plan
    const marker = control === undefined ? undefined : Buffer.from([0, 0, 0, control === 'abort' ? 0 : 1])
    const record = encodeRecord({ offsetDelta: 0, timestampDelta: 0, key: marker ?? key ?? null, value: null })
    const place = { firstOffset: Number(first), lastOffsetDelta: to - Number(first) }
    const { buffer } = await RecordBatch({ ...place, transactional, producerId: of, records: [record] })
    // A codec that nobody knows.
    const attributes = buffer.readInt16BE(21) | (marker === undefined ? 0 : 0x20) | (unread ? 7 : 0)
    buffer.writeInt16BE(attributes, 21)
    return buffer
  })
  return Buffer.concat(await Promise.all(batches))
}

async function decoded(plans: Record<number, Plan>, aborted: [producerId: number, firstOffset: number][]) {
  const transactions = aborted.map(([producerId, firstOffset]) => ({ producerId, firstOffset }))
  const start = { topic: 't', partition: 0, offset: 0 }
  const { records, unread, next } = await decodeBatches(await answer(plans), start, roomOfAnswer(), transactions)
  return { offsets: records.map(({ offset }) => offset), unread: unread.length, next }
}

const [a, b, c] = [1, 2, 3]

test('if the transaction that began first ended last: brokers list them in the order of their ends', async () => {
  const plans: Record<number, Plan> = {
    ...{ 10: { of: a }, 11: { of: b }, 12: { of: b, control: 'abort' }, 13: { of: a } },
    ...{ 14: { of: a, control: 'abort' }, 15: { of: a }, 16: { of: c, transactional: false } },
  }
  const aborted: [number, number][] = [
    [b, 11],
    [a, 10],
  ]
  for (const listed of [aborted, aborted.toReversed()])
    expect(await decoded(plans, listed)).toEqual({ offsets: [15, 16], unread: 0, next: 17 })
})

test('if two had begun before the first record of the answer', async () => {
  const plans: Record<number, Plan> = {
    20: { of: b },
    21: { of: a },
    22: { of: c },
    23: { of: b, control: 'abort' },
    24: { of: b },
  }
  const aborted: [number, number][] = [
    [a, 10],
    [b, 11],
  ]
  expect(await decoded(plans, aborted)).toEqual({ offsets: [22, 24], unread: 0, next: 25 })
})

test('a committed transaction ends none, nor does a record whose key looks like an abort marker', async () => {
  const plans: Record<number, Plan> = {
    ...{
      1: { of: a, key: Buffer.from([0, 0, 0, 0]) },
      2: { of: a },
      3: { of: b },
      4: { of: b, control: 'commit' },
      5: { of: a },
    },
  }
  expect(await decoded(plans, [[a, 1]])).toEqual({ offsets: [3], unread: 0, next: 6 })
})

test('an unreadable batch is not reported in an aborted transaction, and all aborted records are passed over', async () => {
  const plans: Record<number, Plan> = { 1: { of: a, to: 9, unread: true }, 10: { of: a, control: 'abort' } }
  expect(await decoded(plans, [[a, 5]])).toEqual({ offsets: [], unread: 0, next: 11 })
  expect(await decoded(plans, [])).toEqual({ offsets: [], unread: 1, next: 11 })
})

test('without aborted transactions all records are delivered, and control records never', async () => {
  const plans: Record<number, Plan> = { 1: { of: a }, 2: { of: a, control: 'commit' } }
  expect(await decoded(plans, [])).toEqual({ offsets: [1], unread: 0, next: 3 })
})
