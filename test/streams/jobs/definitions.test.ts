/** What happens to a job when its definition arrives, is replaced, or cannot be used. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { invalidated } from '../../../streams/jobs/step.ts'
import { timesHash } from '../../../streams/state/draft.ts'
import { mustBeLogged } from '../../../streams/state/job.ts'
import { timerKind } from '../../../streams/state/keys.ts'
import { timersOf } from '../../../streams/state/timers.ts'
import { JobHistory } from '../runs/history.ts'

type Definition = Partial<JobDefinitionInput>
const everySecond: Definition = { schedule: { everyMs: 1_000 } }
const payload = (text: string): Definition => ({ payload: Buffer.from(text) })
const payloads = (job: JobHistory): string[] => job.dispatched.map((execution) => String(execution.payload))

describe('a definition', () => {
  it('needs no state before the first decision', () => {
    const job = new JobHistory()
      .define(everySecond)
      .until(500)
      .define({ schedule: { everyMs: 300 } })
    expect(job.job.state).toBeUndefined()
    expect(job.next).toBe(800)
    expect(job.decisions.some((decision) => mustBeLogged({ id: 'job' }, decision))).toBe(false)
  })
  it('that was read before is not applied again', () => {
    const job = new JobHistory().define(everySecond).define(payload('new')).until(1_000)
    const { definition } = job.job
    job.definition({ ...definition, offset: 0 }).definition({ ...definition, appendedAt: 9_000 })
    expect(job.job.definition).toBe(definition)
    expect(job.last).toMatchObject({ out: [], notes: [] })
  })
})

describe('a definition that is sent again with the same times', () => {
  it.each<[string, Definition]>([
    ['an interval', everySecond],
    ['an anchored interval', { schedule: { everyMs: 1_000, anchor: 0 } }],
    ['cron', { schedule: { cron: '* * * * * *' } }],
    ['a window', { ...everySecond, startAt: 0, endAt: 60_000 }],
  ])('keeps the phase of %s, before the first run and after', (_, definition) => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define(definition)
    const first = job.next ?? 0
    for (let time = 300; time <= first + 2_000; time += 300) job.until(time).define({ ...definition, ...payload(String(time)) })
    expect(job.fired).toEqual(job.fired.map((_time, index) => first + index * 1_000))
    expect(job.fired.length).toBeGreaterThanOrEqual(2)
  })
  it.each<[string, Definition]>([
    ['an interval', everySecond],
    ['an instant', { schedule: { at: 1_000 } }],
    ['cron', { schedule: { cron: '* * * * * *' } }],
  ])('keeps overdue occurrences of a job without decisions: %s', (_, definition) => {
    const job = new JobHistory().define(definition)
    job.now = 1_400
    job.define(definition).until(1_400)
    expect(job.fired).toEqual([1_000])
  })
  it('keeps overdue occurrences of a job with decisions', () => {
    const job = new JobHistory().define(everySecond).until(1_000)
    job.now = 2_400
    expect(job.define(everySecond).until(2_400).fired).toEqual([1_000, 2_000])
  })
  it('has the new payload from the next run on', () => {
    const job = new JobHistory().define({ ...everySecond, ...payload('old') }).until(1_000)
    expect(payloads(job.define({ ...everySecond, ...payload('new') }).until(2_000))).toEqual(['old', 'new'])
  })
  it.each<[string, Definition]>([
    ['an instant', { schedule: { at: 1_000 } }],
    ['an interval', everySecond],
    ['an interval from END', { schedule: { everyMs: 1_000, from: 'END' } }],
    ['cron', { schedule: { cron: '* * * * * *' } }],
    ['the last of maxRuns', { ...everySecond, maxRuns: 1 }],
  ])('does not fire again an occurrence that was dispatched ahead of its time: %s', (_, definition) => {
    const job = new JobHistory().define(definition).until(400).fireAhead().until(500).define(definition).until(1_999)
    expect(job.fired).toEqual([1_000])
  })
  it('does not fire again an occurrence that was dispatched ahead, was canceled, and has had later runs', () => {
    const job = new JobHistory().define(everySecond).until(400).fireAhead().command('CANCEL')
    job.until(410).command('TRIGGER').report('SUCCEEDED')
    expect(job.until(450).define(everySecond).until(2_000).fired).toEqual([1_000, 2_000])
  })
  it('does not run an instant again that has had its run', () => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } })
      .define()
      .until(1_000)
      .until(1_500)
      .define(payload('new'))
      .until(9_000)
    expect(job.fired).toEqual([1_000])
    expect(job.state).toMatchObject({ status: 'COMPLETED', finishedAt: 1_500 })
  })
  it('starts a delay again: the delay counts from each append', () => {
    const delayed: Definition = { schedule: { delayMs: 1_000 } }
    expect(new JobHistory().define(delayed).until(600).define(delayed).until(9_000).fired).toEqual([1_600])
    expect(new JobHistory().define(delayed).until(1_100).define(delayed).until(9_000).fired).toEqual([1_000, 2_100])
  })
  it('continues from now if only its maxRuns had ended it', () => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define({ ...everySecond, maxRuns: 1 }).until(5_500)
    expect(job.define({ ...everySecond, maxRuns: 3 }).until(60_000).fired).toEqual([1_000, 6_000, 7_000])
  })
})

describe('a one-shot whose window is changed', () => {
  it('does not run an occurrence again that was dispatched ahead of its time', () => {
    const job = new JobHistory()
      .define({ schedule: { at: 1_000 } })
      .until(500)
      .fireAhead()
      .until(600)
    job.define({ schedule: { at: 1_000 }, endAt: 9_000 }).until(5_000)
    expect(job.fired).toEqual([1_000])
  })
  it('runs at another instant', () => {
    const job = new JobHistory()
      .define({ schedule: { at: 1_000 } })
      .until(500)
      .fireAhead()
      .until(600)
    expect(job.define({ schedule: { at: 900 } }).until(5_000).fired).toEqual([1_000, 900])
  })
})

describe('a definition with other times', () => {
  it.each<[string, Definition, next: number]>([
    ['an instant', { schedule: { at: 4_000 } }, 4_000],
    ['a delay from its append time', { schedule: { delayMs: 10 } }, 2_510],
    ['an interval from its append time', { schedule: { everyMs: 700 } }, 3_200],
    ['cron after its append time', { schedule: { cron: '* * * * * *' } }, 3_000],
  ])('has %s', (_, definition, next) => {
    expect(new JobHistory().define(everySecond).until(2_500).define(definition).next).toBe(next)
  })
  it.each<[string, (job: JobHistory) => unknown]>([
    ['waits for its time', () => {}],
    ['has ended already', (job) => job.fail('BadInput', { retryable: false })],
  ])('does not fire again an occurrence that was dispatched ahead of its time and %s', (_, act) => {
    const job = new JobHistory()
      .define({ schedule: { everyMs: 1_000, anchor: 0 } })
      .until(400)
      .fireAhead()
    act(job)
    job
      .until(450)
      .define({ schedule: { everyMs: 500, anchor: 0 } })
      .until(1_500)
    expect(job.fired).toEqual([1_000, 1_500])
  })
  it('loses no occurrence to a triggered run, also if the clock of the broker is behind ours', () => {
    const job = new JobHistory().define(everySecond).command('TRIGGER').until(950).command('TRIGGER')
    job.now = 800
    expect(job.define({ schedule: { everyMs: 100 } }).next).toBe(900)
  })
  it('keeps its own phase afterwards', () => {
    const faster: Definition = { schedule: { everyMs: 700 } }
    expect(new JobHistory().define(everySecond).until(2_500).define(faster).until(2_900).define(faster).next).toBe(3_200)
  })
  it('is COMPLETED at once if it leaves nothing to run', () => {
    const job = new JobHistory()
      .define(everySecond)
      .until(500)
      .define({ ...everySecond, endAt: 400, retainCompletedMs: 50 })
    expect(job.state).toMatchObject({ status: 'COMPLETED', nextFireAt: null, finishedAt: 500, deleteAt: 550 })
  })
  it('counts earlier runs among its maxRuns', () => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define(everySecond).until(2_000)
    expect(job.define({ schedule: { everyMs: 300 }, maxRuns: 2 }).state.status).toBe('COMPLETED')
  })
  it('revives a COMPLETED job, whose run numbers continue', () => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } })
      .define()
      .until(1_500)
      .define({ schedule: { at: 2_000 } })
    expect(job.state).toMatchObject({ status: 'ACTIVE', finishedAt: null, deleteAt: null })
    expect(job.until(2_000).dispatched.at(-1)).toMatchObject({ runNo: 2, specOffset: 1 })
  })
  it('from END waits for a run that is active', () => {
    const job = new JobHistory().define({ schedule: { everyMs: 1_000, from: 'END' } }).until(1_000)
    expect(job.define({ schedule: { everyMs: 300, from: 'END' } }).next).toBeNull()
    expect(job.until(1_200).report('SUCCEEDED').next).toBe(1_500)
  })
  it('from END goes on when the first of several active runs ends', () => {
    const job = new JobHistory()
      .define({ schedule: { everyMs: 400 } })
      .until(800)
      .define({ schedule: { everyMs: 1_000, from: 'END' } })
    expect(job.next).toBeNull()
    expect(job.until(900).report('SUCCEEDED', { runNo: 1 }).next).toBe(1_900)
    expect(job.until(1_000).report('SUCCEEDED', { runNo: 2 }).next).toBe(1_900)
  })
  it('from END does not wait for a run that was triggered', () => {
    const job = new JobHistory().define(everySecond).command('TRIGGER')
    expect(job.define({ schedule: { everyMs: 300, from: 'END' } }).next).toBe(300)
  })
})

describe('a run that is active while its definition is replaced', () => {
  const retried = { retry: { backoff: { list: [0] } } }
  it('keeps its payload and target in every attempt', () => {
    const job = new JobHistory().define({ ...everySecond, ...retried, ...payload('old') }).until(1_000)
    job
      .define({ ...everySecond, ...retried, ...payload('newer') })
      .define({ ...everySecond, ...retried, target: { handler: 'other' } })
    job.fail().until(2_000)
    expect(job.dispatched.map(({ runNo, attempt, handler, specOffset }) => [runNo, attempt, handler, specOffset])).toEqual([
      [1, 1, 'noop', 0],
      [1, 2, 'noop', 0],
      [2, 1, 'other', 2],
    ])
    expect(payloads(job)).toEqual(['old', 'old', 'null'])
  })
  it('keeps everything in the definition that its workers see', () => {
    const old: Definition = {
      target: { handler: 'old', pool: 'old' },
      payload: Buffer.from('old'),
      contentType: 'text/old',
      headers: { age: Buffer.from('old') },
      priority: 'LOW',
      leaseMs: 1_000,
      attemptTimeoutMs: 1_000,
    }
    const job = new JobHistory()
      .define(old)
      .until(1_000)
      .define({ schedule: { at: 9_000 } })
      .report('RELEASED')
    expect(job.dispatched[1]).toEqual({ ...job.dispatched[0], attempt: 2 })
  })
  it('has one snapshot, however often its definition is replaced', () => {
    const job = new JobHistory().define(everySecond).until(1_000).define(everySecond).define(everySecond)
    expect(job.last.snapshotPuts).toEqual([])
  })
  it('shares one snapshot with all others of its definition, and the last to end drops it', () => {
    const many: Definition = { ...everySecond, ...retried, overlap: 'ALLOW', maxConcurrentRuns: 100 }
    const job = new JobHistory()
      .define({ ...many, ...payload('old') })
      .until(100_000)
      .define({ ...many, ...payload('new') })
    expect(job.last.snapshotPuts.map(({ runNo, payload: kept }) => [runNo, String(kept)])).toEqual([[1, 'old']])
    for (let runNo = 1; runNo <= 100; runNo++) job.report('RELEASED', { runNo })
    expect(new Set(payloads(job))).toEqual(new Set(['old']))
    for (let runNo = 1; runNo < 100; runNo++) expect(job.report('SUCCEEDED', { runNo }).last.snapshotDeletes).toEqual([])
    expect([...job.snapshots.keys()]).toEqual([1])
    expect(job.report('SUCCEEDED', { runNo: 100 }).last.snapshotDeletes).toEqual([1])
  })
  it('leaves the snapshot to a dead run that has its number, and gives other dead runs their own', () => {
    const three: Definition = { ...everySecond, overlap: 'ALLOW', retry: { maxAttempts: 1 } }
    const job = new JobHistory()
      .define({ ...three, ...payload('old') })
      .until(3_000)
      .define({ schedule: { at: 90_000 }, retry: { maxAttempts: 1 }, ...payload('new') })
    job.fail('Error', {}, { runNo: 1 }).fail('Error', {}, { runNo: 2 })
    expect([...job.snapshots.keys()]).toEqual([1, 2])
    expect(job.report('SUCCEEDED', { runNo: 3 }).last.snapshotDeletes).toEqual([])
    job.command('REDRIVE', { runNo: 1 }).command('REDRIVE', { runNo: 2 })
    expect(payloads(job)).toEqual(['old', 'old', 'old', 'old', 'old'])
    expect([...job.snapshots.keys()]).toEqual([4, 5])
  })
  it('keeps a snapshot that it shares with a redriven dead run', () => {
    const two: Definition = { ...everySecond, overlap: 'ALLOW', retry: { maxAttempts: 1 } }
    const job = new JobHistory()
      .define({ ...two, ...payload('old') })
      .until(2_000)
      .define({ schedule: { at: 90_000 }, retry: { maxAttempts: 1 }, ...payload('new') })
    job.fail('Error', {}, { runNo: 1 }).command('REDRIVE', { runNo: 1 }).report('RELEASED', { runNo: 2 })
    expect(payloads(job)).toEqual(['old', 'old', 'old', 'old'])
    expect([...job.snapshots.keys()].sort()).toEqual([1, 3])
    expect(job.remove().last.snapshotDeletes.sort()).toEqual([1, 3])
  })
  it('ends if its snapshot is lost, and the job says why', () => {
    const job = new JobHistory()
      .define({ ...everySecond, ...payload('old') })
      .until(1_000)
      .define(payload('new'))
    job.snapshots.clear()
    expect(() => job.report('RELEASED')).toThrow('The snapshot of run 1 cannot be read: it is missing')
  })
  it('drops its snapshot when it ends', () => {
    const job = new JobHistory().define(everySecond).until(1_000).define(everySecond)
    expect(job.last.snapshotPuts).toMatchObject([{ runNo: 1, specOffset: 0 }])
    expect(job.report('SUCCEEDED').last.snapshotDeletes).toEqual([1])
  })
})

describe('an invalid definition', () => {
  it('makes the job INVALID and says why', () => {
    const job = new JobHistory().define(everySecond).until(1_500).garble('No handler.')
    expect(job.state).toMatchObject({ status: 'INVALID', reason: 'No handler.' })
    expect(job.last.notes).toEqual([{ kind: 'invalid', reason: 'No handler.' }])
    expect(job.until(60_000).fired).toEqual([1_000])
  })
  it('of an unknown job has no effect', () => {
    const job = new JobHistory().garble()
    expect(job.job.state).toBeUndefined()
    expect(job.notes).toEqual(['invalid'])
  })
  it('keeps the phase and the overdue occurrences of a job that has not fired', () => {
    const job = new JobHistory().define({ schedule: { everyMs: 1_000 } })
    job.now = 1_400
    job
      .garble()
      .define({ schedule: { everyMs: 1_000 } })
      .until(2_500)
    expect(job.fired).toEqual([1_000, 2_000])
  })
  it('does not affect active runs', () => {
    const job = new JobHistory()
      .define({ ...everySecond, ...payload('old') })
      .until(1_000)
      .garble()
    job.fail('Error', { retryAfterMs: 0 })
    expect(payloads(job)).toEqual(['old', 'old'])
    expect(job.report('SUCCEEDED').state).toMatchObject({ status: 'INVALID', active: [], succeeded: 1 })
  })
  it('keeps a COMPLETED job from being deleted', () => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define().until(1_000).garble()
    expect(job.state.deleteAt).toBeNull()
  })
  it('is repaired by the next one, which catches up if its times are the same', () => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define(everySecond).until(1_500).garble().until(5_500)
    expect(job.define(everySecond).until(6_000).fired).toEqual([1_000, 5_000, 6_000])
    expect(job.state).toMatchObject({ status: 'ACTIVE', reason: 'skipped: catch-up', skipped: 3 })
  })
})

describe('a job whose rule failed', () => {
  const failed = (job: JobHistory): JobHistory => {
    job.job = invalidated(job.job, 'A fault.', job.now).job
    return job
  }
  it('is INVALID, fires nothing, and ends active runs without becoming COMPLETED', () => {
    const job = failed(new JobHistory().define().until(1_000)).report('SUCCEEDED')
    expect(job.state).toMatchObject({ status: 'INVALID', reason: 'A fault.', active: [], deleteAt: null })
    expect(job.next).toBeNull()
  })
  it('leaves a dead letter of the run, also if the definition of the run is lost', () => {
    const job = new JobHistory().define({ ...everySecond, payload: Buffer.from('x') }).until(1_000)
    const [letter] = invalidated(job.job, 'A fault.', job.now, 1).out
    expect(letter).toMatchObject({ kind: 'dead-letter', execution: { runNo: 1, attempt: 1, handler: 'noop', payload: null } })
    job.define({ ...everySecond, target: { handler: 'other' } })
    const unreadable = { ...job.job, snapshots: new Map(), unreadableRuns: new Map([[1, 'It is cut off.']]) }
    const [bare] = invalidated(unreadable, 'A fault.', job.now, 1).out
    expect(bare).toMatchObject({ kind: 'dead-letter', execution: { runNo: 1, attempt: 1, handler: '', payload: null } })
    expect(invalidated(job.job, 'A fault.', job.now, 1, false).out).toEqual([])
  })
  it('is repaired by a new definition, which catches up', () => {
    const job = failed(new JobHistory().define(everySecond).until(1_000)).until(3_500)
    expect(job.define(everySecond).until(3_500).fired).toEqual([1_000, 3_000])
  })
  it('may be one without decisions', () => {
    expect(failed(new JobHistory().define(everySecond)).state).toMatchObject({ status: 'INVALID', nextFireAt: 1_000 })
  })
})

it('the hash of its times is the same in every version: otherwise each job would begin again', () => {
  const hashOf = (more: Definition): number => timesHash(new JobHistory().define(more).job.definition?.spec ?? expect.fail())
  expect([
    hashOf({ schedule: { at: 1_000 } }),
    hashOf({ schedule: { everyMs: 1_000 }, startAt: 5, endAt: 90_000 }),
    hashOf({ schedule: { cron: '0 9 * * MON-FRI', timezone: 'Europe/Paris' } }),
  ]).toEqual([3_121_503_290, 3_639_938_712, 2_597_211_082])
})

describe('a job whose log of definitions was recreated', () => {
  /** The state of the job exists and its definition does not. Any definition that arrives is a later one. */
  const lost = (specOffset: number): JobHistory => {
    const job = new JobHistory().define(everySecond).until(2_000)
    const { definition: _, ...left } = job.job
    job.job = { ...left, state: { ...job.state, specOffset } }
    return job
  }
  const fireAt = (dueAt: number) => ({ kind: 'timer', timer: { dueAt, kind: timerKind.fire, jobId: 'job', runNo: 0 } }) as const
  it('keeps its decisions, whatever becomes due meanwhile: otherwise its run numbers would begin again', () => {
    const job = lost(-1)
    const { state } = job
    expect(job.step(fireAt(3_000)).last).toMatchObject({ out: [], failed: false })
    expect(job.job.state).toBe(state)
    expect(lost(0).step(fireAt(3_000)).job).toEqual({ id: 'job' })
    expect(new JobHistory().step(fireAt(3_000)).job).toEqual({ id: 'job' })
  })
  it('continues when its definition is there again, with overdue timers', () => {
    const job = lost(-1).step(fireAt(3_000))
    job.now = 3_500
    job.define(everySecond)
    expect(job.last.extraTimers).toEqual(timersOf(job.job))
    expect(job.last.extraTimers.map(({ dueAt }) => dueAt)).toContain(job.next)
    job.until(4_500)
    expect(job.dispatched.map(({ runNo }) => runNo)).toEqual([1, 2, ...job.dispatched.slice(2).map((_, index) => index + 3)])
    expect(job.dispatched.length).toBeGreaterThan(2)
  })
  it('needs no lost timer if its definition was only not read yet, or is replaced', () => {
    expect(lost(0).define(everySecond, true).last.extraTimers).toEqual([])
    expect(new JobHistory().define(everySecond).until(2_000).define(everySecond).last.extraTimers).toEqual([])
    expect(new JobHistory().define(everySecond).last.extraTimers).toEqual([])
  })
})
