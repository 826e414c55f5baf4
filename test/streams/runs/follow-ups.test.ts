/** Jobs that are triggered when a run of another job ends. */
import { describe, expect, it } from 'vitest'
import type { Cause, JobDefinitionInput } from '../../../schemas/generated.ts'
import { invalidated } from '../../../streams/jobs/step.ts'
import { JobHistory } from './history.ts'

const chained = (more: Partial<JobDefinitionInput> = {}): JobHistory =>
  new JobHistory()
    .define({
      schedule: { everyMs: 1_000 },
      overlap: 'SKIP',
      retry: { maxAttempts: 2 },
      onSuccess: ['a', 'b'],
      onFailure: ['alarm'],
      ...more,
    })
    .until(1_000)
const triggered = (job: JobHistory): string[] => job.out.flatMap((output) => (output.kind === 'trigger' ? [output.jobId] : []))

describe('a run that has ended', () => {
  it.each<[string, (job: JobHistory) => unknown, string[]]>([
    ['succeeded triggers onSuccess', (job) => job.report('SUCCEEDED'), ['a', 'b']],
    ['is dead triggers onFailure', (job) => job.fail('Error', { retryable: false }), ['alarm']],
    ['expired triggers onFailure', (job) => job.until(90_000_000), ['alarm']],
    ['was cancelled triggers nothing', (job) => job.command('CANCEL_RUN', { runNo: 1 }), []],
    ['was cancelled with its job triggers nothing', (job) => job.command('CANCEL'), []],
  ])('and %s', (_, end, expected) => {
    const job = chained({ endAt: 1_000 })
    end(job)
    expect(triggered(job)).toEqual(expected)
  })
  it('triggers in the decision that ends it, so both are logged or neither', () => {
    const job = chained().until(1_400).report('SUCCEEDED')
    expect(job.last.job.state?.succeeded).toBe(1)
    const after = { kind: 'trigger', commandId: 'after:job/1@0-0', at: 1_400, chainDepth: 1, chainLeft: 2_499 }
    expect(job.last.out).toMatchObject([
      { ...after, jobId: 'a' },
      { ...after, jobId: 'b' },
    ])
  })
  it('triggers once: later reports of its worker are stale', () => {
    expect(triggered(chained().report('SUCCEEDED').report('SUCCEEDED').fail())).toEqual(['a', 'b'])
  })
  it('triggers for any kind of run', () => {
    const job = chained({ schedule: { at: 900_000 } })
      .command('TRIGGER')
      .fail('Error', { retryable: false })
      .command('REDRIVE', { runNo: 1 })
    expect(triggered(job.report('SUCCEEDED'))).toEqual(['alarm', 'a', 'b'])
  })
  it('triggers the followers of the definition in force', () => {
    const job = chained()
      .define({ schedule: { everyMs: 1_000 }, onSuccess: ['c'] })
      .report('SUCCEEDED')
    expect(triggered(job)).toEqual(['c'])
  })
  it('gives each run of the job, also of a later one of the same id, a command of its own', () => {
    const job = chained().report('SUCCEEDED').until(2_000).report('SUCCEEDED').remove()
    job
      .define({ schedule: { everyMs: 1_000 }, onSuccess: ['a'] })
      .until(3_000)
      .report('SUCCEEDED')
    const ids = job.out.flatMap((output) => (output.kind === 'trigger' && output.jobId === 'a' ? [output.commandId] : []))
    expect(ids).toEqual(['after:job/1@0-0', 'after:job/2@0-0', expect.stringMatching(/^after:job\/1@2-/)])
  })
})

describe('a run that has not ended', () => {
  it.each<[string, (job: JobHistory) => unknown]>([
    ['started', (job) => job.report('STARTED')],
    ['waits for a retry', (job) => job.fail()],
    ['was given back', (job) => job.report('RELEASED')],
  ])('but %s triggers nothing', (_, act) => {
    const job = chained()
    act(job)
    expect(triggered(job)).toEqual([])
  })
  it('a skipped occurrence triggers nothing either', () => {
    expect(triggered(chained().until(3_000))).toEqual([])
  })
})

describe('a job that follows', () => {
  it('runs, names its trigger, and runs once however often the command comes', () => {
    const job = new JobHistory().define({ schedule: { at: 900_000 } })
    const command = { trigger: 'FOLLOW_UP', commandId: 'after:other/1@0-0' } as const
    job.command('TRIGGER', command).command('TRIGGER', command).report('SUCCEEDED').command('TRIGGER', command)
    expect(job.dispatched).toMatchObject([{ runNo: 1, trigger: 'FOLLOW_UP' }])
    expect(job.state).toMatchObject({ scheduledRuns: 0, succeeded: 1, nextFireAt: 900_000 })
  })
})

