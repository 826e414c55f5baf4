/**
 * Assignment at the lowest cost: the total cost of a plan compared with every other plan, and the number of costs it computes.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MinCostAssignment } from '../../../src/kafka/group/min-cost-assignment.ts'

const one = { sources: 1, sourceOf: () => 0, pairItemsMax: () => Number.POSITIVE_INFINITY }

function assigned(costs: readonly (readonly number[])[], bins: number) {
  let asked = 0
  const cost = (item: number, bin: number): number => {
    asked++
    return costs[item]?.[bin] ?? 0
  }
  const assignment = new MinCostAssignment({ bins, taken: Array.from({ length: bins }, () => 0), cost, ...one }, costs.length)
  for (const item of costs.keys()) assignment.assign(item)
  return { shares: assignment.shares, asked }
}

const costOf = (shares: number[][], costs: readonly (readonly number[])[]): number =>
  shares.flatMap((share, bin) => share.map((item) => costs[item]?.[bin] ?? 0)).reduce((sum, each) => sum + each, 0)

/** The lowest cost of any even plan. */
function leastOf(costs: readonly (readonly number[])[], bins: number): number {
  const floor = Math.floor(costs.length / bins)
  const loads = Array.from({ length: bins }, () => 0)
  const from = (item: number): number => {
    const row = costs[item]
    if (row === undefined) return loads.every((load) => load === floor || load === floor + 1) ? 0 : Number.POSITIVE_INFINITY
    let least = Number.POSITIVE_INFINITY
    for (let bin = 0; bin < bins; bin++) {
      if ((loads[bin] ?? 0) > floor) continue
      loads[bin] = (loads[bin] ?? 0) + 1
      least = Math.min(least, (row[bin] ?? 0) + from(item + 1))
      loads[bin] = (loads[bin] ?? 0) - 1
    }
    return least
  }
  return from(0)
}

const tables = fc
  .tuple(fc.integer({ min: 2, max: 3 }), fc.integer({ min: 1, max: 6 }))
  .chain(([bins, items]) =>
    fc.array(fc.array(fc.nat(9), { minLength: bins, maxLength: bins }), { minLength: items, maxLength: items }),
  )

test('no even plan is cheaper', () => {
  fc.assert(
    fc.property(tables, (costs) => {
      const bins = costs[0]?.length ?? 0
      const { shares } = assigned(costs, bins)
      expect(shares.flat().sort((a, b) => a - b)).toEqual([...costs.keys()])
      expect(costOf(shares, costs)).toBe(leastOf(costs, bins))
    }),
  )
})

test('each cost is calculated once, however many searches there are: a group of hundreds has a hundred thousand of them', () => {
  const bins = 12
  const costs = Array.from({ length: 300 }, (_, item) =>
    Array.from({ length: bins }, (_, bin) => (item * 7 + bin * bin * 31) % 97),
  )
  expect(assigned(costs, bins).asked).toBe(costs.length * bins)
})
