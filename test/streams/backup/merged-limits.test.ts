/** Limits that were counted in several partitions hold when their jobs are in one. */
import { expect, it } from 'vitest'
import type { KeyStarts } from '../../../schemas/generated.ts'
import { Chance } from '../../../src/testing/simulation/chance.ts'
import { mergedStarts, restoredJob } from '../../../streams/backup/index.ts'
import { reserveStart, type Starts, startsEntry, startsOf } from '../../../streams/state/starts.ts'
import { randomDefinition } from '../random-definition.ts'
import { JobHistory } from '../runs/history.ts'

it('no window has more starts than the limit, as soon as the merged ones count', () => {
  for (let seed = 0; seed < 300; seed++) {
    const chance = new Chance(seed)
    const [limit, perMs, now] = [chance.int(1, 6), chance.int(1, 2_000), 10_000]
    const given: number[] = []
    const parts: KeyStarts[] = Array.from({ length: chance.int(1, 4) }, () => {
      let starts: Starts | undefined
      for (let at = now - 3_000, left = chance.int(1, 8); left > 0; left--) {
        at += chance.int(0, 400)
        const reserved = reserveStart(starts, { limit, perMs }, at)
        starts = reserved.starts
        given.push(reserved.at)
      }
      return startsEntry(starts as Starts)
    })
    let starts: Starts = startsOf(mergedStarts(parts))
    const later: number[] = []
    for (let wanted = now; later.length < 12; wanted += chance.int(0, 500)) {
      const reserved = reserveStart(starts, { limit, perMs }, wanted)
      starts = reserved.starts
      later.push(reserved.at)
    }
    for (const at of later) {
      const within = [...given, ...later].filter((other) => other > at - perMs && other <= at)
      // Starts of different partitions may have been more than the limit already; none is added to them.
      expect(within.length, `seed ${seed}`).toBeLessThanOrEqual(limit)
    }
  }
})

it('starts count as given when the last of them were', () => {
  const starts = (givenAt: number): KeyStarts => ({ lastAt: 5, gaps: [], limit: 1, perMs: 1_000, givenAt })
  expect(mergedStarts([starts(9), starts(7)]).givenAt).toBe(9)
})

it('the slots of a key are those that runs hold and wait for', () => {
  let held = 0
  for (let seed = 0; seed < 300; seed++) {
    const chance = new Chance(seed)
    const history = new JobHistory()
    history.others = { held: chance.int(0, 2), waiting: 0 }
    history.define({
      ...randomDefinition(chance, 0),
      concurrencyKey: 'k',
      concurrencyLimit: 2,
      schedule: { everyMs: 500 } as never,
      startAt: null,
      endAt: null,
      jitterMs: 0,
      paused: false,
    })
    history.until(chance.int(500, 3_000))
    const { job } = history
    const { state, slots } = restoredJob(
      { id: 'job', definition: job.definition, state: job.state, runs: [], snapshots: history.snapshots, events: [] },
      7,
    )
    const holds = (state?.active ?? []).filter(
      ({ status, waitsFor }) => ['DISPATCHED', 'RUNNING'].includes(status) || waitsFor === 'RATE',
    )
    const waits = (state?.active ?? []).filter(({ waitsFor }) => waitsFor === 'SLOT')
    expect([slots[0]?.held ?? 0, slots[0]?.waiting ?? 0]).toEqual([holds.length, waits.length])
    held += waits.length
  }
  expect(held).toBeGreaterThan(10)
})
