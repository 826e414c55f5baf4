import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dueAtOf, type JitteredSource, latestDue } from '../../../streams/schedules/next-fire.ts'
import { iterated, ms, repeated, source } from './samples.ts'

const hourly = (jitterMs: number): JitteredSource => ({ ...source({ cron: '0 * * * *' }), jitterMs })
const nominal = ms('2030-01-01T10:00:00Z')

describe('jitter', () => {
  it('is zero by default', () => {
    expect(dueAtOf(hourly(0), 0, 'a', nominal)).toBe(nominal)
  })
  it('is always the same for a job and time, and differs for another', () => {
    const spread = (jobId: string, at: number): number => dueAtOf(hourly(600_000), 0, jobId, at) - at
    expect(spread('a', nominal)).toBe(spread('a', nominal))
    const others = [spread('a', nominal), spread('b', nominal), spread('a', nominal + 3_600_000)]
    expect(new Set(others).size).toBe(3)
  })
  it('spreads jobs of one schedule evenly over the whole of it', () => {
    const tenths = new Array<number>(10).fill(0)
    for (let job = 0; job < 10_000; job++) {
      const tenth = Math.floor((dueAtOf(hourly(599_999), 0, `job-${job}`, nominal) - nominal) / 60_000)
      tenths[tenth] = (tenths[tenth] ?? 0) + 1
    }
    for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(150)
  })
  it('is never before the nominal time, beyond jitterMs, or as late as the next nominal time', () => {
    fc.assert(
      fc.property(repeated(), fc.nat(86_400_000), fc.string(), ({ definition, appendedAt, after }, jitterMs, jobId) => {
        const found = iterated(definition, appendedAt, after, 4)
        found.forEach((at, index) => {
          const dueAt = dueAtOf({ ...definition, jitterMs }, appendedAt, jobId, at)
          expect(dueAt).toBeGreaterThanOrEqual(at)
          expect(dueAt).toBeLessThanOrEqual(at + jitterMs)
          expect(dueAt).toBeLessThan(found[index + 1] ?? Number.POSITIVE_INFINITY)
        })
      }),
      { numRuns: 500 },
    )
  })
  it('distinguishes the last due occurrence from those that are only nominal', () => {
    fc.assert(
      fc.property(repeated(), fc.nat(86_400_000), fc.nat(200_000), ({ definition, appendedAt, after }, jitterMs, later) => {
        const jittered = { ...definition, jitterMs }
        const found = iterated(definition, appendedAt, after, 10)
        const now = Math.min((found[0] ?? after) + later, found.at(-1) ?? after)
        const due = found.filter((at) => dueAtOf(jittered, appendedAt, 'a', at) <= now)
        expect(latestDue(jittered, appendedAt, 'a', after, now)).toBe(due.at(-1) ?? null)
      }),
      { numRuns: 500 },
    )
  })
})
