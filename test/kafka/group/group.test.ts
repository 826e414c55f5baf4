import { randomUUID } from 'node:crypto'
import kafkajs, { type PartitionAssigner } from 'kafkajs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { brokers, makeTopics, openLog, Watcher } from '../harness.ts'

const { AssignerProtocol } = kafkajs

const members = (topics: string[], assignment: 'co-partitioned' | 'round-robin') => {
  const groupId = `g-${randomUUID()}`
  return {
    groupId,
    member: (name: string) =>
      new Watcher({ topics, groupId, assignment, instance: name, userData: () => ({ url: `http://${name}` }) }),
  }
}
const numbers = (watcher: Watcher): string[] => [...new Set(watcher.assigned.map((place) => place.split('/')[1] ?? ''))].sort()
const settled = (watchers: Watcher[], size: number): Promise<unknown> =>
  Promise.all(watchers.map((watcher) => watcher.until(() => watcher.assigned.length === size)))

describe('the co-partitioned protocol', () => {
  test('gives partition i of every topic to one member, and moves as few as balance allows', async () => {
    const { jobs, events } = await makeTopics(['jobs', 'events'], 4)
    const { member } = members([jobs, events], 'co-partitioned')
    const first = member('first')
    await first.reader.start()
    expect(first.assigned).toHaveLength(8)

    const second = member('second')
    await second.reader.start()
    await first.until(() => first.assigned.length === 4)
    expect([...numbers(first), ...numbers(second)].sort()).toEqual(['0', '1', '2', '3'])
    for (const watcher of [first, second])
      for (const number of numbers(watcher))
        expect(watcher.assigned).toEqual(expect.arrayContaining([`${jobs}/${number}`, `${events}/${number}`]))

    const kept = { first: numbers(first), second: numbers(second) }
    const third = member('third')
    await third.reader.start()
    await Promise.all([first, second].map((watcher) => watcher.until(() => watcher.joins.length === (watcher === first ? 3 : 2))))
    expect(kept.first).toEqual(expect.arrayContaining(numbers(first)))
    expect(kept.second).toEqual(expect.arrayContaining(numbers(second)))
    expect([first, second, third].flatMap(numbers).sort()).toEqual(['0', '1', '2', '3'])

    const before = { first: numbers(first), third: numbers(third) }
    await second.reader.stop()
    await Promise.all([first, third].map((watcher) => watcher.until(() => watcher.assigned.length === 4)))
    expect(numbers(first)).toEqual(expect.arrayContaining(before.first))
    expect(numbers(third)).toEqual(expect.arrayContaining(before.third))
  })

  test('takes everything from a member that says it is about to leave, while it stays a member', async () => {
    const { jobs, events } = await makeTopics(['jobs', 'events'], 4)
    const groupId = `g-${randomUUID()}`
    let isLeaving = false
    const common = { topics: [jobs, events], groupId, assignment: 'co-partitioned' as const }
    const leaves = new Watcher({ ...common, instance: 'leaves', isLeaving: () => isLeaving })
    const stays = new Watcher({ ...common, instance: 'stays' })
    await leaves.reader.start()
    await stays.reader.start()
    await settled([leaves, stays], 4)
    isLeaving = true
    await leaves.reader.rejoin()
    expect(leaves.assigned).toEqual([])
    await settled([stays], 8)
    await leaves.reader.nextHeartbeat()
    expect(leaves.reader.isMember).toBe(true)
    const joins = stays.joins.length
    await leaves.reader.stop()
    await stays.until(() => stays.joins.length > joins)
    expect(stays.assigned).toHaveLength(8)
  })

  test('shows every member, its user data and its partitions', async () => {
    const { jobs } = await makeTopics(['jobs'], 2)
    const { groupId, member } = members([jobs], 'co-partitioned')
    const both = [member('a@host:1:x'), member('b@host:2:y')]
    await both[0]?.reader.start()
    await both[1]?.reader.start()
    await settled(both, 1)
    const admin = await openLog().admin()
    onTestFinished(() => admin.close())
    const shown = await admin.groupMembers(groupId)
    expect(
      shown.map(({ instance, userData }) => ({ instance, userData })).sort((a, b) => (a.instance < b.instance ? -1 : 1)),
    ).toEqual([
      { instance: 'a@host:1:x', userData: { url: 'http://a@host:1:x' } },
      { instance: 'b@host:2:y', userData: { url: 'http://b@host:2:y' } },
    ])
    expect(shown.flatMap(({ assigned }) => assigned.map(({ partition }) => partition)).sort()).toEqual([0, 1])
    expect(await admin.groupMembers(`${groupId}.nowhere`)).toEqual([])
  })
})

