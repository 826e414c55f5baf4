/** A new member follows its target partitions until it is warm: the assignment while members come, warm up, and go. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { GroupReaderOptions } from '../../../src/ground/ports/log.ts'
import { coPartitioned } from '../../../src/log/kafka/group/assignors.ts'
import { bitsOf, partitionsIn, readUserData, userDataOf } from '../../../src/log/kafka/group/member-user-data.ts'
import type { Standing } from '../../../src/log/kafka/group/target-assignment.ts'
import { assignWarm, type WarmAssignment } from '../../../src/log/kafka/group/target-assignment.ts'

type Member = Standing & { warm: Set<number> }

const names = ['a', 'b', 'c', 'd', 'e', 'f']
const all = (count: number): number[] => Array.from({ length: count }, (_, partition) => partition)
const fresh = (memberId: string): Member => ({
  ...{ memberId, host: memberId, owned: [], following: [], generation: 0, copies: new Map(), warm: new Set<number>() },
})
const ownerIn = ({ owners }: WarmAssignment, partition: number): string =>
  [...owners].find(([, share]) => share.includes(partition))?.[0] ?? ''
const sizes = (shares: Map<string, number[]>): number[] => [...shares.values()].map(({ length }) => length)
const spread = (shares: Map<string, number[]>): number => Math.max(...sizes(shares)) - Math.min(...sizes(shares))
const awaitedIn = ({ awaited }: WarmAssignment): number[] => [...awaited.values()].flat()
const followersIn = ({ toFollow }: WarmAssignment, partition: number): string[] =>
  [...toFollow].flatMap(([memberId, share]) => (share.includes(partition) ? [memberId] : []))

/**
 * The user data of the members at the next join. Partitions that a member keeps stay warm; `warms` decides about its new ones.
 */
const settled = (members: Member[], shares: WarmAssignment, warms: (member: Member, partition: number) => boolean): Member[] =>
  members.map((member) => {
    const owned = shares.owners.get(member.memberId) ?? []
    const following = shares.toFollow.get(member.memberId) ?? []
    const has = [...owned, ...following]
    const warm = new Set(has.filter((each) => member.warm.has(each) || warms(member, each)))
    const copies = new Map([...member.copies, ...has.map((each) => [each, warm.has(each) ? 1_000 : 10] as const)])
    return { ...member, owned, following, warm, copies, generation: member.generation + 1 }
  })

/** Two members, each of which owns half of the partitions and follows the other half. */
function pairOf(count: number): { members: Member[]; shares: WarmAssignment } {
  const group = [fresh('a'), fresh('b')]
  const shares = assignWarm(count, 1, group)
  return { members: settled(group, shares, () => true), shares }
}

/** A history that needs four joins after its last change. */
const fourJoins = [
  { who: 2, warms: 0 },
  { who: 4, warms: 2 },
  { who: 1, warms: 2 },
  { who: 4, warms: 1 },
  { who: 3, warms: 1 },
  { who: 4, warms: 0 },
]
const steps = fc.array(fc.record({ who: fc.nat(names.length - 1), warms: fc.nat(3) }), { minLength: 1, maxLength: 12 })

/**
 * Members join and leave, some of them before others are warm. With `warms` 0 no member becomes warm before the next change;
 * otherwise all do.
 */
function histories(
  count: number,
  wanted: number,
  changes: { who: number; warms: number }[],
  look: (before: Member[], shares: WarmAssignment) => void,
): { members: Member[]; shares: WarmAssignment } {
  let members = [fresh('a')]
  let shares = assignWarm(count, wanted, members)
  members = settled(members, shares, () => true)
  for (const { who, warms } of changes) {
    const name = names[who] ?? ''
    const rest = members.filter(({ memberId }) => memberId !== name)
    if (rest.length === 0) continue
    members = rest.length < members.length ? rest : [...members, fresh(name)]
    shares = assignWarm(count, wanted, members)
    look(members, shares)
    members = settled(members, shares, () => warms > 0)
    if (warms <= 1) continue
    shares = assignWarm(count, wanted, members)
    look(members, shares)
    members = settled(members, shares, () => true)
  }
  return { members, shares }
}

