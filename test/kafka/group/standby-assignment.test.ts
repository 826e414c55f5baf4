import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { protocolOf } from '../../../src/log/kafka/group/assignors.ts'
import { type MemberUserData, userDataOf } from '../../../src/log/kafka/group/member-user-data.ts'
import { assignOwners, assignStandbys, type Standing } from '../../../src/log/kafka/group/target-assignment.ts'

type Member = Standing
const copies = fc.array(fc.tuple(fc.nat(40), fc.nat(1_000)), { maxLength: 20 }).map((entries) => new Map(entries))
const members = fc
  .array(
    fc.record({
      owned: fc.array(fc.nat(40), { maxLength: 12 }),
      following: fc.array(fc.nat(40), { maxLength: 12 }),
      generation: fc.nat(3),
      host: fc.constantFrom('one', 'two', 'three'),
      copies,
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((list) => list.map((member, index): Member => ({ memberId: `m${index}`, warm: new Set(member.following), ...member })))
const counts = fc.nat(33)
const wanted = fc.nat(2)
const sorted = (shares: Map<string, number[]>) => [...shares].sort(([a], [b]) => (a < b ? -1 : 1))
const dealt = (count: number, standbys: number, list: Member[]) => {
  const owners = assignOwners(count, list)
  return { owners, followers: assignStandbys(count, standbys, list, owners) }
}
/** The user data at the next join, after the members have followed their assignment. */
const settled = (list: Member[], { owners, followers }: ReturnType<typeof dealt>): Member[] =>
  list.map((member) => {
    const [owned, following] = [owners.get(member.memberId) ?? [], followers.get(member.memberId) ?? []]
    const has = [...owned, ...following]
    return { ...member, owned, following, generation: 9, copies: new Map(has.map((each) => [each, 2_000])), warm: new Set(has) }
  })

describe('standbys', () => {
  test('are as many as wanted if there are enough members, and no member follows its own partition or follows one twice', () => {
    fc.assert(
      fc.property(counts, wanted, members, (count, standbys, list) => {
        const { owners, followers } = dealt(count, standbys, list)
        for (let partition = 0; partition < count; partition++) {
          const following = [...followers].filter(([, share]) => share.includes(partition)).map(([memberId]) => memberId)
          expect(following).toHaveLength(Math.min(standbys, list.length - 1))
          expect(owners.get(following[0] ?? '') ?? []).not.toContain(partition)
        }
        for (const [memberId, share] of followers) {
          expect(new Set(share).size).toBe(share.length)
          for (const partition of owners.get(memberId) ?? []) expect(share).not.toContain(partition)
        }
      }),
    )
  })

  test('are the same whatever the order of the members', () => {
    fc.assert(
      fc.property(counts, wanted, members, (count, standbys, list) => {
        const [one, other] = [dealt(count, standbys, list), dealt(count, standbys, [...list].reverse())]
        expect(sorted(other.owners)).toEqual(sorted(one.owners))
        expect(sorted(other.followers)).toEqual(sorted(one.followers))
      }),
    )
  })

  test('do not move when nobody joined or left', () => {
    fc.assert(
      fc.property(counts, wanted, members, (count, standbys, list) => {
        const first = dealt(count, standbys, settled(list, dealt(count, standbys, list)))
        const second = dealt(count, standbys, settled(list, first))
        expect(sorted(second.owners)).toEqual(sorted(first.owners))
        expect(sorted(second.followers)).toEqual(sorted(first.followers))
      }),
    )
  })

  test('are even among new members on hosts of their own', () => {
    fc.assert(
      fc.property(counts, wanted, fc.integer({ min: 2, max: 8 }), (count, standbys, size) => {
        const list = Array.from({ length: size }, (_, index): Member => fresh(`m${index}`))
        const sizes = [...dealt(count, standbys, list).followers.values()].map(({ length }) => length)
        expect(Math.max(...sizes)).toBeLessThanOrEqual(Math.ceil((count * Math.min(standbys, size - 1)) / size) + 1)
      }),
    )
  })

  test('are on another host than the owner if every owner can have one there', () => {
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: 4 }), (count, pairs) => {
        const list = Array.from({ length: 2 * pairs }, (_, index): Member => ({ ...fresh(`m${index}`), host: `h${index % 2}` }))
        const { owners, followers } = dealt(count, 1, list)
        const hostOf = new Map(list.map(({ memberId, host }) => [memberId, host]))
        const near = [...followers].flatMap(([memberId, share]) =>
          share.filter((partition) =>
            [...owners].some(([owner, own]) => own.includes(partition) && hostOf.get(owner) === hostOf.get(memberId)),
          ),
        )
        // A standby on the owner's host is allowed only if all members of the other host have their share.
        expect(near.length).toBeLessThanOrEqual(1)
      }),
    )
  })

  test('inherit: partitions of a member that leaves go to their standbys, if they have room', () => {
    fc.assert(
      fc.property(counts, fc.integer({ min: 2, max: 7 }), (count, size) => {
        const list = Array.from({ length: size }, (_, index) => fresh(`m${index}`))
        const before = settled(list, dealt(count, 1, list))
        const [left, ...rest] = before
        const { owners } = dealt(count, 1, rest)
        for (const { memberId, owned } of rest) expect(owners.get(memberId)).toEqual(expect.arrayContaining([...owned]))
        for (const partition of left?.owned ?? []) {
          const successor = rest.find((member) => owners.get(member.memberId)?.includes(partition))
          const follower = rest.find((member) => member.copies.has(partition))
          if (follower === undefined || successor === follower) continue
          // Every partition that the follower owns is one that it owned or followed before, and it has no room for more.
          for (const each of owners.get(follower.memberId) ?? []) expect(follower.copies.has(each)).toBe(true)
        }
      }),
    )
  })

  test('inherit in the order of how far they are', () => {
    const list: Member[] = ['a', 'b', 'c'].map((memberId, index) => ({ ...fresh(memberId), copies: new Map([[0, index]]) }))
    expect(assignOwners(1, list).get('c')).toEqual([0])
  })
})

