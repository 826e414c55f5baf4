import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assignOwners, type Standing } from '../../../src/log/kafka/group/target-assignment.ts'

const member = (memberId: string, owned: readonly number[], generation: number): Standing => ({
  ...{ memberId, owned, generation, host: memberId, copies: new Map(), following: [], warm: new Set() },
})
const members = fc
  .array(fc.record({ owned: fc.array(fc.nat(40), { maxLength: 12 }), generation: fc.nat(3) }), { minLength: 1, maxLength: 8 })
  .map((list) => list.map(({ owned, generation }, index) => member(`m${index}`, owned, generation)))
const counts = fc.nat(33)
const sorted = (shares: Map<string, number[]>) => [...shares].sort(([a], [b]) => (a < b ? -1 : 1))

describe('shares of partitions', () => {
  test('give every partition to exactly one member, and differ by at most one', () => {
    fc.assert(
      fc.property(counts, members, (count, list) => {
        const shares = [...assignOwners(count, list).values()]
        expect(shares.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => index))
        const sizes = shares.map(({ length }) => length)
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
      }),
    )
  })

  test('are the same whatever the order of the members', () => {
    fc.assert(
      fc.property(counts, members, (count, list) => {
        expect(sorted(assignOwners(count, [...list].reverse()))).toEqual(sorted(assignOwners(count, list)))
      }),
    )
  })

  test('do not move when nobody joined or left', () => {
    fc.assert(
      fc.property(counts, members, (count, list) => {
        const shares = assignOwners(count, list)
        const again = list.map(({ memberId }) => member(memberId, shares.get(memberId) ?? [], 9))
        expect(sorted(assignOwners(count, again))).toEqual(sorted(shares))
      }),
    )
  })

  test('take from each member only what balance needs when one joins or leaves', () => {
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: 7 }), (count, size) => {
        const fresh = (index: number): Standing => member(`m${index}`, [], 0)
        const before = assignOwners(
          count,
          Array.from({ length: size }, (_, index) => fresh(index)),
        )
        const settled = [...before].map(([memberId, owned]) => member(memberId, owned, 1))
        const joined = assignOwners(count, [...settled, fresh(size)])
        for (const { memberId, owned } of settled) {
          const kept = joined.get(memberId)?.filter((partition) => owned.includes(partition)).length ?? 0
          expect(kept).toBe(Math.min(owned.length, joined.get(memberId)?.length ?? 0))
        }
        const left = settled.slice(1)
        for (const [memberId, share] of assignOwners(count, left))
          expect(share).toEqual(expect.arrayContaining(before.get(memberId) ?? []))
      }),
    )
  })

  test('give a partition that two claim to the member that joined last', () => {
    const shares = assignOwners(2, [member('a', [0, 1], 3), member('b', [1], 4)])
    expect(sorted(shares)).toEqual([
      ['a', [0]],
      ['b', [1]],
    ])
  })
})
