/** Even assignment at a low cost: no single move and no swap of a plan is cheaper, and a plan that is given back stays as it is. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EvenAssignment } from '../../../src/log/kafka/group/even-assignment.ts'

const one = { sourceOf: () => 0, pairItemsMax: () => Number.POSITIVE_INFINITY }

function assigned(costs: readonly (readonly number[])[], bins: number, before: readonly (readonly number[])[] = []) {
  let asked = 0
  const cost = (item: number, bin: number): number => {
    asked++
    return costs[item]?.[bin] ?? 0
  }
  const assignment = new EvenAssignment({ bins, cost, ...one }, costs.length)
  for (const [bin, share] of before.entries()) for (const item of share) assignment.keep(item, bin)
  assignment.assign([...costs.keys()])
  return { shares: assignment.shares, asked }
}

const tables = fc
  .tuple(fc.integer({ min: 2, max: 5 }), fc.integer({ min: 1, max: 14 }))
  .chain(([bins, items]) =>
    fc.array(fc.array(fc.nat(9), { minLength: bins, maxLength: bins }), { minLength: items, maxLength: items }),
  )

test('is even, and no item goes elsewhere, alone or in exchange for another, for less', () => {
  fc.assert(
    fc.property(tables, (costs) => {
      const bins = costs[0]?.length ?? 0
      const { shares } = assigned(costs, bins)
      expect(shares.flat().sort((a, b) => a - b)).toEqual([...costs.keys()])
      const sizes = shares.map(({ length }) => length)
      const [least, most] = [Math.min(...sizes), Math.max(...sizes)]
      expect(most - least).toBeLessThanOrEqual(1)
      const at = (item: number, bin: number): number => costs[item]?.[bin] ?? 0
      for (const [from, share] of shares.entries())
        for (const item of share)
          for (const [to, others] of shares.entries()) {
            const gain = at(item, from) - at(item, to)
            if (share.length === most && others.length < most) expect(gain).toBeLessThanOrEqual(0)
            for (const other of others) expect(gain + at(other, to) - at(other, from)).toBeLessThanOrEqual(0)
          }
    }),
  )
})

test('leaves a plan of its own as it is', () => {
  fc.assert(
    fc.property(tables, (costs) => {
      const bins = costs[0]?.length ?? 0
      const { shares } = assigned(costs, bins)
      expect(assigned(costs, bins, shares).shares).toEqual(shares)
    }),
  )
})

test('calculates each cost once: a group of hundreds has a hundred thousand of them', () => {
  const bins = 12
  const costs = Array.from({ length: 300 }, (_, item) =>
    Array.from({ length: bins }, (_, bin) => (item * 7 + bin * bin * 31) % 97),
  )
  expect(assigned(costs, bins).asked).toBe(costs.length * bins)
})
