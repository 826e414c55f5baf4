import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeTopics, openLog, Watcher } from './harness.ts'

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
  test('deals all partitions out to all members', async () => {
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

describe('an admin', () => {
  test('tells the offsets of a topic and the id of the cluster', async () => {
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
