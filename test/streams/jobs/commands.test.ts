/** What an operator may ask of a job: a run besides the schedule, a pause, its end. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
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
  ])('runs also a job that is %s', (_, act) => {
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
  it('keeps the times of a job of which nothing was decided yet', () => {
    const job = everySecond().until(999).command('TRIGGER')
    expect(job.next).toBe(1_000)
  })
})

describe('a pause', () => {
  it('fires nothing, and lets active runs go on', () => {
    const job = new JobHistory()
      .define({ schedule: { everyMs: 1_000 } })
      .until(1_000)
      .command('PAUSE')
      .until(9_000)
    expect(job.fired).toEqual([1_000])
    expect(job.next).toBeNull()
    expect(job.fail('Error', { retryAfterMs: 0 }).report('SUCCEEDED').state).toMatchObject({ status: 'PAUSED', succeeded: 1 })
  })
  it('outlives a new definition that says nothing of it', () => {
    const job = everySecond()
      .command('PAUSE')
      .define({ schedule: { everyMs: 500 } })
    expect(job.state.status).toBe('PAUSED')
    expect(job.until(9_000).fired).toEqual([])
  })
  it('outlives a definition that cannot be used, and its repair', () => {
    const job = new JobHistory()
      .define({ schedule: { everyMs: 1_000 } })
      .command('PAUSE')
      .garble()
      .define({ schedule: { everyMs: 1_000 } })
    expect(job.state.status).toBe('PAUSED')
    expect(job.until(5_000).fired).toEqual([])
  })
  it('outlives the end of a pause by definition', () => {
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
  it('fires on at its times', () => {
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

describe('a command that has nothing to do', () => {
  it.each<[string, JobHistory, 'PAUSE' | 'RESUME']>([
    ['pausing what is PAUSED', everySecond().command('PAUSE'), 'PAUSE'],
    ['resuming what is ACTIVE', everySecond().until(1_000), 'RESUME'],
    ['pausing what is COMPLETED', everySecond({ maxRuns: 1 }).until(1_000), 'PAUSE'],
    ['resuming what is COMPLETED', everySecond({ maxRuns: 1 }).until(1_000), 'RESUME'],
  ])('changes nothing: %s', (_, job, type) => {
    const { state } = job
    expect(job.command(type).state).toBe(state)
  })
  it.each(['TRIGGER', 'PAUSE', 'RESUME'] as const)('is counted when there is no usable definition: %s', (type) => {
    const unknown = new JobHistory().command(type)
    expect(unknown.last).toMatchObject({ out: [], notes: [{ kind: 'stale', what: type }] })
    expect(unknown.job).toEqual({ id: 'job' })
    const garbled = everySecond().until(1_000).garble()
    const { state } = garbled
    expect(garbled.command(type).notes).toEqual(['stale'])
    expect(garbled.state).toBe(state)
  })
})
