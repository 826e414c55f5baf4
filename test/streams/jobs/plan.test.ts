import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { planJob } from '../../../streams/jobs/plan.ts'
import { pristineState } from '../../../streams/state/draft.ts'
import type { Job } from '../../../streams/state/job.ts'

const hour = 3_600_000
const now = Date.UTC(2030, 0, 1)
const range = { from: now, to: now + 24 * hour, max: 1_000 }
const target = { handler: 'noop' }

const definition = (schedule: JobDefinitionInput['schedule'], more: Partial<JobDefinitionInput> = {}) =>
  completeDefinition({ schedule, target, ...more })
const jobOf = (schedule: JobDefinitionInput['schedule'], more: Partial<JobDefinitionInput> = {}, state?: object): Job => {
  const job: Job = {
    id: 'a',
    definition: { offset: 5, appendedAt: now, bytes: Buffer.alloc(0), spec: definition(schedule, more) },
  }
  return state === undefined ? job : { ...job, state: { ...pristineState(job), ...state } }
}
const atHours = (...hours: number[]) => hours.map((of) => now + of * hour)

describe('planJob', () => {
  it('adds all times of a job that is new', () => {
    const plan = planJob({ id: 'a' }, definition({ cron: '0 */6 * * *', timezone: 'UTC' }), range)
    expect(plan).toMatchObject({ action: 'CREATE', changed: [], reason: null })
    expect(plan.fires).toEqual({ added: atHours(6, 12, 18), removed: [], moved: [], kept: 0, until: range.to })
  })

  it('changes nothing if the same definition is in force, even with a delay', () => {
    const plan = planJob(jobOf({ delayMs: 5 * hour }), definition({ delayMs: 5 * hour }), range)
    expect(plan).toMatchObject({ action: 'UNCHANGED', fires: { added: [], removed: [], moved: [], kept: 1 } })
  })

  it('pairs a removed time with the next added one as moved', () => {
    const plan = planJob(jobOf({ at: now + 2 * hour }), definition({ at: now + 5 * hour }), range)
    expect(plan).toMatchObject({ action: 'UPDATE', changed: ['schedule'] })
    expect(plan.fires).toMatchObject({ added: [], removed: [], moved: [{ from: now + 2 * hour, to: now + 5 * hour }], kept: 0 })
    const daily = (cron: string) => ({ cron, timezone: 'UTC' })
    const twice = planJob(jobOf(daily('0 9,21 * * *')), definition(daily('0 8,20 * * *')), range)
    expect(twice.fires.moved).toEqual([
      { from: now + 9 * hour, to: now + 8 * hour },
      { from: now + 21 * hour, to: now + 20 * hour },
    ])
  })

  it('lists the times that stay, go and come', () => {
    const plan = planJob(
      jobOf({ cron: '0 * * * *', timezone: 'UTC' }),
      definition({ cron: '0 6,12,18 * * *', timezone: 'UTC' }),
      range,
    )
    expect(plan.fires).toMatchObject({ added: [], moved: [], kept: 3 })
    expect(plan.fires.removed).toEqual(atHours(...Array.from({ length: 23 }, (_, index) => index + 1).filter((of) => of % 6 > 0)))
  })

  it('keeps the phase of an interval if its times stay the same, as the core does', () => {
    const before = jobOf({ everyMs: 6 * hour }, { tags: ['old'] }, { anchorAt: now - hour, nextFireAt: now + 5 * hour })
    const plan = planJob(before, definition({ everyMs: 6 * hour }, { tags: ['new'] }), range)
    expect(plan).toMatchObject({ action: 'UPDATE', changed: ['tags'] })
    expect(plan.fires).toMatchObject({ added: [], removed: [], moved: [], kept: 4 })
  })

  it('counts no times of a paused job, and all if it continues', () => {
    const cron = { cron: '0 */6 * * *', timezone: 'UTC' }
    expect(planJob(jobOf(cron), definition(cron, { paused: true }), range).fires.removed).toEqual(atHours(6, 12, 18))
    expect(planJob(jobOf(cron, { paused: true }), definition(cron), range).fires.added).toEqual(atHours(6, 12, 18))
    const byCommand = jobOf(cron, {}, { status: 'PAUSED', pausedByCommand: true })
    expect(planJob(byCommand, definition({ cron: '0 1 * * *', timezone: 'UTC' }), range).fires.added).toEqual([])
  })

  it('stops at maxRuns and at expireAt', () => {
    const left = planJob(
      jobOf({ everyMs: hour }, {}, { scheduledRuns: 7 }),
      definition({ everyMs: hour }, { maxRuns: 10 }),
      range,
    )
    expect(left.fires.kept + left.fires.added.length).toBe(3)
    const until = planJob({ id: 'a' }, definition({ everyMs: hour }, { expireAt: now + 3 * hour }), range)
    expect(until.fires.added).toEqual(atHours(1, 2, 3))
  })

  it('gives the reason if a definition would be dropped', () => {
    const plan = planJob(jobOf({ at: now + hour }, { version: 9 }), definition({ at: now + 2 * hour }, { version: 8 }), range)
    expect(plan).toMatchObject({
      action: 'DROPPED',
      reason: 'stale-version',
      fires: { kept: 1, added: [], removed: [], moved: [] },
    })
  })

  it('compares only as far as both sides are known', () => {
    const plan = planJob(jobOf({ everyMs: 1_000 }), definition({ everyMs: 500 }), { ...range, max: 10 })
    expect(plan.fires.until).toBeLessThan(now + 11_000)
    expect(plan.fires.removed).toEqual([])
  })
})
