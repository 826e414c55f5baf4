import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { attemptsMax } from '../../src/program/demo/ci-job.ts'
import { dayMs, dayStart, periodicJobsOf, planDay, totalsOf } from '../../src/program/demo/day-plan.ts'

const ndjson = readFileSync(new URL('../../examples/kubernetes-ci-periodics.ndjson', import.meta.url), 'utf8')
const jobs = periodicJobsOf(ndjson)
const plan = planDay(jobs, 60_000)

describe('the day of the demo', () => {
  it('has 1,802 occurrences of 688 jobs, each with an id of its own', () => {
    expect(jobs).toHaveLength(688)
    expect(plan).toHaveLength(1_802)
    expect(new Set(plan.map(({ id }) => id)).size).toBe(1_802)
  })
  it('places each within the minute, at 1/1440 of its distance from the start of the day, in order', () => {
    for (const { nominalAt, delayMs } of plan) {
      expect(nominalAt).toBeGreaterThanOrEqual(dayStart)
      expect(nominalAt).toBeLessThan(dayStart + dayMs)
      expect(delayMs).toBe(Math.floor((nominalAt - dayStart) / 1_440))
    }
    expect(plan.map(({ delayMs }) => delayMs)).toEqual(plan.map(({ delayMs }) => delayMs).sort((a, b) => a - b))
  })
  it('gives a job each occurrence of its schedule', () => {
    const delaysOf = (name: string): number[] => plan.filter(({ job }) => job.name === name).map(({ nominalAt }) => nominalAt)
    const hour = 3_600_000
    expect(delaysOf('ci-containerd-build')).toEqual([dayStart + 6 * hour, dayStart + 18 * hour])
    const fourHourly = delaysOf('ci-etcd-e2e-arm64')
    expect(fourHourly).toHaveLength(6)
    expect(new Set(fourHourly.slice(1).map((at, index) => at - (fourHourly[index] ?? 0)))).toEqual(new Set([4 * hour]))
  })
  it('is the same each time', () => {
    expect(planDay(periodicJobsOf(ndjson), 60_000)).toEqual(plan)
  })
  it('knows the outcome of each run: some retried, a few dead, most successful at once', () => {
    expect(totalsOf(plan)).toEqual({ occurrences: 1_802, succeeded: 1_791, retried: 171, dead: 11 })
  })
  it('contains every outcome: 1 to 4 attempts, dead after all of them and dead at once', () => {
    const fates = plan.map(({ fate }) => fate)
    for (const attempts of [1, 2, 3, 4]) expect(fates.some((fate) => fate.attempts === attempts && !fate.dead)).toBe(true)
    expect(fates.some(({ dead, attempts }) => dead && attempts === attemptsMax)).toBe(true)
    expect(fates.some(({ hopeless, attempts }) => hopeless && attempts === 1)).toBe(true)
  })
})

describe('the periodic jobs', () => {
  it('name the line that is wrong', () => {
    const right = '{"name":"a","group":"g","cluster":"c","schedule":{"everyMs":1000}}'
    expect(() => periodicJobsOf(`${right}\n{`)).toThrow(/^Line 2 /)
    expect(() => periodicJobsOf(`${right}\n\n7`)).toThrow(/^Line 3 .*not a JSON object/)
    expect(() => periodicJobsOf('{"name":"a","schedule":{"cron":"61 * * * *"}}')).toThrow(/^Line 1 /)
  })
})