describe('partitions that go to warm members', () => {
  test('no change delays fires: no cold member gets a partition that a warm one fires or could fire, and no warm standby is removed for one', () => {
    fc.assert(
      fc.property(fc.nat(25), fc.nat(2), steps, (count, wanted, changes) => {
        histories(count, wanted, changes, (members, shares) => {
          expect([...shares.owners.values()].flat().sort((a, b) => a - b)).toEqual(all(count))
          for (const partition of all(count)) {
            const warm = members.filter((member) => member.warm.has(partition)).map(({ memberId }) => memberId)
            const owner = ownerIn(shares, partition)
            if (warm.length > 0) expect(warm).toContain(owner)
            const kept = followersIn(shares, partition).filter((memberId) => warm.includes(memberId))
            expect(kept.length).toBeGreaterThanOrEqual(Math.min(wanted, warm.filter((memberId) => memberId !== owner).length))
            expect(followersIn(shares, partition)).not.toContain(owner)
          }
        })
      }),
    )
  })

  test('end even: a few joins after all are warm, and no later join moves anything or waits', () => {
    fc.assert(
      fc.property(fc.nat(25), fc.nat(2), steps, (count, wanted, changes) => {
        let { members, shares } = histories(count, wanted, changes, () => {})
        // Of 500,000 random histories, 466 needed three joins, 5 four, and none more: two plans for standbys can be equally good.
        for (let joins = 0; awaitedIn(shares).length > 0; joins++) {
          expect(joins).toBeLessThan(6)
          members = settled(members, shares, () => true)
          shares = assignWarm(count, wanted, members)
        }
        members = settled(members, shares, () => true)
        const rest = assignWarm(count, wanted, members)
        expect(awaitedIn(rest)).toEqual([])
        expect(rest.owners).toEqual(shares.owners)
        expect(spread(rest.owners)).toBeLessThanOrEqual(1)
        expect(spread(rest.toFollow)).toBeLessThanOrEqual(1)
        for (const each of all(count)) expect(followersIn(rest, each)).toHaveLength(Math.min(wanted, members.length - 1))
        expect(
          assignWarm(
            count,
            wanted,
            settled(members, rest, () => true),
          ),
        ).toEqual(rest)
      }),
      { examples: [[23, 1, fourJoins]] },
    )
  })

  /** Copies get warm one after another: the first awaited one, and others by luck. */
  function warmUp(count: number, wanted: number, changes: { who: number; warms: number }[], isLucky: () => boolean): void {
    let { members, shares } = histories(count, wanted, changes, () => {})
    const moves = new Map<number, number>()
    const joinsMax = awaitedIn(shares).length + count
    for (let joins = 0; awaitedIn(shares).length > 0; joins++) {
      expect(joins).toBeLessThan(joinsMax)
      const [memberId, [partition] = []] = [...shares.awaited].find(([, share]) => share.length > 0) ?? []
      const isNext = (member: Member, each: number): boolean => member.memberId === memberId && each === partition
      members = settled(members, shares, (member, each) => isNext(member, each) || isLucky())
      const next = assignWarm(count, wanted, members)
      for (const each of all(count))
        if (ownerIn(next, each) !== ownerIn(shares, each)) moves.set(each, (moves.get(each) ?? 0) + 1)
      shares = next
    }
    expect(spread(shares.owners)).toBeLessThanOrEqual(1)
    expect(spread(shares.toFollow)).toBeLessThanOrEqual(1)
    expect(Math.max(0, ...moves.values())).toBeLessThanOrEqual(1)
  }

  test('need a bounded number of joins if copies get warm one after another, in any order, and no partition moves twice', () => {
    fc.assert(
      fc.property(fc.nat(25), fc.nat(2), steps, fc.infiniteStream(fc.nat(5)), (count, wanted, changes, luck) =>
        warmUp(count, wanted, changes, () => luck.next().value === 0),
      ),
    )
  })

  test('need a bounded number of joins where two plans for the second standbys cost the same', () => {
    const changes = [
      { who: 3, warms: 2 },
      { who: 5, warms: 2 },
      { who: 1, warms: 2 },
      { who: 0, warms: 1 },
      { who: 5, warms: 0 },
      { who: 2, warms: 2 },
      { who: 0, warms: 1 },
    ]
    for (let seed = 1; seed <= 20; seed++) {
      let drawn = seed * 7_919
      const isLucky = (): boolean => {
        drawn = (drawn * 1_103_515_245 + 12_345) & 0x7fffffff
        return (drawn >> 8) % 6 === 0
      }
      warmUp(16, 2, changes, isLucky)
    }
  })

  test('a member that never gets warm gets nothing, moves nothing, and removes no standby', () => {
    const { members: two, shares: ofTwo } = pairOf(12)
    let members = [...two, fresh('c')]
    const first = assignWarm(12, 1, members)
    expect(first.awaited.get('c')).toHaveLength(8)
    for (let joins = 0; joins < 5; joins++) {
      const shares = assignWarm(12, 1, members)
      expect(shares).toEqual(first)
      expect(shares.owners).toEqual(new Map([...ofTwo.owners, ['c', []]]))
      for (const each of ['a', 'b']) expect(shares.toFollow.get(each)).toEqual(ofTwo.toFollow.get(each))
      members = settled(members, shares, ({ memberId }) => memberId !== 'c')
    }
  })

  test('where the owner goes while its successor is not warm, the standby fires all of it, though that is uneven for a while', () => {
    const three = [...pairOf(4).members, fresh('c')]
    const members = settled(three, assignWarm(4, 1, three), ({ memberId }) => memberId !== 'c')
    const rest = members.filter(({ memberId }) => memberId !== 'a')
    const shares = assignWarm(4, 1, rest)
    expect([...shares.owners.values()]).toEqual([all(4), []])
    expect(shares.toFollow.get('c')).toEqual(all(4))
    // The additional partitions that it follows take nothing from others once it is warm.
    expect(shares.awaited.get('c')).toHaveLength(2)
    expect(
      sizes(
        assignWarm(
          4,
          1,
          settled(rest, shares, () => true),
        ).owners,
      ),
    ).toEqual([2, 2])
  })

  test('cold owners delay nobody: schedulers that start together share at once', () => {
    const alone = assignWarm(12, 1, [fresh('a')])
    const members = [...settled([fresh('a')], alone, () => false), fresh('b'), fresh('c')]
    const shares = assignWarm(12, 1, members)
    expect(sizes(shares.owners)).toEqual([4, 4, 4])
    expect(awaitedIn(shares)).toEqual([])
  })

  test('after a loss nothing waits, because no member could yield', () => {
    const { members } = pairOf(12)
    const three = settled([...members, fresh('c')], assignWarm(12, 1, [...members, fresh('c')]), () => true)
    const settledThree = settled(three, assignWarm(12, 1, three), () => true)
    const left = assignWarm(12, 1, settledThree.slice(1))
    expect(sizes(left.owners)).toEqual([6, 6])
    expect(awaitedIn(left)).toEqual([])
  })

  test('a thousand partitions of many members are shared without a noticeable pause', () => {
    const group = all(16).map((each) => fresh(`m${each}`))
    const members = [...settled(group, assignWarm(1_024, 1, group), () => true), fresh('new')]
    const shares = assignWarm(1_024, 1, members)
    expect(shares.awaited.get('new')?.length).toBeGreaterThanOrEqual(60)
    const rest = assignWarm(
      1_024,
      1,
      settled(members, shares, () => true),
    )
    expect(spread(rest.owners)).toBeLessThanOrEqual(1)
  })
})

