/** Parts of a partition on the real broker, by time and offset, without a group. */
import { Kafka, logLevel } from 'kafkajs'
import { expect, it, onTestFinished } from 'vitest'
import type { RangeReader } from '../../../src/ground/ports/log.ts'
import { brokers, makeTopics, openLog, openThroughProxy, openTransactional, openWriter } from '../harness.ts'

const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING })

function openRanges(log = openLog()): RangeReader {
  const ranges = log.ranges()
  onTestFinished(() => ranges.close())
  return ranges
}

/** All texts from the offset to the end, by requests of this size. */
async function textsFrom(ranges: RangeReader, topic: string, from: number, to: number, bytesMax: number): Promise<string[]> {
  const texts: string[] = []
  for (let offset = from; offset < to; ) {
    const { records, next } = await ranges.read({ topic, partition: 0, offset }, bytesMax)
    expect(next).toBeGreaterThan(offset)
    texts.push(...records.filter((record) => record.offset < to).map(({ value }) => String(value)))
    offset = next
  }
  return texts
}

const brokersTime = { 'message.timestamp.type': 'LogAppendTime' }

it('finds the offsets of times, and reads between them in parts, from within a batch too', async () => {
  const { lines: topic } = await makeTopics(['lines'], 2, brokersTime)
  const writer = await openWriter()
  const write = (from: number, to: number) =>
    writer.write(
      Array.from({ length: to - from }, (_, index) => ({
        topic,
        partition: 0,
        key: 'k',
        value: Buffer.from(`${from + index}`.padEnd(100)),
      })),
    )
  await write(0, 50)
  const ranges = openRanges()
  const place = { topic, partition: 0 }
  const { records } = await ranges.read({ ...place, offset: 49 }, 1_000_000)
  expect(records.map(({ offset, byBroker }) => [offset, byBroker])).toEqual([[49, true]])
  const middleMs = (records[0]?.timestampMs ?? 0) + 1
  await expect.poll(() => Date.now()).toBeGreaterThan(middleMs + 1)
  await write(50, 120)
  expect(await ranges.range(place, 0, undefined)).toEqual({ from: 0, to: 120 })
  expect(await ranges.range(place, middleMs, undefined)).toEqual({ from: 50, to: 120 })
  expect(await ranges.range(place, -5, middleMs)).toEqual({ from: 0, to: 50 })
  expect(await ranges.range(place, Date.now() + 60_000, undefined)).toEqual({ from: 120, to: 120 })
  expect(await ranges.range({ topic, partition: 1 }, 0, undefined)).toEqual({ from: 0, to: 0 })
  const texts = await textsFrom(ranges, topic, 10, 115, 300)
  expect(texts.map((text) => text.trim())).toEqual(Array.from({ length: 105 }, (_, index) => String(10 + index)))
  expect(await ranges.read({ ...place, offset: 120 }, 1_000)).toEqual({ records: [], next: 120 })
})

it('is not stopped by transactions that others left open or aborted, and passes their markers', async () => {
  const { lines: topic } = await makeTopics(['lines'], 1, brokersTime)
  const transactional = await openTransactional(`${topic}-x`)
  const record = (text: string) => ({ topic, partition: 0, key: 'k', value: Buffer.from(text) })
  await transactional.commit([record('a')])
  const producer = kafka.producer({
    transactionalId: `${topic}-y`,
    idempotent: true,
    maxInFlightRequests: 1,
    retry: { retries: 2 },
  })
  onTestFinished(() => producer.disconnect())
  await producer.connect()
  const aborted = await producer.transaction()
  await aborted.send({ topic, messages: [{ partition: 0, key: 'k', value: 'aborted' }] })
  await aborted.abort()
  const open = await producer.transaction()
  onTestFinished(() => open.abort())
  await open.send({ topic, messages: [{ partition: 0, key: 'k', value: 'open' }] })
  await (await openWriter()).write([record('last')])
  const ranges = openRanges()
  const { from, to } = await ranges.range({ topic, partition: 0 }, 0, undefined)
  expect(await textsFrom(ranges, topic, from, to, 100_000)).toEqual(['a', 'aborted', 'open', 'last'])
})

it('goes on at the earliest record when the wanted ones have expired', async () => {
  const { lines: topic } = await makeTopics(['lines'])
  await (await openWriter()).write(['a', 'b', 'c'].map((text) => ({ topic, partition: 0, key: 'k', value: Buffer.from(text) })))
  const ranges = openRanges()
  // Beyond the end: there is nothing, and the position stays.
  expect(await ranges.read({ topic, partition: 0, offset: 99 }, 1_000)).toEqual({ records: [], next: 99 })
  const admin = kafka.admin()
  await admin.connect()
  await admin.fetchTopicOffsets(topic)
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '2' }] })
  await admin.disconnect()
  const { records, next } = await ranges.read({ topic, partition: 0, offset: 0 }, 1_000)
  expect([records.map(({ value }) => String(value)), next]).toEqual([['c'], 3])
})

it('names a missing topic, and works again after its connections were cut', async () => {
  const { lines: topic } = await makeTopics(['lines'])
  await (await openWriter()).write([{ topic, partition: 0, key: 'k', value: Buffer.from('a') }])
  const { proxy, log } = await openThroughProxy({})
  const ranges = openRanges(log)
  await expect(ranges.range({ topic: `${topic}-none`, partition: 0 }, 0, undefined)).rejects.toMatchObject({
    code: 'unsafe-topic',
    message: expect.stringContaining(`${topic}-none`),
  })
  expect(await ranges.range({ topic, partition: 0 }, 0, undefined)).toEqual({ from: 0, to: 1 })
  proxy.cut()
  expect((await ranges.read({ topic, partition: 0, offset: 0 }, 1_000)).records).toHaveLength(1)
})
