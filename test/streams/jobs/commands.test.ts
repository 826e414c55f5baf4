/** The commands of an operator: a run besides the schedule, a pause, an end. */
import { describe, expect, it } from 'vitest'
import type { JobCommand, JobDefinitionInput } from '../../../schemas/generated.ts'
import { Chance } from '../../../src/testing/simulation/chance.ts'
import { randomCommand, randomReport } from '../random-acts.ts'
import { randomDefinition } from '../random-definition.ts'
import { JobHistory } from '../runs/history.ts'

const everySecond = (more: Partial<JobDefinitionInput> = {}): JobHistory =>
  new JobHistory({ worker: { type: 'SUCCEEDED' } }).define({ schedule: { everyMs: 1_000 }, ...more })

describe('a trigger', () => {
  it('makes one run now, besides the schedule', () => {
    const job = everySecond().until(300).command('TRIGGER', { commandId: 'a' })
    expect(job.dispatched).toMatchObject([{ runNo: 1, trigger: 'MANUAL', scheduledFor: 300, dueAt: 300, dispatchedAt: 300 }])
    expect(job.state).toMatchObject({ scheduledRuns: 0, lastRun: { trigger: 'MANUAL', commandId: 'a' } })
    expect(job.until(2_000).fired).toEqual([1_000, 2_000])
  })
  it.each<[string, (job: JobHistory) => unknown]>([
    ['PAUSED by command', (job) => job.command('PAUSE')],
    ['PAUSED by definition', (job) => job.define({ paused: true })],
    ['COMPLETED', (job) => job.define({ schedule: { at: 0 } }).until(0)],
  ])('also runs a job that is %s', (_, act) => {
    const job = everySecond()
    act(job)
    const before = job.dispatched.length
    job.command('TRIGGER')
    expect(job.dispatched).toHaveLength(before + 1)
  })
  it('runs with its own payload, in every attempt; the job keeps its own', () => {
    const job = new JobHistory().define({ payload: Buffer.from('usual'), headers: { a: Buffer.from('b') } })
    job.command('TRIGGER', { payload: Buffer.from('special') })
    job.fail('Error', { retryAfterMs: 0 }).report('RELEASED').until(1_000)
    expect(
      job.dispatched.map(({ runNo, attempt, payload, headers }) => [runNo, attempt, String(payload), String(headers.a)]),
    ).toEqual([
      [1, 1, 'special', 'b'],
      [1, 2, 'special', 'b'],
      [1, 3, 'special', 'b'],
      [2, 1, 'usual', 'b'],
    ])
    expect(job.job.definition?.spec?.payload).toEqual(Buffer.from('usual'))
  })
  it('may have an empty payload in place of the usual one', () => {
    const job = new JobHistory().define({ payload: Buffer.from('usual') }).command('TRIGGER', { payload: Buffer.alloc(0) })
    expect(job.dispatched.at(-1)?.payload).toEqual(Buffer.alloc(0))
  })
  it('that is sent twice makes one run, while it is active and after it has ended', () => {
    const job = new JobHistory().define().command('TRIGGER', { commandId: 'a' }).command('TRIGGER', { commandId: 'a' })
    const { state } = job.report('SUCCEEDED')
    expect(job.command('TRIGGER', { commandId: 'a' }).state).toBe(state)
    expect(job.dispatched).toHaveLength(1)
    expect(job.command('TRIGGER', { commandId: 'b' }).dispatched).toHaveLength(2)
  })
  it.each([0, 60_000])('of a job whose expireAt came %d ms ago is refused', (agoMs) => {
    const job = new JobHistory().define({ schedule: { everyMs: 1_000 }, expireAt: 500 }).until(500 + agoMs)
    job.command('TRIGGER', { commandId: 'a' })
    expect(job.dispatched).toEqual([])
    expect(job.last.refusal).toBe('expired')
    expect(job.state.decisions.at(-1)).toMatchObject({ what: 'DROPPED', reason: 'expired', commandId: 'a' })
  })
  it('just before expireAt runs', () => {
    const job = new JobHistory()
      .define({ schedule: { everyMs: 1_000 }, expireAt: 500 })
      .until(499)
      .command('TRIGGER')
    expect(job.dispatched).toMatchObject([{ startDeadlineAt: 500 }])
  })
  it('keeps the times of a job without decisions', () => {
    const job = everySecond().until(999).command('TRIGGER')
    expect(job.next).toBe(1_000)
  })
})

