/** What happens to the next occurrence when the rules of a time zone change: each line of the table in ADR 0040. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { mayMove } from '../../../streams/runs/zone-change.ts'
import { intlRules, type ZoneRules } from '../../../streams/schedules/zone.ts'
import { putRules, rulesAs, rulesWithChange } from '../../tools/zone-rules.ts'
import { JobHistory } from './history.ts'

/** In 2026 Vancouver stays at -07:00. By the earlier rules it returned to -08:00 each November. */
const summer = intlRules
const winter = rulesAs({ 'America/Vancouver': 'America/Los_Angeles' })
const timezone = 'America/Vancouver'
const hour = 3_600_000
const at = (iso: string): number => Date.parse(iso)
const isos = (times: readonly number[]): string[] => times.map((time) => new Date(time).toISOString().slice(0, 16))

type Definition = Partial<JobDefinitionInput>

/** Uses `before` until `changeAt`, then `after`. The owner checks the job at once. */
function history(cron: string, before: ZoneRules, changeAt: string, after: ZoneRules, more: Definition = {}): JobHistory {
  const job = new JobHistory({ worker: { type: 'SUCCEEDED' } })
  job.now = at('2026-12-01T12:00Z')
  putRules(before)
  job.define({ schedule: { cron, timezone }, ...more }).until(at(changeAt))
  putRules(after)
  job.zonesMayDiffer = true
  return job
}

describe('an occurrence that ran does not run again because its time on the clock comes later', () => {
  // 02:30 is 09:30 UTC by the rules of all-year summer time, and 10:30 UTC by the rules with winter time.
  it('that day, whenever in between the rules come', () => {
    for (const changeAt of ['2026-12-03T09:30Z', '2026-12-03T10:00Z', '2026-12-03T10:30Z', '2026-12-03T23:00Z']) {
      const job = history('30 2 * * *', summer, changeAt, winter).lookAtZone().until(at('2026-12-05T12:00Z'))
      expect(isos(job.fired), changeAt).toEqual(['2026-12-02T09:30', '2026-12-03T09:30', '2026-12-04T10:30', '2026-12-05T10:30'])
      expect(job.skips).toEqual({})
    }
  })
  it('and the next ones of the day do run', () => {
    const job = history('30 1,2,3 * * *', summer, '2026-12-02T10:00Z', winter).lookAtZone().until(at('2026-12-03T12:00Z'))
    // By the old rules 08:30 UTC is 01:30 and 09:30 UTC is 02:30. By the new rules 11:30 UTC is 03:30.
    expect(isos(job.fired)).toEqual([
      ...['2026-12-02T08:30', '2026-12-02T09:30', '2026-12-02T11:30'],
      ...['2026-12-03T09:30', '2026-12-03T10:30', '2026-12-03T11:30'],
    ])
  })
})

it('a job is done if the rules put its last occurrence after its end', () => {
  const job = history('30 2 * * *', summer, '2026-12-03T06:00Z', winter, { endAt: at('2026-12-03T10:00Z') })
  expect(job.state.nextFireAt).toBe(at('2026-12-03T09:30Z'))
  expect(job.lookAtZone().state).toMatchObject({ status: 'COMPLETED', nextFireAt: null, finishedAt: at('2026-12-03T06:00Z') })
  expect(job.until(at('2026-12-05T12:00Z')).fired).toHaveLength(1)
})

it('only calendars in a named zone can move, and only of valid jobs', () => {
  const may = (schedule: JobDefinitionInput['schedule']): boolean =>
    mayMove(new JobHistory().define({ schedule }).job.definition?.spec)
  expect([may({ cron: '0 9 * * *', timezone }), may({ cron: '0 9 * * *', timezone: 'UTC' }), may({ everyMs: 1_000 })]).toEqual([
    true,
    false,
    false,
  ])
  expect(mayMove(undefined)).toBe(false)
  putRules(summer)
  const still = new JobHistory().define({ schedule: { everyMs: 1_000 } })
  still.zonesMayDiffer = true
  expect(still.lookAtZone().last).toMatchObject({ extraTimers: [], notes: [] })
  expect(still.garble().lookAtZone().last).toMatchObject({ extraTimers: [], notes: [] })
})

