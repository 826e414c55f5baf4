import { describe, expect, it } from 'vitest'
import type { Counts, StatsMessage } from '../../src/answers/answers.ts'
import { ratesBetween, ratesOver } from '../../src/dashboard/model/rates.ts'

const none: Counts = {
  ...{ definitions: 0, dispatched: 0, written: 0, retries: 0, leasesLost: 0, ended: {}, skipped: {} },
  lateness: [
    [10, 0],
    [20, 0],
    [null, 0],
  ],
}
const stats = (at: number, counts: Partial<Counts> = {}): StatsMessage => ({ at, counts: { ...none, ...counts }, partitions: [] })

describe('rates between two stats messages', () => {
  it('are counted per second', () => {
    const later = stats(3_000, { dispatched: 30, written: 10, retries: 4, ended: { SUCCEEDED: 18, DEAD: 2 } })
    expect(ratesBetween(stats(1_000), later)).toMatchObject({
      firesPerSecond: 20,
      endsPerSecond: 10,
      retriesPerSecond: 2,
      dead: 2,
      p50Ms: undefined,
    })
  })

  it('are undefined when counts have fallen, because a process has ended', () => {
    expect(ratesBetween(stats(1_000, { dispatched: 5 }), stats(2_000))).toBeUndefined()
    expect(ratesBetween(stats(1_000), stats(1_000))).toBeUndefined()
  })

  it('cover at most the given window', () => {
    const messages = [0, 1_000, 2_000, 3_000].map((at) => stats(at, { dispatched: at === 0 ? 0 : 100 + at / 100 }))
    expect(ratesOver(messages, 2_000)?.firesPerSecond).toBe(10)
    expect(ratesOver(messages.slice(0, 1), 2_000)).toBeUndefined()
  })
})
