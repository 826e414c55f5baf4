/** Reading up to the ends of topics while leaders move: an audit right after the loss of a broker is complete. */
import { expect, test } from 'vitest'
import type { Span } from '../../../src/log/kafka/log.ts'
import { makeTopics, openThroughProxy, openWriter } from '../harness.ts'

test('a broker that is lost during a read is waited for: all is read once it is back, and each record once', async () => {
  const { topic } = await makeTopics(['topic'])
  const writer = await openWriter()
  for (let batch = 0; batch < 20; batch++)
    await writer.write([{ topic, partition: 0, key: null, value: Buffer.alloc(1_000, batch) }])
  const { proxy, log } = await openThroughProxy({}, { fetchPartitionBytes: 1_000, fetchBytes: 1_000 })
  const offsets: number[] = []
  const spans: Span[] = await log.readToEnd({
    topics: [topic],
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