describe('the cause of a follow-up', () => {
  const cause: Cause = {
    ...{ jobId: 'job', runNo: 1, life: '0-0', outcome: 'SUCCEEDED', scheduledFor: 1_000, finishedAt: 1_400 },
    ...{ errorType: null, errorMessage: null, result: Buffer.from('{"rows":3}') },
  }
  const failed = { outcome: 'DEAD', finishedAt: 1_000, errorType: 'TypeError', errorMessage: 'It failed at 1000.', result: null }
  const causes = (job: JobHistory): unknown[] => job.out.flatMap((output) => (output.kind === 'trigger' ? [output.cause] : []))

  it('names the run, its outcome, and its result or its error', () => {
    expect(causes(chained().until(1_400).report('SUCCEEDED', { result: cause.result }))).toEqual([cause, cause])
    expect(causes(chained().fail('TypeError', { retryable: false }))).toEqual([{ ...cause, ...failed }])
    const expired = causes(chained({ endAt: 1_000, startDeadlineMs: 5_000 }).until(90_000))
    expect(expired).toMatchObject([{ outcome: 'EXPIRED', errorType: null, result: null }])
  })
  it('goes with each attempt, also after a new definition, and with a redrive', () => {
    const job = new JobHistory().define({ schedule: { at: 900_000 }, payload: Buffer.from('p'), retry: { maxAttempts: 2 } })
    job.command('TRIGGER', { trigger: 'FOLLOW_UP', cause }).fail()
    job
      .define({ schedule: { at: 900_000 }, payload: Buffer.from('q'), retry: { maxAttempts: 2 } })
      .until(100_000)
      .fail()
    job.command('REDRIVE', { runNo: 1 })
    const sent = job.dispatched.map(({ runNo, attempt, payload, ...run }) => [runNo, attempt, String(payload), run.cause])
    expect(sent).toEqual([
      [1, 1, 'p', cause],
      [1, 2, 'p', cause],
      [2, 1, 'p', cause],
    ])
  })
  it('is left out of a record that its topic takes only without it', () => {
    let most = 0
    const topicProblem = (_: unknown, bytes: number) => {
      // That of the definition.
      most ||= bytes + 20
      return bytes > most ? 'too large' : undefined
    }
    const job = new JobHistory({ topicProblem }).define({ schedule: { at: 900_000 }, target: { topic: { name: 't' } } })
    job.command('TRIGGER', { trigger: 'FOLLOW_UP', cause })
    const records = job.out.flatMap((output) => (output.kind === 'record' ? [output.record.headers['duelog-cause']] : []))
    expect(records).toEqual([undefined])
  })
  it('is in the header of a record, and of no other run', () => {
    const job = new JobHistory().define({ schedule: { at: 900_000 }, target: { topic: { name: 't' } } })
    job.command('TRIGGER', { trigger: 'FOLLOW_UP', cause }).command('TRIGGER')
    const headers = job.out.flatMap((output) => (output.kind === 'record' ? [output.record.headers['duelog-cause']] : []))
    expect(headers.map((header) => (header === undefined ? null : JSON.parse(String(header))))).toEqual([
      {
        ...{ jobId: 'job', runNo: 1, life: '0-0', outcome: 'SUCCEEDED', scheduledFor: 1_000, finishedAt: 1_400 },
        ...{ error: null, result: { rows: 3 } },
      },
      null,
    ])
  })
})

