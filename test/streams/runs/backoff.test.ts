import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BackoffInput, jobDefinitionSchema, type Retry } from '../../../schemas/generated.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { retryDelayMaxMs, retryDelayMs, tierFor } from '../../../streams/runs/retries.ts'
import { hashFraction } from '../../../streams/text/hashes.ts'

function retryOf(backoff: BackoffInput | undefined, jitter = 0): Retry {
  return completeDefinition({ schedule: { at: 0 }, target: { handler: 'a' }, retry: { backoff, jitter } }).retry
}
const delays = (backoff: BackoffInput | undefined, attempts: number[]): number[] =>
  attempts.map((attempt) => retryDelayMs(retryOf(backoff), attempt, 'job', 1))

describe('the delay before a retry', () => {
  it('follows the default list, whose last entry repeats', () => {
    expect(delays(undefined, [1, 2, 3, 4, 5, 6, 100])).toEqual([1000, 5000, 30_000, 120_000, 600_000, 600_000, 600_000])
  })
  it('is fixed, linear or exponential', () => {
    expect(delays({ fixed: { delayMs: 70 } }, [1, 9])).toEqual([70, 70])
    expect(delays({ linear: { stepMs: 300_000 } }, [1, 2, 3])).toEqual([300_000, 600_000, 900_000])
    expect(delays({ exponential: { baseMs: 100 } }, [1, 2, 3, 4])).toEqual([100, 200, 400, 800])
    expect(delays({ exponential: { baseMs: 100, factor: 1.5, maxMs: 300 } }, [1, 2, 3, 4])).toEqual([100, 150, 225, 300])
  })
  it('is at most a day, also if the growth overflows', () => {
    expect(delays({ linear: { stepMs: 86_400_000 } }, [2, 1000])).toEqual([86_400_000, 86_400_000])
    expect(delays({ exponential: { baseMs: 86_400_000, factor: 100, maxMs: 86_400_000 } }, [999])).toEqual([86_400_000])
  })
  it('may be zero', () => {
    expect(delays({ list: [0] }, [1, 2])).toEqual([0, 0])
  })
  it('has the limit that the schema has for every delay', () => {
    const maxima = [
      ...JSON.stringify(jobDefinitionSchema.fields.find(({ name }) => name === 'retry')).matchAll(
        /"name":"(?:list|delayMs|stepMs|baseMs|maxMs)"[^}]*?"maximum":(\d+)/g,
      ),
    ]
    expect(maxima.length).toBeGreaterThanOrEqual(4)
    for (const [, maximum] of maxima) expect(Number(maximum)).toBe(retryDelayMaxMs)
  })
})

describe('jitter', () => {
  const backoff = fc.oneof(
    fc.record({ list: fc.array(fc.nat(86_400_000), { minLength: 1, maxLength: 5 }) }),
    fc.record({ fixed: fc.record({ delayMs: fc.nat(86_400_000) }) }),
    fc.record({ linear: fc.record({ stepMs: fc.integer({ min: 1, max: 86_400_000 }) }) }),
    fc.record({
      exponential: fc.record({ baseMs: fc.integer({ min: 1, max: 1000 }), factor: fc.double({ min: 1, max: 100, noNaN: true }) }),
    }),
  )
  it('only shortens, by at most its share, and always the same way', () => {
    fc.assert(
      fc.property(
        backoff,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 1000 }),
        fc.string(),
        fc.nat(),
        (backoff, jitter, attempt, jobId, runNo) => {
          const plain = retryDelayMs(retryOf(backoff), attempt, jobId, runNo)
          const spread = retryDelayMs(retryOf(backoff, jitter), attempt, jobId, runNo)
          expect(Number.isInteger(spread)).toBe(true)
          expect(spread).toBeGreaterThanOrEqual(Math.floor(plain * (1 - jitter)) - 1)
          expect(spread).toBeGreaterThanOrEqual(0)
          expect(spread).toBeLessThanOrEqual(plain)
          expect(retryDelayMs(retryOf(backoff, jitter), attempt, jobId, runNo)).toBe(spread)
        },
      ),
      { numRuns: 2000 },
    )
  })
  it('spreads ten thousand runs evenly over the whole delay', () => {
    const buckets = new Array<number>(10).fill(0)
    const retry = retryOf({ fixed: { delayMs: 100_000 } }, 1)
    for (let run = 1; run <= 10_000; run++) {
      const bucket = Math.min(9, Math.floor(retryDelayMs(retry, 1, `job-${run % 100}`, run) / 10_000))
      buckets[bucket] = (buckets[bucket] ?? 0) + 1
    }
    for (const count of buckets) expect(Math.abs(count - 1000)).toBeLessThan(150)
  })
  it('is the same in every version, so a replay makes the same decisions', () => {
    expect(['', 'a', 'job/1/1', 'ü😀'].map((text) => Math.floor(hashFraction(text) * 2 ** 32))).toEqual([
      2872998923, 2448022055, 146020771, 1255708759,
    ])
  })
})

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