describe('an occurrence that comes earlier', () => {
  it('and is moved counts once; with jitter too', () => {
    for (const jitterMs of [0, 600_000]) {
      const job = history('30 2 * * *', winter, '2026-12-03T06:00Z', summer, { jitterMs }).lookAtZone()
      expect(job.last.notes).toEqual([{ kind: 'moved' }])
      expect(job.state.nextFireAt).toBe(at('2026-12-03T09:30Z'))
      const { state } = job
      expect(job.lookAtZone().last.notes).toEqual([])
      expect(job.state).toBe(state)
    }
  })
  it('and is still ahead runs at its new time', () => {
    const job = history('30 2 * * *', winter, '2026-12-03T06:00Z', summer).lookAtZone().until(at('2026-12-04T12:00Z'))
    expect(isos(job.fired)).toEqual(['2026-12-02T10:30', '2026-12-03T09:30', '2026-12-04T09:30'])
  })
  it.each<[JobDefinitionInput['catchUp'], string[], Record<string, number>]>([
    ['LATEST', ['2026-12-02T10:30', '2026-12-03T09:30', '2026-12-04T09:30'], {}],
    ['SKIP', ['2026-12-02T10:30', '2026-12-04T09:30'], { 'catch-up': 1 }],
    ['ALL', ['2026-12-02T10:30', '2026-12-03T09:30', '2026-12-04T09:30'], {}],
  ])('and is past follows the catch-up policy %s', (catchUp, fired, skips) => {
    const job = history('30 2 * * *', winter, '2026-12-03T10:00Z', summer, { catchUp })
      .lookAtZone()
      .until(at('2026-12-04T12:00Z'))
    expect(isos(job.fired)).toEqual(fired)
    expect(job.skips).toEqual(skips)
  })
  it('and lies before the last run is skipped and counted, so times ascend', () => {
    // 10:40 UTC is 02:40 by the old rules and 03:40 by the new ones. The times from 02:45 to 03:30 had passed before it.
    const job = history('*/10 1-3 * * *', winter, '2026-12-02T10:45Z', summer).lookAtZone().until(at('2026-12-03T00:00Z'))
    expect(isos(job.fired).slice(-3)).toEqual(['2026-12-02T10:30', '2026-12-02T10:40', '2026-12-02T10:50'])
    expect(job.skips).toEqual({ 'zone-rules': 5 })
    expect(job.state.decisions.at(-1)).toMatchObject({
      what: 'SKIPPED',
      reason: 'zone-rules',
      count: 5,
      at: at('2026-12-02T10:45Z'),
      scheduledFor: at('2026-12-02T10:50Z'),
    })
  })
})

describe('a job before its check', () => {
  it('is checked when it is due by the old rules', () => {
    const late = history('30 2 * * *', summer, '2026-12-03T09:00Z', winter).until(at('2026-12-04T12:00Z'))
    expect(isos(late.fired)).toEqual(['2026-12-02T09:30', '2026-12-03T10:30', '2026-12-04T10:30'])
  })
  it('runs once if it was due already', () => {
    const job = history('30 2 * * *', winter, '2026-12-03T10:00Z', summer).until(at('2026-12-04T12:00Z')).lookAtZone()
    expect(isos(job.fired)).toEqual(['2026-12-02T10:30', '2026-12-03T09:30', '2026-12-04T09:30'])
  })
  it('keeps its place while it is paused', () => {
    const job = history('30 2 * * *', summer, '2026-12-02T12:00Z', summer).command('PAUSE')
    putRules(winter)
    job.lookAtZone().until(at('2026-12-03T09:45Z')).command('RESUME').until(at('2026-12-03T12:00Z'))
    expect(isos(job.fired)).toEqual(['2026-12-02T09:30', '2026-12-03T10:30'])
  })
  it('keeps its place while its definition is invalid', () => {
    const job = history('30 2 * * *', summer, '2026-12-02T12:00Z', summer).garble()
    putRules(winter)
    job.lookAtZone()
    job.zonesMayDiffer = false
    job.define({ schedule: { cron: '30 2 * * *', timezone } }).until(at('2026-12-03T12:00Z'))
    expect(isos(job.fired)).toEqual(['2026-12-02T09:30', '2026-12-03T10:30'])
  })
})