describe('a pause', () => {
  it('fires nothing, and active runs continue', () => {
    const job = new JobHistory()
      .define({ schedule: { everyMs: 1_000 } })
      .until(1_000)
      .command('PAUSE')
      .until(9_000)
    expect(job.fired).toEqual([1_000])
    expect(job.next).toBeNull()
    expect(job.fail('Error', { retryAfterMs: 0 }).report('SUCCEEDED').state).toMatchObject({ status: 'PAUSED', succeeded: 1 })
  })
  it('survives a new definition without the field paused', () => {
    const job = everySecond()
      .command('PAUSE')
      .define({ schedule: { everyMs: 500 } })
    expect(job.state.status).toBe('PAUSED')
    expect(job.until(9_000).fired).toEqual([])
  })
  it('survives an invalid definition, and its repair', () => {
    const job = new JobHistory()
      .define({ schedule: { everyMs: 1_000 } })
      .command('PAUSE')
      .garble()
      .define({ schedule: { everyMs: 1_000 } })
    expect(job.state.status).toBe('PAUSED')
    expect(job.until(5_000).fired).toEqual([])
  })
  it('survives the end of a pause by definition', () => {
    const job = new JobHistory().define({ paused: true }).command('PAUSE').define({ paused: false })
    expect(job.state.status).toBe('PAUSED')
    job.command('RESUME')
    expect(job.state.status).toBe('ACTIVE')
  })
  it('by definition ends with that definition', () => {
    const job = everySecond({ paused: true }).until(5_500)
    expect(job.fired).toEqual([])
    expect(job.define({ schedule: { everyMs: 1_000 }, catchUp: 'LATEST' }).until(6_000).fired).toEqual([5_000, 6_000])
  })
  it('by definition begins at once, also for a job that has fired', () => {
    const job = everySecond()
      .until(1_000)
      .define({ schedule: { everyMs: 1_000 }, paused: true })
    expect(job.state.status).toBe('PAUSED')
    expect(job.until(9_000).fired).toEqual([1_000])
  })
})

describe('a job that is resumed', () => {
  it('continues at its times', () => {
    const job = everySecond().until(1_000).command('PAUSE').until(1_500).command('RESUME').until(3_000)
    expect(job.fired).toEqual([1_000, 2_000, 3_000])
  })
  it.each([
    ['SKIP', { misfireThresholdMs: 0 }, [], 4],
    ['LATEST', {}, [5_000], 3],
    ['ALL', { catchUpMax: 2 }, [4_000, 5_000], 2],
    ['ALL', {}, [2_000, 3_000, 4_000, 5_000], 0],
  ] as const)('catches up with %s and %o', (catchUp, more, caughtUp, skipped) => {
    const job = everySecond({ catchUp, ...more })
      .until(1_000)
      .command('PAUSE')
      .until(5_500)
      .command('RESUME')
      .until(5_500)
    expect(job.fired).toEqual([1_000, ...caughtUp])
    expect(job.state).toMatchObject({ status: 'ACTIVE', skipped, nextFireAt: 6_000 })
  })
  it('may have been defined as paused', () => {
    const job = everySecond({ paused: true }).until(500).command('RESUME').until(1_000)
    expect(job.fired).toEqual([1_000])
  })
  it('and whose interval counts from END, fires one interval after the run that ended in the pause', () => {
    const job = new JobHistory()
      .define({ schedule: { everyMs: 1_000, from: 'END' } })
      .until(1_000)
      .command('PAUSE')
    job.until(1_800).report('SUCCEEDED').command('RESUME')
    expect(job.next).toBe(2_800)
  })
})

describe('a command without effect', () => {
  it.each<[string, JobHistory, 'PAUSE' | 'RESUME']>([
    ['pausing what is PAUSED', everySecond().command('PAUSE'), 'PAUSE'],
    ['resuming what is ACTIVE', everySecond().until(1_000), 'RESUME'],
    ['pausing what is COMPLETED', everySecond({ maxRuns: 1 }).until(1_000), 'PAUSE'],
    ['resuming what is COMPLETED', everySecond({ maxRuns: 1 }).until(1_000), 'RESUME'],
  ])('changes nothing and is remembered: %s', (_, job, type) => {
    const { state } = job
    expect({ ...job.command(type).state, recentCommands: state.recentCommands }).toEqual(state)
  })
  it.each(['TRIGGER', 'PAUSE', 'RESUME'] as const)('is counted if there is no valid definition: %s', (type) => {
    const unknown = new JobHistory().command(type)
    expect(unknown.last).toMatchObject({ out: [], notes: [{ kind: 'stale', what: type }] })
    expect(unknown.job).toEqual({ id: 'job' })
    const garbled = everySecond().until(1_000).garble()
    expect(garbled.command(type).notes).toEqual(['refused'])
    expect(garbled.state.decisions.at(-1)).toMatchObject({ what: 'DROPPED', reason: 'invalid-definition' })
  })
})