describe('the user data of members', () => {
  const topics = ['commands', 'jobs', 'events']
  const counts = new Map(topics.map((topic) => [topic, 4]))
  const standbys = (warm: number[]) => ({
    ...{ wanted: 1, topics: ['jobs'], copies: () => [] },
    warmth: { topic: 'events', warm: () => warm },
  })
  const of = (topic: string, assigned: Map<string, Record<string, number[]>>, memberId: string) => assigned.get(memberId)?.[topic]
  const role = (memberId: string, options: object, assigned: Record<string, number[]> = {}) => {
    const note = userDataOf({ instance: memberId, ...options } as GroupReaderOptions, new Map(Object.entries(assigned)), 1)
    return { memberId, topics, note: readUserData(memberId, Buffer.from(JSON.stringify(note))) }
  }
  const owns = { commands: all(4), jobs: all(4), events: all(4) }

  test('names the partitions that wait for a member, in a topic that standbys do not have; a waiting partition is followed, and owned by nobody', () => {
    const owner = role('a', { standbys: standbys(all(4)) }, owns)
    const first = coPartitioned([owner, role('b', { standbys: standbys([]) })], counts)
    expect(of('commands', first, 'a')).toEqual(all(4))
    expect(of('commands', first, 'b')).toEqual([])
    expect(of('jobs', first, 'b')).toEqual(all(4))
    const awaited = of('events', first, 'b') ?? []
    expect(awaited).toHaveLength(2)
    const told = role('b', { standbys: standbys([]) }, first.get('b'))
    expect(told.note).toMatchObject({ owned: [], standby: { following: all(4) } })
    const [mine, warm] = [role('a', { standbys: standbys(all(4)) }, first.get('a')), standbys(all(4))]
    const second = coPartitioned([mine, role('b', { standbys: warm }, first.get('b'))], counts)
    expect(of('commands', second, 'b')).toEqual(awaited)
    expect(of('events', second, 'b')).toEqual(awaited)
  })

  test('that says nothing of warmth is not of a member of ours', () => {
    const strange = role('c', { standbys: standbys([]) })
    const note = { ...strange.note, standby: { ...strange.note.standby, warmth: { topic: 3, warm: null } } }
    expect(readUserData('c', Buffer.from(JSON.stringify(note))).standby).toBeUndefined()
  })
})

