/** Which pools are paused by the records of the topic `pauses`. */
import { expect, it } from 'vitest'
import { PausedPools } from '../../../src/tools/auditor/reading/paused-pools.ts'

it('a pool is paused from its record to its tombstone, and a grace longer; other keys are no pools', () => {
  const pools = new PausedPools(1_000)
  const note = (key: string | null, value: string | null, timestampMs: number): void =>
    pools.note({ key: key === null ? null : Buffer.from(key), value: value === null ? null : Buffer.from(value), timestampMs })
  note('pool/a', 'paused', 100)
  note('worker/b', 'paused', 100)
  note(`pool/${'c'.repeat(65)}`, 'paused', 100)
  note(null, 'paused', 100)
  expect(['a', 'b', 'c'.repeat(65), ''].map((pool) => pools.isPaused(pool, 100_000))).toEqual([true, false, false, false])
  note('pool/a', null, 5_000)
  expect([pools.isPaused('a', 6_000), pools.isPaused('a', 6_001)]).toEqual([true, false])
})
