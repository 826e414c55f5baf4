/** The answer to an operator who asks why a job did or did not fire. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { type Reason, whyOf } from '../../../streams/jobs/reasons.ts'
import { JobHistory } from '../runs/history.ts'

type Definition = Partial<JobDefinitionInput>
const every = (more: Definition = {}): JobHistory => new JobHistory().define({ schedule: { everyMs: 1_000 }, ...more })
const why = (job: JobHistory): Reason[] => whyOf(job.job, job.now)
const codes = (job: JobHistory): string[] => why(job).map(({ code }) => code)

describe('the present state', () => {
  it.each<[string, JobHistory, Partial<Reason>]>([
    ['nothing decided yet', every(), { code: 'scheduled', at: 1_000, text: 'The next occurrence is due in 1 s.' }],
    ['paused by command', every().command('PAUSE'), { code: 'paused', text: expect.stringContaining('by a command') }],
    ['paused by definition', every({ paused: true }), { code: 'paused', text: expect.stringContaining('by its definition') }],
    ['a bad definition', new JobHistory().garble('No cron.'), { code: 'invalid', text: expect.stringContaining('No cron.') }],
    ['a bad update', every().until(1_000).garble('No cron.'), { code: 'invalid', text: expect.stringContaining('No cron.') }],
    ['completed', every({ endAt: 1_000 }).until(1_000).report('SUCCEEDED'), { code: 'completed', at: 1_000 }],
    ['no occurrence at all', every({ endAt: 5 }), { code: 'completed' }],
    ['queued', every({ overlap: 'QUEUE_ONE' }).until(2_000), { code: 'queued', at: 2_000 }],
    ['waiting', every({ maxConcurrentRuns: 1, catchUp: 'ALL' }).until(2_000), { code: 'waiting', at: 2_000 }],
    [
      'active',
      every({ schedule: { at: 1_000 } }).until(1_000),
      { code: 'active', at: 1_000, text: 'Run 1 is dispatched to the workers.' },
    ],
    [
      'backfill',
      every({ overlap: 'SKIP' }).until(5_000).command('BACKFILL', { from: 1_000, to: 4_000 }),
      { code: 'backfill', at: 1_000 },
    ],
  ])('is shown for %s', (_, job, reason) => {
    expect(why(job)).toContainEqual(expect.objectContaining(reason))
  })
  it('says since when a pause misses occurrences, and what is counted together', () => {
    const job = every().command('PAUSE')
    expect(why(job)[0]?.text).toMatch(/then catchUp decides about missed occurrences\.$/)
    job.now = 3_500
    expect(why(job)[0]?.text).toMatch(/about the occurrences missed since 1970-01-01T00:00:01\.000Z\.$/)
    const skipped = every({ overlap: 'SKIP' }).until(4_000)
    expect(why(skipped).at(-1)?.text).toContain('3 occurrences were skipped (the first was due 1970-01-01T00:00:02.000Z)')
  })
  it('says when an INVALID job is checked again', () => {
    const job = new JobHistory({ poolProblem: () => 'Pool gpu has no topics.' }).define()
    expect(why(job)[0]?.text).toMatch(/Pool gpu has no topics\. It is checked again in 5 s, or when it is sent again\.$/)
  })
  it('says that older dead runs are no longer kept', () => {
    const job = every({ retry: { maxAttempts: 1 }, payload: Buffer.alloc(500_000) })
    for (let run = 0; run < 11; run++) job.until(job.now + 1_000).fail()
    expect(why(job)).toContainEqual({
      code: 'dead-runs-dropped',
      at: null,
      text: '1 older dead run can no longer be redriven. Its record is in the topic executions.dlq.',
    })
  })
  it('shows overdue occurrences', () => {
    const job = every()
    job.now = 1_500
    expect(why(job)[0]?.text).toBe('The next occurrence is due now.')
  })
})

describe('decisions against a run', () => {
  const failing = { retry: { maxAttempts: 1 } }
  const cases: [reason: string, what: string, job: JobHistory][] = [
    ['catch-up', 'SKIPPED', every({ catchUp: 'SKIP' }).downUntil(9_500)],
    ['overlap', 'SKIPPED', every({ overlap: 'SKIP' }).until(2_000)],
    ['overlap', 'QUEUED', every({ overlap: 'QUEUE_ONE' }).until(2_000)],
    ['overlap', 'CANCELLED', every({ overlap: 'CANCEL_PREVIOUS' }).until(2_000)],
    ['max-concurrent-runs', 'SKIPPED', every({ maxConcurrentRuns: 1 }).until(2_000)],
    ['max-concurrent-runs', 'WAITING', every({ maxConcurrentRuns: 1, catchUp: 'ALL' }).until(2_000)],
    ['expired', 'SKIPPED', every({ expireAt: 500 }).until(1_000)],
    ['command', 'CANCELLED', every().until(1_000).command('CANCEL_RUN', { runNo: 1 })],
    ['command', 'CANCELLED', every().command('CANCEL')],
    ['attempts', 'DEAD', every(failing).until(1_000).fail()],
    ['not-retryable', 'DEAD', every().until(1_000).fail('Error', { retryable: false })],
    [
      'max-age',
      'DEAD',
      every({ retry: { maxAgeMs: 1 } })
        .until(1_000)
        .fail(),
    ],
    ['start-deadline', 'EXPIRED', every({ startDeadlineMs: 1_000, endAt: 1_000 }).until(7_000)],
    ['topic-retention', 'EXPIRED', keptBriefly().until(9_000_000)],
    ['stale-version', 'DROPPED', every({ version: 2 }).define({ version: 1 })],
    ['duplicate', 'DROPPED', every({ dedupKey: 'k', dedupWindowMs: 9 }).define({ dedupKey: 'k', dedupWindowMs: 9 })],
    ['invalid-definition', 'DROPPED', every().garble().command('TRIGGER')],
    ['no-such-run', 'DROPPED', every().command('CANCEL_RUN', { runNo: 3 })],
    ['no-such-dead-run', 'DROPPED', every().command('REDRIVE', { runNo: 3 })],
    ['backfill-active', 'DROPPED', backfilling().command('BACKFILL', { from: 1_000, to: 4_000 })],
    ['does-not-recur', 'DROPPED', every({ schedule: { at: 9_000 } }).command('BACKFILL', { from: 0, to: 1 })],
    ['empty-range', 'DROPPED', every().until(500).command('BACKFILL', { from: 100, to: 200 })],
  ]
  function keptBriefly(): JobHistory {
    return new JobHistory({ keptMs: 1_000 }).define({ schedule: { at: 1_000 } })
  }
  function backfilling(): JobHistory {
    return every({ overlap: 'SKIP' }).until(5_500).command('BACKFILL', { from: 1_000, to: 4_000 })
  }
  it.each(cases)('for the reason %s (%s) are a sentence', (reason, what, job) => {
    expect(job.state.decisions).toContainEqual(expect.objectContaining({ reason, what }))
    const told = why(job).filter(({ code }) => code === reason)
    expect(told).not.toEqual([])
    for (const { text, at } of told) {
      expect(text).toMatch(/^(An? |The |Run |\d+ occurrences ).{10,}\.$/)
      expect(text).not.toContain(`: ${reason}.`)
      expect(at).not.toBeNull()
    }
  })
  it('name a run that was replaced by a later one', () => {
    const job = every({ overlap: 'CANCEL_PREVIOUS' }).until(2_000)
    expect(why(job).find(({ code }) => code === 'overlap')?.text).toMatch(
      /^Run 1 was cancelled .*: a later occurrence replaced it\.$/,
    )
  })
  it('name follow-ups, and how many', () => {
    const job = every({ maxConcurrentRuns: 1 }).until(1_000)
    for (const commandId of ['x', 'y', 'z']) job.command('TRIGGER', { commandId, trigger: 'FOLLOW_UP' })
    const waiting = '3 follow-ups wait until the job has fewer active runs.'
    expect(why(job)).toContainEqual({ code: 'follow-ups', text: waiting, at: null })
    const text = '3 follow-ups were refused: a command requested it.'
    expect(why(job.command('CANCEL'))).toContainEqual(expect.objectContaining({ code: 'command', text }))
  })
  it('use singular and plural correctly', () => {
    const job = every({ catchUp: 'SKIP' }).downUntil(60_000)
    expect(why(job).find(({ code }) => code === 'catch-up')?.text).toMatch(
      /^\d+ occurrences were skipped .*: missed, and skipped by catchUp\.$/,
    )
  })
  it('count skips in a row', () => {
    const job = every({ overlap: 'SKIP' }).until(4_000)
    expect(why(job).find(({ code }) => code === 'overlap')).toMatchObject({
      at: 4_000,
      text: expect.stringMatching(/^3 occurrences were/),
    })
  })
})

describe('the order', () => {
  it('is the present state, then the last decisions, newest first', () => {
    const job = every({ overlap: 'SKIP' }).until(2_000).command('CANCEL_RUN', { runNo: 9 }).until(2_500)
    expect(codes(job)).toEqual(['scheduled', 'active', 'no-such-run', 'overlap'])
  })
  it('has the last twelve decisions, and the outcome of each command whose repeat is recognized', () => {
    const job = every().command('CANCEL_RUN', { runNo: 99, commandId: 'lost' })
    const asked = () => why(job).filter(({ commandId }) => commandId === 'lost')
    for (let runNo = 1; runNo <= 20; runNo++) job.until(runNo * 1_000).command('CANCEL_RUN', { runNo })
    const cancelled = job.state.decisions.filter(({ what }) => what === 'CANCELLED')
    expect(cancelled.map(({ runNo }) => runNo)).toEqual([9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20])
    expect(asked()).toMatchObject([{ code: 'no-such-run' }])
    // A command that is sent again is recognized, and gets the same answer.
    job.command('CANCEL_RUN', { runNo: 20, commandId: 'lost' })
    expect(asked()).toHaveLength(1)
    for (let runNo = 21; runNo <= 31; runNo++) job.until(runNo * 1_000).command('CANCEL_RUN', { runNo })
    expect([asked().length, job.state.recentCommands.length]).toEqual([1, 32])
    job.until(32_000).command('CANCEL_RUN', { runNo: 32 })
    expect(asked()).toEqual([])
    for (let more = 1; more <= 60; more++) job.command('CANCEL_RUN', { runNo: 1_000 + more })
    expect(job.state.decisions).toHaveLength(32 + 12)
  })
})