describe('a member that yields', () => {
  const owner = (warm: number[]): Member => ({ ...fresh('a'), owned: all(4), generation: 3, warm: new Set(warm) })

  test('keeps what it fires until another is warm there, and gets nothing else', () => {
    const shares = assignWarm(4, 1, [{ ...fresh('b'), warm: new Set([3]) }], [owner([0, 1, 3])])
    // The member does not fire partition 2, and the other member could fire partition 3 at once.
    expect(shares.owners).toEqual(
      new Map([
        ['a', [0, 1]],
        ['b', [2, 3]],
      ]),
    )
    expect(shares.toFollow.get('b')).toEqual([0, 1])
    expect(shares.awaited.get('b')).toEqual([0, 1])
    expect(shares.toFollow.has('a')).toBe(false)
  })

  test('yields to any warm member, also to one that does not keep the partition in the end', () => {
    const [b, c] = [fresh('b'), { ...fresh('c'), following: all(4), warm: new Set(all(4)) }]
    const { owners } = assignWarm(4, 1, [b, c], [owner(all(4))])
    expect(owners.get('a')).toEqual([])
    expect(owners.get('c')).toEqual(all(4))
  })

  test('in any group each partition has one owner, which is warm if any member is, and stays if a member that stays is warm', () => {
    const some = fc.uniqueArray(fc.nat(7))
    const member = fc.record({ owned: some, following: some, warm: some, generation: fc.nat(3), yields: fc.boolean() })
    fc.assert(
      fc.property(fc.nat(8), fc.nat(2), fc.array(member, { minLength: 1, maxLength: 5 }), (count, wanted, group) => {
        const standings = group.map(({ warm, yields, ...told }, place) => ({
          ...{ ...fresh(names[place] ?? ''), ...told, warm: new Set(warm), yields },
        }))
        const staying = standings.filter(({ yields }) => !yields)
        if (staying.length === 0) return
        const yielding = standings.filter(({ yields }) => yields)
        const shares = assignWarm(count, wanted, staying, yielding)
        expect([...shares.owners.values()].flat().sort((a, b) => a - b)).toEqual(all(count))
        for (const partition of all(count)) {
          const name = ownerIn(shares, partition)
          const owner = standings.find(({ memberId }) => memberId === name)
          const hasHeir = staying.some(({ warm }) => warm.has(partition))
          if (owner?.yields)
            expect([hasHeir, owner.warm.has(partition), owner.owned.includes(partition)]).toEqual([false, true, true])
          if (owner?.yields) expect(awaitedIn(shares)).toContain(partition)
        }
      }),
    )
  })

  test('says so in its user data, unless it leaves anyway', () => {
    const options = { instance: 'a', topics: ['t'], isYielding: () => true } as unknown as GroupReaderOptions
    const note = userDataOf(options, new Map([['t', [0]]]), 3)
    expect(readUserData('a', Buffer.from(JSON.stringify(note)))).toMatchObject({ owned: [0], yields: true })
    const leaving = userDataOf({ ...options, isLeaving: () => true }, new Map(), 3)
    expect(leaving).toMatchObject({ leaving: true })
    expect(leaving).not.toHaveProperty('yields')
  })
})

describe('partition numbers as bits', () => {
  test('survive encoding, and use an eighth of a byte for each partition', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(2_000)), (partitions) => {
        const bits = bitsOf(partitions)
        const read = partitionsIn(bits)
        expect(all(2_001).filter((each) => read.has(each))).toEqual([...partitions].sort((a, b) => a - b))
        expect(bits.length).toBeLessThanOrEqual(336)
      }),
    )
  })

  test('of invalid input do no harm', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(typeof partitionsIn(text).has(3)).toBe('boolean')
        expect(partitionsIn(text).has(1e9)).toBe(false)
      }),
    )
  })
})
