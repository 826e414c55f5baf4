/** Reading up to the ends of topics while leaders move: an audit right after the loss of a broker is complete. */
import type { Kafka } from 'kafkajs'
import { expect, test } from 'vitest'
import type { LogSettings } from '../../../src/kafka/brokers/client.ts'
import type { Span } from '../../../src/kafka/log.ts'
import { readToEnd } from '../../../src/kafka/reading/bounded-reader.ts'
import { makeTopics, openThroughProxy, openWriter, uniquePrefix } from '../harness.ts'

test('if a broker that is asked for the ends is not the leader any more, another client with new metadata is asked', async () => {
  let open = 0
  let asked = 0
  const kafka = {
    admin: () => {
      let isStale: boolean
      return {
        connect: async () => {
          isStale = open++ < 2
        },
        disconnect: async () => {},
        deleteGroups: async () => [],
        fetchTopicOffsets: async () => {
          asked++
          if (isStale) throw Object.assign(new Error('moved'), { type: 'NOT_LEADER_FOR_PARTITION' })
          return [{ partition: 0, offset: '7', low: '7', high: '7' }]
        },
      }
    },
  } as unknown as Kafka
  const options = {
    topics: ['a'],
    groupPrefix: 'x',
    onRecord: () => {},
    onProgress: () => {},
    signal: new AbortController().signal,
  }
  const spans = await readToEnd(kafka, {} as LogSettings, options)
  expect(spans).toEqual([{ topic: 'a', partition: 0, earliest: 7, from: 7, to: 7 }])
  expect(asked).toBe(2)
})

test('a broker that is lost during a read is waited for: all is read once it is back, and each record once', async () => {
  const { topic } = await makeTopics(['topic'])
  const writer = await openWriter()
  for (let batch = 0; batch < 20; batch++)
    await writer.write([{ topic, partition: 0, key: null, value: Buffer.alloc(1_000, batch) }])
  const { proxy, log } = await openThroughProxy({}, { fetchPartitionBytes: 1_000, fetchBytes: 1_000 })
  const offsets: number[] = []
  const spans: Span[] = await log.readToEnd({
    topics: [topic],
    groupPrefix: uniquePrefix(),
    onRecord: async ({ offset }) => {
      offsets.push(offset)
      if (offset !== 3) return
      proxy.refuse(true)
      proxy.cut()
      void proxy.refused(4).then(() => proxy.refuse(false))
    },
    onProgress: () => {},
    signal: new AbortController().signal,
  })
  expect(spans).toEqual([{ topic, partition: 0, earliest: 0, from: 0, to: 20 }])
  expect(offsets).toEqual(Array.from({ length: 20 }, (_, offset) => offset))
})
