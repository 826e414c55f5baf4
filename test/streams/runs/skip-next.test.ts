/** The next occurrence is skipped by a command. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { whyOf } from '../../../streams/jobs/reasons.ts'
import { pristineState } from '../../../streams/state/draft.ts'
import { JobHistory } from './history.ts'

const nextOf = ({ job }: JobHistory): number | null => (job.state ?? pristineState(job)).nextFireAt
const skipped = (job: JobHistory, from = nextOf(job)): JobHistory => job.command('CANCEL_RUN', { from })
const every = (more: Partial<JobDefinitionInput> = {}, options = {}): JobHistory =>
  new JobHistory(options).define({ schedule: { everyMs: 1_000 }, ...more })

describe('a skip of the next occurrence', () => {
  it('leaves it out, counts it and says why, and the schedule goes on', () => {
    const job = skipped(every().until(1_000)).until(4_000)
    expect(job.fired).toEqual([1_000, 3_000, 4_000])
    expect(job.state.skipped).toBe(1)
    expect(whyOf(job.job, 4_000).map(({ text }) => text)).toContain(
      'An occurrence was skipped (due 1970-01-01T00:00:02.000Z): a command requested it.',
    )
  })
  it.each<[string, Partial<JobDefinitionInput>, number[]]>([
    ['cron', { schedule: { cron: '*/2 * * * * *' } }, [4_000, 6_000]],
    ['a rule, whose COUNT it uses', { schedule: { rrule: 'FREQ=SECONDLY;COUNT=3', dtstart: 1_000 } }, [2_000, 3_000]],
    ['jitter', { schedule: { everyMs: 1_000 }, jitterMs: 100 }, [2_000, 3_000, 4_000, 5_000, 6_000]],
  ])('is possible with %s', (_, definition, expected) => {
    expect(skipped(new JobHistory().define(definition)).until(6_500).fired).toEqual(expected)
  })
  it('counts an interval from END from the skipped time', () => {
    const job = skipped(every({ schedule: { everyMs: 1_000, from: 'END' } }, { worker: { type: 'SUCCEEDED' } }))
    expect(job.state.nextFireAt).toBe(2_000)
    expect(job.until(2_000).fired).toEqual([2_000])
  })
  it('of the last one completes the job', () => {
    const job = skipped(new JobHistory().define({ schedule: { at: 1_000 } }))
    expect(job.state).toMatchObject({ status: 'COMPLETED', runNo: 0, skipped: 1 })
    expect(job.until(2_000).fired).toEqual([])
  })
  it('names its occurrence: a command that arrives after it has fired, or twice, skips no other', () => {
    const job = skipped(every().until(1_000), 1_000)
    expect(job.state).toMatchObject({ skipped: 0, nextFireAt: 2_000, decisions: [{ what: 'DROPPED', reason: 'not-the-next' }] })
    skipped(skipped(job), 2_000)
    expect(job.state).toMatchObject({ skipped: 1, nextFireAt: 3_000 })
  })
  it('ends the wait of an occurrence that waits for an active run', () => {
    const job = every({ catchUp: 'ALL', maxConcurrentRuns: 1 }).until(2_000)
    expect(job.state).toMatchObject({ waiting: true, nextFireAt: 2_000 })
    expect(skipped(job).state).toMatchObject({ waiting: false, nextFireAt: 3_000, skipped: 1 })
    expect(job.report('SUCCEEDED').until(3_000).fired).toEqual([1_000, 3_000])
  })
  it('holds while the job is paused, and is refused for a completed one', () => {
    const job = skipped(every().command('PAUSE')).command('RESUME').until(2_000)
    expect(job.fired).toEqual([2_000])
    const done = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define().until(1_000)
    expect(skipped(done, 1_000).state.decisions.at(-1)).toMatchObject({ what: 'DROPPED', reason: 'not-the-next' })
  })
  it('lets a backfill go on that has left it a place', () => {
    const job = new JobHistory()
    job.now = 5_500
    job.define({ schedule: { everyMs: 1_000, anchor: 0 }, maxConcurrentRuns: 1 })
    job.command('BACKFILL', { from: 1_000, to: 5_000 }).until(6_000).report('SUCCEEDED', { runNo: 1 })
    expect(job.state.active).toHaveLength(0)
    expect(skipped(job).dispatched.map(({ scheduledFor }) => scheduledFor)).toEqual([1_000, 2_000])
  })
})