describe('what stays unchanged', () => {
  it.each<[string, Definition]>([
    ['an interval', { schedule: { everyMs: 24 * hour } }],
    ['a time in UTC', { schedule: { cron: '30 2 * * *' } }],
    ['a zone whose rules stay', { schedule: { cron: '30 2 * * *', timezone: 'Europe/Paris' } }],
    ['what goes by elapsed time', { schedule: { cron: '30 * * * *', timezone } }],
    ['a rule of hours', { schedule: { rrule: 'FREQ=HOURLY;INTERVAL=5', timezone } }],
  ])('%s', (_, definition) => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } })
    job.now = at('2026-12-01T12:00Z')
    putRules(winter)
    job.define(definition).until(at('2026-12-04T00:00Z'))
    const { state } = job
    putRules(summer)
    job.zonesMayDiffer = true
    job.lookAtZone()
    expect(job.state).toBe(state)
    expect(job.last.extraTimers).toEqual([])
  })
  it('a repeated check, as after a crash', () => {
    const job = history('30 1,2,3 * * *', summer, '2026-12-02T10:00Z', winter).lookAtZone()
    const { state } = job
    job.lookAtZone().lookAtZone()
    expect(job.state).toBe(state)
  })
})

describe('times that a change of the clock omits or repeats', () => {
  const gapAt = at('2026-12-03T10:00Z')
  // At that instant clocks show 02:00, and are set to 03:00.
  const withGap = rulesWithChange(timezone, -8 * hour, gapAt, -7 * hour)
  it('a time that the new rules omit is moved by dstGap, and its earlier run is not repeated', () => {
    const moved = history('30 2 * * *', winter, '2026-12-03T08:00Z', withGap).lookAtZone().until(at('2026-12-04T12:00Z'))
    expect(isos(moved.fired)).toEqual(['2026-12-02T10:30', '2026-12-03T10:00', '2026-12-04T09:30'])
    const ran = history('30 2 * * *', winter, '2026-12-03T10:45Z', withGap).lookAtZone().until(at('2026-12-04T12:00Z'))
    expect(isos(ran.fired)).toEqual(['2026-12-02T10:30', '2026-12-03T10:30', '2026-12-04T09:30'])
  })
  it('a time that the old rules moved out of a gap is at its place without that gap', () => {
    const ahead = history('30 2 * * *', withGap, '2026-12-03T08:00Z', winter).lookAtZone().until(at('2026-12-04T12:00Z'))
    expect(isos(ahead.fired)).toEqual(['2026-12-02T10:30', '2026-12-03T10:30', '2026-12-04T10:30'])
    const ran = history('30 2 * * *', withGap, '2026-12-03T10:10Z', winter).lookAtZone().until(at('2026-12-04T12:00Z'))
    expect(isos(ran.fired)).toEqual(['2026-12-02T10:30', '2026-12-03T10:00', '2026-12-04T10:30'])
  })
  it('a time that the old rules omitted, by SKIP, comes if the new ones have it', () => {
    const schedule = { cron: '30 2 * * *', timezone, dstGap: 'SKIP' as const }
    const job = history('30 2 * * *', withGap, '2026-12-03T08:00Z', winter, { schedule })
      .lookAtZone()
      .until(at('2026-12-04T12:00Z'))
    expect(isos(job.fired)).toEqual(['2026-12-02T10:30', '2026-12-03T10:30', '2026-12-04T10:30'])
  })
  it('a time that the new rules repeat does not run again', () => {
    const back = rulesWithChange(timezone, -7 * hour, at('2026-12-03T10:00Z'), -8 * hour)
    const job = history('30 2 * * *', summer, '2026-12-03T09:45Z', back).lookAtZone().until(at('2026-12-04T12:00Z'))
    expect(isos(job.fired)).toEqual(['2026-12-02T09:30', '2026-12-03T09:30', '2026-12-04T10:30'])
  })
})

describe('a job without decisions', () => {
  it('fires by the rules in force, and its timer is set again', () => {
    const job = history('30 2 * * *', summer, '2026-12-02T01:00Z', winter).lookAtZone().until(at('2026-12-03T12:00Z'))
    expect(isos(job.fired)).toEqual(['2026-12-02T10:30', '2026-12-03T10:30'])
  })
})
