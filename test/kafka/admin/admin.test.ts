/** Offset lookups while a broker is lost: partitions ask in parallel, and a failure of one does not affect the others. */
import type { Kafka } from 'kafkajs'
import { expect, test, vi } from 'vitest'
import { KafkaAdmin } from '../../../src/kafka/admin/admin.ts'

type Offsets = { partition: number; offset: string; low: string; high: string }[]

/** Each of its admin clients records its requests, and whether it was disconnected. */
function brokenKafka() {
  const admins: { asked: PromiseWithResolvers<Offsets>[]; connected: boolean }[] = []
  const kafka = {
    admin() {
      const notes = { asked: [] as PromiseWithResolvers<Offsets>[], connected: true }
      admins.push(notes)
      return {
        connect: async () => {},
        disconnect: async () => {
          notes.connected = false
        },
        fetchTopicOffsets: () => {
          const asked = Promise.withResolvers<Offsets>()
          notes.asked.push(asked)
          return asked.promise
        },
      }
    },
  }
  return { kafka: kafka as unknown as Kafka, admins }
}

test('after simultaneous failures there is one new admin, and the old one is closed after its last answer', async () => {
  const { kafka, admins } = brokenKafka()
  const admin = await KafkaAdmin.open(kafka)
  const questions = ['a', 'b', 'c'].map((topic) => admin.offsets(topic))
  const [first, second, third] = admins[0]?.asked ?? []
  const lost = Object.assign(new Error('gone'), { name: 'KafkaJSConnectionError' })
  first?.reject(lost)
  second?.reject(lost)
  await expect(questions[0]).rejects.toMatchObject({ code: 'broker-unavailable' })
  await expect(questions[1]).rejects.toMatchObject({ code: 'broker-unavailable' })
  expect(admins.map(({ connected }) => connected)).toEqual([true, true])
  third?.resolve([{ partition: 0, offset: '5', low: '1', high: '5' }])
  expect(await questions[2]).toEqual([{ partition: 0, earliest: 1, next: 5 }])
  expect(admins.map(({ connected }) => connected)).toEqual([false, true])

  const next = admin.offsets('d')
  admins[1]?.asked[0]?.resolve([{ partition: 0, offset: '9', low: '1', high: '9' }])
  expect(await next).toEqual([{ partition: 0, earliest: 1, next: 9 }])
})

test('a transaction whose predecessor is not over yet is a temporary state of the brokers, not an error', async () => {
  const { faultOf } = await import('../../../src/kafka/errors/kafka-errors.ts')
  const thrown = Object.assign(new Error('busy'), {
    name: 'KafkaJSProtocolError',
    type: 'CONCURRENT_TRANSACTIONS',
    retriable: false,
  })
  expect(faultOf(thrown, 'A transaction').code).toBe('broker-unavailable')
})

test('a topic whose metadata have no partition yet is requested again, from a new admin', async () => {
  const { kafka, admins } = brokenKafka()
  const admin = await KafkaAdmin.open(kafka)
  const question = admin.offsets('new')
  const [first] = admins[0]?.asked ?? []
  // As kafkajs reports it.
  first?.reject(new TypeError("Cannot destructure property 'partitions' of 'high.pop(...)' as it is undefined."))
  await vi.waitUntil(() => admins[1]?.asked.length === 1)
  admins[1]?.asked[0]?.resolve([{ partition: 0, offset: '5', low: '1', high: '5' }])
  expect(await question).toEqual([{ partition: 0, earliest: 1, next: 5 }])
})

test('any other error is reported at once', async () => {
  const { kafka, admins } = brokenKafka()
  const admin = await KafkaAdmin.open(kafka)
  const question = admin.offsets('a')
  admins[0]?.asked[0]?.reject(new TypeError('something is not a function'))
  await expect(question).rejects.toMatchObject({ code: 'internal' })
})