describe('the round-robin protocol', () => {
  test('gives all partitions to all members in turn', async () => {
    const { high, low } = await makeTopics(['high', 'low'], 3)
    const { member } = members([high, low], 'round-robin')
    const both = [member('a'), member('b')]
    await both[0]?.reader.start()
    await both[1]?.reader.start()
    await settled(both, 3)
    expect(both.flatMap(({ assigned }) => assigned).sort()).toEqual(
      [0, 1, 2].flatMap((n) => [`${high}/${n}`, `${low}/${n}`]).sort(),
    )
  })
})

describe('a group that is open to others', () => {
  /** A member of another program, with the protocols of its library. */
  const stranger = async (groupId: string, topics: string[], protocols: string[]) => {
    const assigned: string[][] = []
    const partitionAssigners = protocols.map(
      (name): PartitionAssigner =>
        () => ({
          name,
          version: 0,
          async assign({ members }) {
            // Dealt out in turn: with any leader, each of three members has one partition of each topic.
            return members.map(({ memberId }, index) => {
              const mine = [0, 1, 2].filter((partition) => partition % members.length === index)
              const assignment = Object.fromEntries(topics.map((topic) => [topic, mine]))
              return {
                memberId,
                memberAssignment: AssignerProtocol.MemberAssignment.encode({ version: 0, assignment, userData: none }),
              }
            })
          },
          protocol: () => ({ name, metadata: AssignerProtocol.MemberMetadata.encode({ version: 0, topics, userData: none }) }),
        }),
    )
    const kafka = new kafkajs.Kafka({ brokers, logLevel: 0, clientId: 'guest@host:7:abc' })
    const consumer = kafka.consumer({ groupId, partitionAssigners, heartbeatInterval: 300, maxWaitTimeInMs: 100 })
    onTestFinished(() => consumer.disconnect())
    const joined = Promise.withResolvers<void>()
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      assigned.push(Object.entries(payload.memberAssignment).flatMap(([topic, parts]) => parts.map((part) => `${topic}/${part}`)))
      joined.resolve()
    })
    await consumer.connect()
    await consumer.subscribe({ topics })
    await consumer.run({ eachMessage: async () => {} })
    await joined.promise
    return { assigned, leave: () => consumer.disconnect() }
  }
  const none = Buffer.alloc(0)

  test('shares its partitions by range with a member that knows only that, and by our own protocol after it has left', async () => {
    const { high, low } = await makeTopics(['high', 'low'], 3)
    const groupId = `g-${randomUUID()}`
    const options = { topics: [high, low], groupId, assignment: 'open' as const }
    const [a, b] = [new Watcher({ ...options, instance: 'a' }), new Watcher({ ...options, instance: 'b' })]
    await a.reader.start()
    const guest = await stranger(groupId, [high, low], ['range', 'roundrobin'])
    await b.reader.start()
    await settled([a, b], 2)
    const admin = await openLog().admin()
    onTestFinished(() => admin.close())
    const shown = await admin.groupMembers(groupId)
    expect(shown.map(({ instance }) => instance).sort()).toEqual(['a', 'b', 'guest@host:7:abc'])
    for (const { assigned } of shown) expect(new Set(assigned.map(({ partition }) => partition)).size).toBe(1)
    await expect.poll(() => guest.assigned.at(-1)).toHaveLength(2)
    await guest.leave()
    await expect.poll(() => a.assigned.length + b.assigned.length).toBe(6)
    expect([...numbers(a), ...numbers(b)].sort()).toEqual(['0', '1', '2'])
  })

  test('accepts the assignment of a foreign leader', async () => {
    const { high } = await makeTopics(['high'], 3)
    const groupId = `g-${randomUUID()}`
    const guest = await stranger(groupId, [high], ['range'])
    const ours = new Watcher({ topics: [high], groupId, assignment: 'open', instance: 'a' })
    await ours.reader.start()
    await ours.until(() => ours.assigned.length > 0)
    await guest.leave()
    await ours.until(() => ours.assigned.length === 3)
  })
})

describe('an admin', () => {
  test('returns the offsets of a topic and the id of the cluster', async () => {
    const { jobs } = await makeTopics(['jobs'], 2)
    const admin = await openLog().admin()
    onTestFinished(() => admin.close())
    expect(await admin.offsets(jobs)).toEqual([
      { partition: 0, earliest: 0, next: 0 },
      { partition: 1, earliest: 0, next: 0 },
    ])
    expect(await admin.clusterId()).toMatch(/./)
  })
})
