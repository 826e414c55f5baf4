/** Warnings about definitions that are valid, and hardly mean what they say. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { definitionWarnings, previewOf } from '../../../streams/definitions/preview.ts'
import { definitionOf } from '../jobs/samples.ts'

const warnings = (input: Partial<JobDefinitionInput>): string[] => definitionWarnings('a', definitionOf(input), 1)

describe('a cron expression with a question mark', () => {
  it.each(['0 0 12 ? * 2-6', '0 12 ? * 1', '0 0 12 ? * 6#3', '0 0 12 ? * MON,3'])('%s: numbers of weekdays differ', (cron) => {
    expect(warnings({ schedule: { cron } })).toEqual([expect.stringContaining('here 1 is Monday')])
    expect(previewOf({ cron }, 0, 1)).toMatchObject({ warnings: warnings({ schedule: { cron } }) })
  })
  it.each(['0 0 12 ? * MON-FRI', '0 0 12 ? * FRI#3', '0 12 1 * ?', '0 12 * * 1-5', '0 12 ? * MON/2'])('%s: nothing', (cron) => {
    expect(warnings({ schedule: { cron } })).toEqual([])
  })
})

describe('a rule with a dtstart', () => {
  const dtstart = Date.UTC(2024, 11, 31)
  it('that it does not name has its first time in a warning', () => {
    const rrule = 'FREQ=YEARLY;BYWEEKNO=1;BYDAY=TU;INTERVAL=2'
    expect(warnings({ schedule: { rrule, dtstart } })).toEqual([
      expect.stringContaining('its first time is 2025-12-30T00:00:00.000Z'),
    ])
  })
  it('that it names, or leaves out by exdates, has none', () => {
    const rrule = 'FREQ=DAILY;BYHOUR=0;BYMINUTE=0;BYSECOND=0'
    expect(warnings({ schedule: { rrule, dtstart } })).toEqual([])
    expect(warnings({ schedule: { rrule, dtstart, exdates: [dtstart] } })).toEqual([])
    expect(warnings({ schedule: { rrule } })).toEqual([])
  })
})

it('a topic target without a payload writes tombstones', () => {
  const target = { topic: { name: 'orders' } }
  expect(warnings({ target })).toEqual([expect.stringContaining('without a value to orders')])
  expect(warnings({ target, payload: Buffer.from('{}') })).toEqual([])
})
