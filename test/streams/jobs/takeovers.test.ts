/**
 * Random histories of one job, with definitions and deletions under conditions: an owner that goes on, and owners that are replaced at
 * any moment by one with an empty store, must agree. A model of conditions alone says which definition is in force.
 * DUELOG_TAKEOVER_HISTORIES plays more of them.
 */
import { describe, expect, it } from 'vitest'
import { Chance } from '../../../src/testing/simulation/chance.ts'
import { inForceOf, playHistory, randomActs } from './takeover-history.ts'

const histories = Number(process.env.DUELOG_TAKEOVER_HISTORIES ?? 1_000)

describe('a job whose owners are replaced', () => {
  it.each([
    ['conditions', { versions: false, retention: false }],
    ['conditions, versions, dedupKeys and retention', { versions: true, retention: true }],
  ])('is what it would be under one owner: %s', (_name, habits) => {
    let conditions = 0
    for (let seed = 0; seed < histories; seed++) {
      const acts = randomActs(new Chance(seed), habits)
      const one = playHistory(acts, { isReplaced: false, chance: new Chance(seed) })
      const other = playHistory(acts, { isReplaced: true, chance: new Chance(seed) })
      expect(other.view(), `seed ${seed}`).toEqual(one.view())
      if (!habits.versions) expect(one.view().offset, `seed ${seed}`).toBe(inForceOf(one.log))
      conditions += one.log.filter(({ condition, definition }) => condition !== undefined && definition !== undefined).length
    }
    // Otherwise the histories would say nothing about conditions.
    expect(conditions).toBeGreaterThan(histories)
  })
})