describe('the co-partitioned rule', () => {
  const topics = ['commands', 'jobs']
  const standbyOptions = { wanted: 1, topics: ['jobs'], copies: () => [], warmth: { topic: 'events', warm: () => [0, 1, 2, 3] } }
  /** Number of partitions of each member, of all topics. */
  const sizesOf = async (notes: MemberUserData[]) => {
    const protocols = notes.map((note) => protocolOf('co-partitioned', () => note))
    const members = protocols.map((protocol, index) => ({ memberId: `m${index}`, topics, userData: protocol.userData() }))
    const shares = protocols[0]?.assign(members, new Map(topics.map((topic) => [topic, 4])))
    return members.map(({ memberId }) => Object.values(shares?.get(memberId) ?? {}).flat().length)
  }
  const noteWith = (standbys: Parameters<typeof userDataOf>[0]['standbys']) =>
    userDataOf({ instance: 'name@host:1:boot', ...(standbys && { standbys }) } as Parameters<typeof userDataOf>[0], new Map(), 0)

  test('has no standbys while a foreign member is there, which would take itself for an owner', async () => {
    const [alone = [], mixed = [], all = []] = [
      await sizesOf([noteWith(undefined), noteWith(undefined)]),
      await sizesOf([noteWith(standbyOptions), noteWith(undefined)]),
      await sizesOf([noteWith(standbyOptions), noteWith(standbyOptions)]),
    ]
    expect(mixed).toEqual(alone)
    // Each of them follows the two partitions of the other one.
    expect(all).toEqual(alone.map((count) => count + 2))
  })

  test('gives nothing to a member that is about to leave, unless all are', async () => {
    const leaving = { ...noteWith(standbyOptions), leaving: true as const, owned: [0, 1, 2, 3] }
    const [left = 0, stays = 0] = await sizesOf([leaving, noteWith(standbyOptions)])
    const [alone = 0] = await sizesOf([noteWith(standbyOptions)])
    expect(stays).toBe(alone)
    const [none = 0] = await sizesOf([{ ...leaving, owned: [] }, noteWith(standbyOptions)])
    expect(left).toBe(none)
    expect(left).toBeLessThan(stays)
    const [one = 0, other = 0] = await sizesOf([leaving, leaving])
    expect(one + other).toBeGreaterThan(left + left)
  })

  test('does not count the partitions that a standby reads as owned', () => {
    const assigned = new Map([
      ['commands', [1]],
      ['jobs', [0, 1]],
    ])
    const options = { instance: 'i', standbys: standbyOptions } as unknown as Parameters<typeof userDataOf>[0]
    expect(userDataOf(options, assigned, 3)).toMatchObject({ owned: [1], standby: { following: [0] } })
  })
})

function fresh(memberId: string): Member {
  return { memberId, host: memberId, owned: [], following: [], generation: 0, copies: new Map(), warm: new Set() }
}