describe('follow-ups of a job without a place', () => {
  const trigger = (job: JobHistory, count: number, from = 0): JobHistory => {
    for (let at = from; at < from + count; at++) job.command('TRIGGER', { trigger: 'FOLLOW_UP', commandId: `after:x/${at}@0-0` })
    return job
  }
  const ids = (job: JobHistory): (string | null | undefined)[] =>
    job.dispatched.map(
      ({ runNo }) =>
        job.decisions.flatMap(({ job: { state } }) => state?.active ?? []).find((run) => run.runNo === runNo)?.commandId,
    )
  const idle = { schedule: { at: 9_000_000 }, maxConcurrentRuns: 2 } as const

  it('wait, and run in their order as runs end, each once', () => {
    const job = trigger(new JobHistory().define(idle), 1_000)
    expect(job.state).toMatchObject({ runNo: 2, decisions: [], followUps: { count: 998, lookAt: null } })
    for (let run = 1; run <= 1_000; run++) job.report('SUCCEEDED', { runNo: run }).until(job.now + 1)
    expect(job.state).toMatchObject({ runNo: 1_000, succeeded: 1_000, followUps: null })
    expect(ids(job)).toEqual(Array.from({ length: 1_000 }, (_, at) => `after:x/${at}@0-0`))
    expect(job.pages.size).toBe(0)
  })
  it('are not part of the state: it stays small, and pages hold at most 64 KB and one follow-up more', () => {
    const job = trigger(new JobHistory().define(idle), 2_000)
    expect(JSON.stringify(job.state).length).toBeLessThan(6_000)
    expect(job.pages.size).toBeGreaterThan(2)
  })
  it('wait behind those that came before, also if a place is free', () => {
    const job = trigger(new JobHistory().define(idle), 3).report('SUCCEEDED', { runNo: 1 })
    expect(ids(trigger(job, 1, 3))).toHaveLength(2)
    expect(ids(job.until(1).report('SUCCEEDED', { runNo: 2 }).until(2))).toEqual([0, 1, 2, 3].map((at) => `after:x/${at}@0-0`))
  })
  it('go on after a takeover', () => {
    const job = trigger(new JobHistory().define(idle), 4).restore().report('SUCCEEDED', { runNo: 1 }).restore().until(1)
    expect(ids(job)).toHaveLength(3)
  })
  it('keep their time, and have their start deadline from when there is a place', () => {
    const job = trigger(new JobHistory().define({ ...idle, startDeadlineMs: 10_000 }), 3).report('STARTED', { runNo: 1 })
    job.until(9_000).report('SUCCEEDED', { runNo: 1 }).until(12_000)
    expect(job.dispatched.at(-1)).toMatchObject({ runNo: 3, scheduledFor: 0, dueAt: 9_000, startDeadlineAt: 19_000 })
  })
  it('do not make the schedule wait: a due occurrence goes first, and none is skipped', () => {
    const job = trigger(new JobHistory().define({ schedule: { everyMs: 1_000 }, overlap: 'SKIP', maxConcurrentRuns: 1 }), 30)
    for (let time = 500; time <= 10_000; time += 500) job.until(time).report('SUCCEEDED')
    job.until(10_001)
    expect(job.skips).toEqual({})
    expect(job.fired).toEqual([1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000, 10_000])
  })
  it('leave a place to an occurrence that fell due while nobody owned the partition', () => {
    const job = trigger(new JobHistory().define({ schedule: { everyMs: 1_000 }, maxConcurrentRuns: 1 }), 3)
    job.until(900).report('SUCCEEDED').downUntil(1_500)
    expect(job.dispatched.map((run) => run.trigger)).toEqual(['FOLLOW_UP', 'SCHEDULE'])
    expect(job.report('SUCCEEDED').until(1_501).dispatched.at(-1)?.trigger).toBe('FOLLOW_UP')
  })
  it('run after an occurrence that fell due while nobody owned the partition, and was left out', () => {
    const every = { schedule: { everyMs: 60_000 }, overlap: 'SKIP', catchUp: 'SKIP', misfireThresholdMs: 0 } as const
    const job = trigger(new JobHistory().define(every).garble(), 2).define(every).downUntil(90_000)
    expect(job.dispatched.map((run) => run.trigger)).toEqual(['FOLLOW_UP', 'FOLLOW_UP'])
    expect(job.skips).toEqual({ 'catch-up': 1 })
  })
  it('wait for a valid definition, and run under it', () => {
    const job = trigger(new JobHistory().define(idle).garble(), 2)
    expect(job.dispatched).toEqual([])
    expect(
      job
        .define({ ...idle, payload: Buffer.from('new') })
        .until(1)
        .dispatched.map(({ payload }) => String(payload)),
    ).toEqual(['new', 'new'])
  })
  it('keep the job from its end', () => {
    const fired = trigger(new JobHistory().define({ schedule: { at: 500 }, maxConcurrentRuns: 1 }).until(500), 2)
    expect(fired.report('SUCCEEDED').state.status).toBe('ACTIVE')
    const job = trigger(new JobHistory().define({ schedule: { at: 500 }, maxConcurrentRuns: 1 }), 2)
      .until(600)
      .report('SUCCEEDED')
      .until(601)
    expect(job.state).toMatchObject({ status: 'ACTIVE', runNo: 2 })
    expect(job.report('SUCCEEDED').until(602).state).toMatchObject({ succeeded: 2 })
  })
  it.each<[string, (job: JobHistory) => unknown, string | undefined]>([
    ['a CANCEL', (job) => job.command('CANCEL'), 'command'],
    ['a deletion', (job) => job.remove(), undefined],
    ['the expireAt of the job', (job) => job.until(2_000_000).report('SUCCEEDED', { runNo: 1 }).until(2_000_001), 'expired'],
  ])('end with %s, and their pages too', (_, end, reason) => {
    const job = trigger(new JobHistory().define({ ...idle, expireAt: 1_000_000 }), 1_500)
    end(job)
    expect(job.pages.size).toBe(0)
    const dropped = job.job.state?.decisions.filter(({ what }) => what === 'DROPPED') ?? []
    expect(dropped.map(({ reason: why, count }) => [why, count])).toEqual(reason === undefined ? [] : [[reason, 1_498]])
  })
  it('are counted if their page cannot be read, and those behind it run', () => {
    const job = trigger(new JobHistory().define(idle), 1_500)
    const lost = job.pages.get(0)?.length ?? 0
    job.pages.set(0, [])
    for (let run = 1; run <= 1_500 - lost; run++) job.report('SUCCEEDED', { runNo: run }).until(job.now + 1)
    expect(job.state.decisions).toMatchObject([{ what: 'DROPPED', reason: 'unreadable-follow-ups', count: lost }])
    expect(ids(job).at(-1)).toBe('after:x/1499@0-0')
  })
  it('are counted if the first of many pages cannot be read', () => {
    const job = trigger(new JobHistory().define(idle), 2)
    const payload = Buffer.alloc(30_000)
    for (let at = 2; at < 12; at++) job.command('TRIGGER', { trigger: 'FOLLOW_UP', commandId: `after:x/${at}@0-0`, payload })
    expect([...job.pages.values()].map((page) => page.length)).toEqual([3, 3, 3, 1])
    job.pages.set(0, [])
    job.report('SUCCEEDED', { runNo: 1 }).until(1)
    expect(ids(job)).toEqual([0, 1, 5].map((at) => `after:x/${at}@0-0`))
  })
  it('are not counted among those of a page that cannot be read, if they come later', () => {
    const job = trigger(new JobHistory().define(idle), 6)
    for (const run of [1, 2]) job.report('SUCCEEDED', { runNo: run }).until(run)
    job.pages.set(0, [])
    trigger(job, 3, 6)
    for (let run = 3; run <= 7; run++) job.report('SUCCEEDED', { runNo: run }).until(run)
    expect(ids(job).slice(4)).toEqual([6, 7, 8].map((at) => `after:x/${at}@0-0`))
    expect(job.state.decisions).toMatchObject([{ what: 'DROPPED', reason: 'unreadable-follow-ups', count: 2 }])
  })
  it('wait also if a fault has made the job INVALID after their timer was taken', () => {
    const job = trigger(new JobHistory().define(idle), 3).report('SUCCEEDED', { runNo: 1 })
    job.job = invalidated(job.job, 'A rule failed.', job.now).job
    expect(job.until(1).dispatched).toHaveLength(2)
    expect(job.define(idle).until(2).dispatched).toHaveLength(3)
  })
  it('go before a backfill, which goes on after them', () => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } })
    job.now = 100_500
    job.define({ schedule: { everyMs: 1_000, anchor: 0 }, maxConcurrentRuns: 1, misfireThresholdMs: 0, catchUp: 'SKIP' }).garble()
    trigger(job, 2).define({ schedule: { everyMs: 1_000, anchor: 0 }, maxConcurrentRuns: 1 })
    job.command('BACKFILL', { from: 0, to: 3_000 })
    expect(job.dispatched).toEqual([])
    expect(job.until(100_501).dispatched.map(({ trigger: kind }) => kind)).toEqual([
      ...['FOLLOW_UP', 'FOLLOW_UP'],
      ...['BACKFILL', 'BACKFILL', 'BACKFILL'],
    ])
  })
  it('are refused when 64 MiB of them wait, and the job says so', () => {
    const job = trigger(new JobHistory().define(idle), 2)
    const cause = { jobId: 'x', runNo: 1, life: '', outcome: 'DEAD', scheduledFor: 0, finishedAt: 0 } as const
    const big = { ...cause, errorType: null, errorMessage: null, result: Buffer.alloc(65_536) }
    for (let at = 0; at < 1_023; at++) job.command('TRIGGER', { trigger: 'FOLLOW_UP', commandId: `big${at}`, cause: big })
    expect(job.last.refusal).toBe('follow-ups-waiting')
    expect(job.state.followUps?.bytes).toBeLessThanOrEqual(64 * 1024 * 1024)
  })
})
