/** Reading up to the ends of topics while leaders move: whoever audits right after the loss of a broker gets an answer. */
import type { Kafka } from 'kafkajs'
import { expect, test } from 'vitest'
import { readToEnd } from '../../src/kafka/bounded-reader.ts'
import type { LogSettings } from '../../src/kafka/client.ts'

test('where a broker that is asked for the ends leads no longer, another client is asked, which has fresh metadata', async () => {
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
