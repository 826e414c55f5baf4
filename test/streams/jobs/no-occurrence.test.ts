/** Jobs that never fire, or not again: which of them are INVALID, which have ended, and what the reason says. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { whyOf } from '../../../streams/jobs/reasons.ts'
import { JobHistory } from '../runs/history.ts'

const yearMs = 365 * 86_400_000
/** In steps of four years from 1970 no year is a leap year; from 1972 each year is. */
const leapDays = { rrule: 'FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29' }
const define = (definition: JobDefinitionInput) => new JobHistory().define(definition)
const target = { handler: 'noop' }
const whyIn = (job: JobHistory): string | undefined => whyOf({ id: 'job', state: job.state, definition: undefined }, 0)[0]?.text

describe('a rule whose interval never meets its other parts', () => {
  it('makes the job INVALID, with a reason that names the beginning and the remedy', () => {
    const job = define({ schedule: leapDays, target })
    const reason =
      /INTERVAL=4.*it begins at 1970-01-01T00:00:00.000Z.*never meets what else it names: give it a dtstart or a startAt; allowed: /
    expect(job.state).toMatchObject({ status: 'INVALID', reason: expect.stringMatching(reason), deleteAt: null })
    expect(job.until(20 * yearMs).dispatched).toEqual([])
  })
  it('is valid from another beginning: its own, or that of a new definition', () => {
    expect(define({ schedule: { ...leapDays, dtstart: 2 * yearMs }, target }).job.state).toBe(undefined)
    const job = define({ schedule: leapDays, target })
    job.until(2 * yearMs + 1)
    expect(job.define({ schedule: leapDays, target }).state).toMatchObject({ status: 'ACTIVE', reason: null })
    job.until(7 * yearMs)
    expect(job.dispatched.map(({ scheduledFor }) => new Date(scheduledFor).toISOString().slice(0, 10))).toEqual([
      '1972-02-29',
      '1976-02-29',
    ])
  })
  it('makes the job INVALID too if its topic was missing at first', () => {
    const topic = { problem: 'Topic out does not exist.' as string | undefined }
    const job = new JobHistory({ topicProblem: () => topic.problem })
    job.define({ schedule: leapDays, target: { topic: { name: 'out' } } })
    expect(job.state).toMatchObject({ status: 'INVALID', reason: topic.problem })
    topic.problem = undefined
    const reason = expect.stringMatching(/never meets what else it names/)
    expect(job.until(yearMs).state).toMatchObject({ status: 'INVALID', reason, deleteAt: null, recheckAt: null })
  })
  it('continues from its beginning when it is sent again in a year that it would not meet', () => {
    const job = new JobHistory()
    job.until(2 * yearMs + 1)
    job.define({ schedule: leapDays, target }).until(3 * yearMs)
    expect(job.define({ schedule: leapDays, target, payload: Buffer.from('1') }).state).toMatchObject({ status: 'ACTIVE' })
    expect(job.until(7 * yearMs).dispatched).toHaveLength(2)
  })
})

describe('a job with nothing to fire because its time is over', () => {
  it.each([
    ['endAt', { schedule: { everyMs: 1_000 }, endAt: 500 }],
    ['UNTIL', { schedule: { rrule: 'FREQ=DAILY;UNTIL=19690101T000000Z' } }],
    ['a delay beyond endAt', { schedule: { delayMs: 1_000 }, endAt: 500 }],
  ])('is COMPLETED by %s, and why shows that it never had an occurrence', (_, definition) => {
    const job = define({ target, ...definition })
    expect(job.state?.status).toBe('COMPLETED')
    expect(whyIn(job)).toMatch(
      /^The job has no occurrence: its schedule, which was accepted at 1970-01-01T00:00:00.000Z, has none after that time/,
    )
  })
  it('has no further occurrence after its run', () => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define({ schedule: { at: 1_000 }, target }).until(5_000)
    expect(whyIn(job)).toBe('The job has no further occurrence.')
  })
})