describe('a REDRIVE of a run that waits for a retry', () => {
  const waiting = (more: Partial<JobDefinitionInput> = {}): JobHistory => {
    const retry = { maxAttempts: 3, backoff: { fixed: { delayMs: 3_600_000 } } } as never
    return new JobHistory()
      .define({ retry, maxConcurrentRuns: 1, ...more })
      .until(1_000)
      .fail()
  }
  it('begins its next attempt at once, also where the job has no room for a further run', () => {
    const job = waiting()
    expect(job.state.active).toMatchObject([{ runNo: 1, attempt: 2, status: 'RETRY_WAIT' }])
    job.command('REDRIVE', { runNo: 1 })
    expect(job.last.refusal).toBeUndefined()
    expect(job.state).toMatchObject({ runNo: 1, active: [{ runNo: 1, attempt: 2, status: 'DISPATCHED', dueAt: job.now }] })
    expect(job.last.out).toMatchObject([{ kind: 'dispatch', execution: { runNo: 1, attempt: 2, dueAt: job.now } }])
    // The forwarder comes later, for the same attempt.
    job.report('STARTED').report('RETRY_DUE')
    expect(job.state.active).toMatchObject([{ attempt: 2, status: 'RUNNING' }])
    job.report('SUCCEEDED')
    expect(job.state).toMatchObject({ succeeded: 1, active: [], lastRun: { attempts: 2 } })
  })
  it('is refused once the attempt has begun', () => {
    const job = waiting({ maxConcurrentRuns: 2 })
      .command('REDRIVE', { runNo: 1, commandId: 'first' })
      .command('REDRIVE', { runNo: 1, commandId: 'second' })
    expect(job.last.refusal).toBe('no-such-dead-run')
    expect(job.state.active).toMatchObject([{ attempt: 2, status: 'DISPATCHED' }])
  })
})

describe('a repeated command', () => {
  const started = (): JobHistory =>
    new JobHistory()
      .define({ schedule: { everyMs: 60_000, anchor: 0 }, overlap: 'SKIP', startDeadlineMs: 86_400_000 })
      .until(200_000)
  const range = { from: 0, to: 120_000 }
  it.each<[string, JobCommand['type'], Partial<JobCommand>, (job: JobHistory) => unknown, then: (job: JobHistory) => unknown]>([
    ['its run has ended', 'TRIGGER', {}, () => 0, (job) => job.report('SUCCEEDED').command('TRIGGER').report('SUCCEEDED')],
    ['it was resumed', 'PAUSE', {}, () => 0, (job) => job.command('RESUME')],
    ['it was paused', 'RESUME', {}, (job) => job.command('PAUSE'), (job) => job.command('PAUSE')],
    ['it was paused, where the first had nothing to do', 'RESUME', {}, () => 0, (job) => job.command('PAUSE')],
    ['the job was revived', 'CANCEL', {}, () => 0, (job) => job.define({ schedule: { everyMs: 1_000 } })],
    ['the run is gone', 'CANCEL_RUN', { runNo: 1 }, () => 0, () => 0],
    [
      'the run it made is dead as well',
      'REDRIVE',
      { runNo: 1 },
      (job) => job.fail('Error', { retryable: false }),
      (job) => job.fail('Error', { retryable: false }),
    ],
    ['it goes on', 'BACKFILL', range, (job) => job.report('SUCCEEDED'), () => 0],
    ['it has ended', 'BACKFILL', range, (job) => job.report('SUCCEEDED'), (job) => job.report('SUCCEEDED').report('SUCCEEDED')],
    [
      'it was refused, although it would not be now',
      'REDRIVE',
      { runNo: 1 },
      () => 0,
      (job) => job.fail('Error', { retryable: false }),
    ],
  ])('does nothing: when %s, a %s %o', (_, type, more, before, then) => {
    const job = started()
    before(job)
    job.command(type, { ...more, commandId: 'once' })
    then(job)
    const { state, out } = { state: job.state, out: job.out.length }
    job.command(type, { ...more, commandId: 'once' })
    expect(job.last).toMatchObject({ out: [], refusal: 'repeated', notes: [{ kind: 'stale', what: type }] })
    expect(job.state).toBe(state)
    expect(job.out).toHaveLength(out)
  })
  it.each([
    [31, false],
    [32, true],
  ])('after %d others, counts: %s', (others, counts) => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define().command('TRIGGER', { commandId: 'first' })
    for (let other = 0; other < others; other++) job.command('TRIGGER', { commandId: `other-${other}` })
    const before = job.dispatched.length
    expect(job.command('TRIGGER', { commandId: 'first' }).dispatched.length - before).toBe(counts ? 1 : 0)
  })
  it('counts while its run is active, whatever came after it', () => {
    const job = new JobHistory().define().command('TRIGGER', { commandId: 'first' })
    for (let other = 0; other < 99; other++) job.command('PAUSE')
    expect(job.command('TRIGGER', { commandId: 'first' }).dispatched).toHaveLength(1)
  })
  it('is remembered through new definitions, and forgotten with the job', () => {
    const job = new JobHistory().define().command('PAUSE', { commandId: 'a' }).command('RESUME').define()
    expect(job.command('PAUSE', { commandId: 'a' }).state.status).toBe('ACTIVE')
    job.remove().define().command('PAUSE', { commandId: 'a' })
    expect(job.state.status).toBe('PAUSED')
  })
})

