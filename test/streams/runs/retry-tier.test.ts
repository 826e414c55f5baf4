import { describe, expect, it } from 'vitest'
import { tierFor } from '../../../streams/runs/retry-tier.ts'

describe('the delay topic of a backoff', () => {
  it.each([
    [0, undefined],
    [999, undefined],
    [1000, '1s'],
    [4999, '1s'],
    [5000, '5s'],
    [30_000, '30s'],
    [47_000, '30s'],
    [120_000, '2m'],
    [599_999, '2m'],
    [600_000, '10m'],
    [3_600_000, '1h'],
    [86_400_000, '1h'],
  ])('of %i ms is the largest tier not longer than it', (delayMs, name) => {
    expect(tierFor(delayMs)?.name).toBe(name)
  })
})
