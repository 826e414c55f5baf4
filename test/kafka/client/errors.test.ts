/** What kafkajs throws if no broker answers: it destructures an answer that is null. */
import { createRequire } from 'node:module'
import { Kafka, logLevel } from 'kafkajs'
import { expect, test } from 'vitest'
import { faultOf, isUnanswered, withRetry } from '../../../src/log/kafka/client/errors.ts'

/** What a kafkajs admin client throws when it gets no answer. */
async function thrownFor(call: 'listTopics' | 'describeCluster'): Promise<unknown> {
  const kafka = new Kafka({ brokers: ['127.0.0.1:1'], logLevel: logLevel.NOTHING })
  const createAdmin = createRequire(import.meta.url)('kafkajs/src/admin') as (of: object) => ReturnType<typeof kafka.admin>
  const admin = createAdmin({
    cluster: { connect: async () => {}, refreshMetadata: async () => {}, metadata: async () => null },
    logger: kafka.logger(),
  })
  return admin[call]().then(
    () => expect.unreachable(),
    (error: unknown) => error,
  )
}

test.each(['listTopics', 'describeCluster'] as const)('%s is repeated, and the final answer is understood', async (call) => {
  const thrown = await thrownFor(call)
  expect(isUnanswered(thrown)).toBe(true)
  expect(faultOf(thrown, 'Checking the topics')).toMatchObject({
    code: 'broker-unavailable',
    message: expect.stringMatching(/^Checking the topics failed: No broker answered\. Check that the brokers run/),
  })
  let asked = 0
  const answer = await withRetry(async () => {
    if (asked++ === 0) throw thrown
    return 'there'
  })
  expect([answer, asked]).toEqual(['there', 2])
  await expect(withRetry(() => Promise.reject(new TypeError('a fault of ours')))).rejects.toThrow('a fault of ours')
})

test('an error of the broker itself is not treated as a lost answer', () => {
  const { createErrorFromCode } = createRequire(import.meta.url)('kafkajs/src/protocol/error') as {
    createErrorFromCode: (code: number) => Error
  }
  expect(faultOf(createErrorFromCode(-1), 'A transaction')).toMatchObject({ code: 'broker-unavailable' })
  expect(faultOf(new Error('a fault of ours'), 'A transaction')).toMatchObject({ code: 'internal' })
})
