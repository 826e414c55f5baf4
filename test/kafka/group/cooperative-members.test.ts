/** Members of an open group, on a real broker: a partition that moves has no reader until its last one has given it up. */
import kafkajs from 'kafkajs'
import { expect, onTestFinished, test } from 'vitest'
import { protocolOf } from '../../../src/log/kafka/group/assignors.ts'
import { userDataOf } from '../../../src/log/kafka/group/member-user-data.ts'
import { assignerOf } from '../client/canaries/raw.ts'
import { brokers, makeTopics, openLog, openWriter, text, Watcher } from '../harness.ts'

test('a partition that moves can be committed by its last reader, and nobody reads it before that one has given it up', async () => {
  const { runs } = await makeTopics(['runs'], 2)
  const writer = await openWriter()
  const write = (...values: string[]) =>
    writer.write(
      [0, 1].flatMap((partition) => values.map((value) => ({ topic: runs, partition, key: value, value: text(value) }))),
    )
  await write('a', 'b', 'c')
  const group = { groupId: `${runs}.group`, topics: [runs], assignment: 'open' as const }
  const revoked: string[][] = []
  const given = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<number>()
  const first = new Watcher({
    ...group,
    instance: 'first',
    onRevoked: (partitions) => {
      revoked.push(partitions.map(({ topic, partition }) => `${topic}/${partition}`))
      asked.resolve(partitions[0]?.partition ?? -1)
      return given.promise
    },
  })
  await first.reader.start()
  await first.until(() => first.values.length === 6)
  const second = new Watcher({ ...group, instance: 'second', onRevoked: async () => {} })
  await second.reader.start()
  const moved = await asked.promise
  expect(first.assigned).toEqual([`${runs}/${1 - moved}`])
  expect(second.assigned).toEqual([])
  // A third member makes the group share again. The claim still holds.
  const third = new Watcher({ ...group, instance: 'third', onRevoked: async () => {} })
  await third.reader.start()
  expect([second.assigned, third.assigned]).toEqual([[], []])
  const joins = [first, second].map((watcher) => watcher.joins.length)
  await third.reader.stop()
  await Promise.all([first, second].map((watcher, at) => watcher.until(() => watcher.joins.length > (joins[at] ?? 0))))
  expect(second.assigned).toEqual([])
  await first.reader.commit([{ topic: runs, partition: moved, offset: 2 }])
  const before = second.joins.length
  given.resolve()
  await second.until(() => second.joins.slice(before).some((join) => join.length > 0))
  await second.until(() => second.values.length > 0)
  expect(second.records.map(({ partition, offset }) => [partition, offset])).toEqual([[moved, 2]])
  expect(revoked).toEqual([[`${runs}/${moved}`]])
  // Given up: a later commit of it is left out, and does not set the new reader back.
  await second.reader.commit([{ topic: runs, partition: moved, offset: 3 }])
  await first.reader.commit([{ topic: runs, partition: moved, offset: 0 }])
  await second.reader.stop()
  await first.until(() => first.assigned.length === 2)
  await write('d')
  await first.until(() => first.values.filter((value) => value === 'd').length === 2)
  expect(first.records.filter(({ partition }) => partition === moved).map(({ offset }) => offset)).toEqual([0, 1, 2, 3])
})

test('a member commits nothing more of what it has lost, once the group shares by the rule of a foreign member', async () => {
  const { runs } = await makeTopics(['runs'], 2)
  const writer = await openWriter()
  await writer.write([0, 1].map((partition) => ({ topic: runs, partition, key: 'a', value: text('a') })))
  const groupId = `${runs}.group`
  const group = { groupId, topics: [runs], assignment: 'open' as const }
  const asked = Promise.withResolvers<number>()
  const onRevoked = (partitions: { partition: number }[]): Promise<void> => {
    asked.resolve(partitions[0]?.partition ?? -1)
    return new Promise(() => {})
  }
  // By name: the rule gives the two partitions to the second member and the guest.
  const first = new Watcher({ ...group, instance: 'first', onRevoked }, openLog({ clientId: 'z' }))
  await first.reader.start()
  const second = new Watcher({ ...group, instance: 'second', onRevoked: async () => {} }, openLog({ clientId: 'a' }))
  await second.reader.start()
  const moved = await asked.promise
  await first.reader.commit([{ topic: runs, partition: moved, offset: 1 }])
  const note = () => userDataOf({ ...group, instance: 'guest' } as never, new Map(), 0)
  const guest = new kafkajs.Kafka({ brokers, logLevel: 0, clientId: 'm' }).consumer({
    groupId,
    partitionAssigners: [assignerOf(protocolOf('range', note))],
  })
  onTestFinished(() => guest.disconnect())
  const joined = first.joins.length
  await guest.connect()
  await guest.subscribe({ topics: [runs] })
  await guest.run({ autoCommit: false, eachMessage: async () => {} })
  await first.until(() => first.joins.length > joined)
  expect(first.assigned).toEqual([])
  await first.reader.commit([{ topic: runs, partition: moved, offset: 0 }])
  const admin = await openLog().admin()
  onTestFinished(() => admin.close())
  const committed = await admin.committed(groupId, runs)
  expect(committed.filter(({ partition }) => partition === moved)).toMatchObject([{ offset: 1 }])
})
