import { randomUUID } from 'node:crypto'
import { AssignerProtocol, type PartitionAssigner } from 'kafkajs'
import { describe, expect, test } from 'vitest'
import { makeTopics } from '../harness.ts'
import { ended, message, rawKafka, rawProducer } from './raw.ts'

describe('a kafkajs assigner', () => {
  test('may give one partition to two members, and both read it', async () => {
    const { t } = await makeTopics(['t'])
    const everythingToAll: PartitionAssigner = () => ({
      name: 'everything-to-all',
      version: 0,
      assign: async ({ members }) =>
        members.map(({ memberId }) => ({
          memberId,
          memberAssignment: AssignerProtocol.MemberAssignment.encode({
            version: 0,
            assignment: { [t]: [0] },
            userData: Buffer.alloc(0),
          }),
        })),
      protocol: ({ topics }) => ({
        name: 'everything-to-all',
        metadata: AssignerProtocol.MemberMetadata.encode({ version: 0, topics, userData: Buffer.alloc(0) }),
      }),
    })
    const groupId = `g-${randomUUID()}`
    const member = async () => {
      const seen = Promise.withResolvers<void>()
      const consumer = ended(rawKafka().consumer({ groupId, partitionAssigners: [everythingToAll], maxWaitTimeInMs: 50 }))
      await consumer.connect()
      await consumer.subscribe({ topics: [t], fromBeginning: true })
      await consumer.run({ autoCommit: false, eachBatch: async () => seen.resolve() })
      return seen.promise
    }
    const both = Promise.all([member(), member()])
    const producer = await rawProducer({})
    await producer.send({ topic: t, messages: [message('for both')] })
    await both
  })

  test('reads its user data again at each join', async () => {
    const { t } = await makeTopics(['t'])
    let asked = 0
    const seen: string[][] = []
    const rejoined = Promise.withResolvers<void>()
    const counting: PartitionAssigner = ({ cluster }) => ({
      name: 'counting',
      version: 0,
      assign: async ({ members }) => {
        seen.push(
          members.map(({ memberMetadata }) => AssignerProtocol.MemberMetadata.decode(memberMetadata)?.userData.toString() ?? ''),
        )
        return members.map(({ memberId }, index) => ({
          memberId,
          memberAssignment: AssignerProtocol.MemberAssignment.encode({
            version: 0,
            assignment: { [t]: index === 0 ? cluster.findTopicPartitionMetadata(t).map(({ partitionId }) => partitionId) : [] },
            userData: Buffer.alloc(0),
          }),
        }))
      },
      protocol: ({ topics }) => ({
        name: 'counting',
        metadata: AssignerProtocol.MemberMetadata.encode({ version: 0, topics, userData: Buffer.from(String(++asked)) }),
      }),
    })
    const groupId = `g-${randomUUID()}`
    const join = async () => {
      const consumer = ended(
        rawKafka().consumer({ groupId, partitionAssigners: [counting], maxWaitTimeInMs: 50, heartbeatInterval: 60 }),
      )
      consumer.on(consumer.events.GROUP_JOIN, () => void (seen.length >= 2 && rejoined.resolve()))
      await consumer.connect()
      await consumer.subscribe({ topics: [t] })
      await consumer.run({ eachBatch: async () => {} })
    }
    await join()
    await join()
    await rejoined.promise
    expect(seen.at(-1)).toHaveLength(2)
    expect(new Set(seen.flat()).size).toBe(seen.flat().length)
  })
})