describe('a pause of a job that is INVALID', () => {
  const broken = (): JobHistory => {
    const job = everySecond().until(1_000)
    // As after a rule threw: the definition itself can be used.
    job.job = { ...job.job, state: { ...job.state, status: 'INVALID' } }
    return job
  }
  it('applies when the job is valid again', () => {
    expect(
      broken()
        .command('PAUSE')
        .define({ schedule: { everyMs: 1_000 } }).state.status,
    ).toBe('PAUSED')
    expect(
      broken()
        .command('PAUSE')
        .command('RESUME')
        .define({ schedule: { everyMs: 1_000 } }).state.status,
    ).toBe('ACTIVE')
  })
  it.each(['TRIGGER', 'BACKFILL', 'REDRIVE'] as const)('does not let the job run: a %s is refused', (type) => {
    const job = broken().command(type, { commandId: 'a', runNo: 1, from: 0, to: 900 })
    expect(job.last).toMatchObject({ refusal: 'invalid-definition', out: [] })
    expect(job.state.decisions.at(-1)).toMatchObject({ reason: 'invalid-definition', commandId: 'a' })
  })
})

describe('a pause or cancellation in the moment before a job fires', () => {
  it.each(['PAUSE', 'CANCEL'] as const)(
    '%s: no occurrence starts a run, in any history, and a repeat changes nothing',
    (type) => {
      let wouldHave = 0
      for (let seed = 1; seed <= 1_500; seed++) {
        const history = (): { job: JobHistory; chance: Chance } => {
          const chance = new Chance(seed)
          const job = new JobHistory({ leadMs: chance.pick([0, 100]) })
          job.definition({ spec: randomDefinition(chance, job.now) })
          for (let acts = chance.int(0, 8); acts > 0; acts--) {
            const kind = chance.weighted({ time: 4, command: 2, report: 3 })
            if (kind === 'time') job.until(job.now + chance.int(0, 3_000))
            else if (kind === 'report') randomReport(job, chance)
            else randomCommand(job, chance)
          }
          return { job, chance }
        }
        const occurrences = ({ job, chance }: ReturnType<typeof history>): number => {
          const [before, sent] = [job.job.state?.runNo ?? 0, job.dispatched.length]
          for (let acts = 0; acts < 6; acts++) {
            if (chance.happens(0.5)) randomReport(job, chance)
            job.until(job.now + 2_000)
          }
          return job.dispatched.slice(sent).filter(({ runNo, trigger }) => runNo > before && trigger === 'SCHEDULE').length
        }
        wouldHave += occurrences(history())
        const lived = history()
        lived.job.command(type, { commandId: 'operation/o' })
        expect([seed, occurrences(lived)]).toEqual([seed, 0])
        const { state } = lived.job.job
        lived.job.command(type, { commandId: 'operation/o' })
        expect(lived.job.job.state).toBe(state)
      }
      // Without it they would have fired.
      expect(wouldHave).toBeGreaterThan(1_000)
    },
  )
})
