/** What happens to a job when its definition is deleted, and what a restore reads from records that an earlier owner decided. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { timerKind } from '../../../streams/state/keys.ts'
import { JobHistory } from '../runs/history.ts'

type Definition = Partial<JobDefinitionInput>
const everySecond: Definition = { schedule: { everyMs: 1_000 } }
const payload = (text: string): Definition => ({ payload: Buffer.from(text) })
const payloads = (job: JobHistory): string[] => job.dispatched.map((execution) => String(execution.payload))

describe('a deletion', () => {
  it('forgets the job: nothing fires, runs, or is remembered', () => {
    const job = new JobHistory().define(everySecond).until(2_000).report('SUCCEEDED').report('SUCCEEDED', { runNo: 1 })
    expect(job.endedRuns.size).toBe(1)
    const two = new JobHistory().define(everySecond).until(2_000).report('SUCCEEDED').report('SUCCEEDED', { runNo: 1 })
    expect(two.remove().endedRuns.size).toBe(0)
    job.until(3_000).remove()
    expect(job.job).toEqual({ id: 'job' })
    expect(job.endedRuns.size).toBe(0)
    expect(job.until(60_000).dispatched).toHaveLength(3)
  })
  it('notifies the workers of its dispatched runs', () => {
    const job = new JobHistory().define({ ...everySecond, retry: { backoff: { list: [60_000] } } }).until(3_000)
    job.fail('Error', {}, { runNo: 1 }).report('STARTED', { runNo: 2 })
    expect(job.state.active.map(({ status }) => status)).toEqual(['RETRY_WAIT', 'RUNNING', 'DISPATCHED'])
    job.remove()
    expect(job.last.out).toEqual([2, 3].map((runNo) => ({ kind: 'cancel', runNo, attempt: 1, specOffset: 0, reason: 'deleted' })))
    expect(job.last.notes).toEqual(Array(3).fill({ kind: 'ended', status: 'CANCELLED' }))
  })
  it('lets a later job of the same id begin again', () => {
    const job = new JobHistory().define(everySecond).until(3_000).remove().define(everySecond).until(4_000)
    expect(job.dispatched.at(-1)).toMatchObject({ runNo: 1, scheduledFor: 4_000, specOffset: 2 })
    expect(job.state).toMatchObject({ runNo: 1, scheduledRuns: 1, lastRun: null })
  })
  it.each<[string, (job: JobHistory) => unknown]>([
    ['of a trigger', (job) => job.command('TRIGGER', payload('secret'))],
    ['of a replaced definition', (job) => job.until(1_000).define({ schedule: { at: 9_000 } })],
  ])('deletes the snapshots %s too: none appears in a later job of the same id', (_, act) => {
    const job = new JobHistory().define({ ...everySecond, ...payload('secret') })
    act(job)
    job.remove()
    expect(job.last.snapshotDeletes).toEqual([1])
    job.out.length = 0
    job.define(payload('mine')).command('TRIGGER').define(payload('next')).fail('Error', { retryAfterMs: 0 })
    expect(payloads(job)).toEqual(['mine', 'mine'])
  })
  it('that was written before the definition in force does nothing', () => {
    const job = new JobHistory().define(everySecond).define(everySecond).until(1_000)
    const { job: before } = job
    expect(job.step({ kind: 'deletion', offset: 0 }).job).toEqual(before)
  })
  it('of an unknown job does nothing', () => {
    const job = new JobHistory().remove()
    expect(job.job).toEqual({ id: 'job' })
    expect(job.last).toMatchObject({ out: [], notes: [], deletesHistory: false })
  })
})

describe('a tombstone of an owner', () => {
  it('that comes after a dropped definition leaves the job, which is to be deleted by another one', () => {
    const job = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define({ version: 2, retainCompletedMs: 60_000 }).until(1_000)
    const { deleteAt } = job.state
    job.define({ version: 1 }).remove({ observedOffset: 0, observedDeleteAt: deleteAt ?? 0 })
    expect(job.state).toMatchObject({ status: 'COMPLETED', deleteAt, droppedOffset: 1 })
    // The timer that wrote the first one is gone.
    expect(job.last.extraTimers).toEqual([{ dueAt: deleteAt, kind: timerKind.delete, jobId: 'job', runNo: 0 }])
    expect(job.remove({ observedOffset: 1, observedDeleteAt: deleteAt ?? 0 }).job).toEqual({ id: 'job' })
  })
})

describe('a conditional deletion', () => {
  it('deletes the rest of a job whose definition is gone: no condition holds over nothing', () => {
    const job = new JobHistory().define(everySecond).until(1_000)
    job.job = { id: 'job', state: job.state }
    expect(job.remove({ onlyOver: 7 }).job).toEqual({ id: 'job' })
  })
})

describe('a deletion of an older definition', () => {
  const redefined = (): JobHistory => new JobHistory().define(payload('old')).define(everySecond).remove({ observedOffset: 0 })
  it('loses, and the changelog keeps the definition that jobs will lose', () => {
    const job = redefined()
    expect(job.kept).toBe(job.job.definition)
    expect(job.state.definitionKept).toBe(true)
    expect(job.until(1_000).fired).toEqual([1_000])
  })
  it('keeps it once, however many such deletions there are', () => {
    const job = redefined()
    const { state } = job
    expect(job.remove({ observedOffset: 0 }).state).toBe(state)
    expect(job.last.keptDefinition).toBeUndefined()
  })
  it('keeps an invalid definition too', () => {
    const job = new JobHistory().define().garble('Why.').remove({ observedOffset: 0 })
    expect(job.kept).toBe(job.job.definition)
    expect(job.state).toMatchObject({ status: 'INVALID', reason: 'Why.', definitionKept: true })
  })
  it.each<[string, (job: JobHistory) => unknown]>([
    ['replaces', (job) => job.define(everySecond)],
    ['garbles', (job) => job.garble()],
    ['deletes', (job) => job.remove()],
    [
      'deletes, having observed it,',
      (job) => job.command('CANCEL').remove({ observedOffset: 1, observedDeleteAt: job.state.deleteAt ?? 0 }),
    ],
  ])('is not needed any more when something %s it', (_, act) => {
    const job = redefined()
    act(job)
    expect(job.last.keptDefinition).toBeNull()
    expect(job.job.state?.definitionKept ?? false).toBe(false)
  })
  it('wins over the definition that it has observed, while the job is due for deletion', () => {
    const completed = new JobHistory().define().until(1_000).report('SUCCEEDED')
    expect(completed.remove({ observedOffset: 0, observedDeleteAt: completed.state.deleteAt ?? 0 }).job).toEqual({ id: 'job' })
  })
})

describe('the deletion of a completed job', () => {
  const completed = (): JobHistory =>
    new JobHistory()
      .define({ retainCompletedMs: 60_000, ...payload('kept') })
      .until(1_000)
      .report('SUCCEEDED')
  const observed = { observedOffset: 0, observedDeleteAt: 61_000 }
  it('does nothing after the job was revived, and the changelog keeps the definition', () => {
    const job = completed().command('TRIGGER').remove(observed)
    expect(job.kept).toBe(job.job.definition)
    expect(job.state).toMatchObject({ definitionKept: true, active: [{ runNo: 2 }] })
    // The run is like any other: it is retried, and its end sets the deletion again.
    expect(job.fail().until(10_000).report('RETRY_DUE').report('SUCCEEDED').state).toMatchObject({
      succeeded: 2,
      deleteAt: 70_000,
    })
    expect(job.until(70_000).job).toEqual({ id: 'job' })
    expect(job.last.keptDefinition).toBeNull()
  })
  it('does nothing if the job has completed again since: that has a deletion of its own', () => {
    const job = completed().command('TRIGGER').until(5_000).report('SUCCEEDED').remove(observed)
    expect(job.state).toMatchObject({ status: 'COMPLETED', deleteAt: 65_000, definitionKept: true })
    expect(job.until(65_000).job).toEqual({ id: 'job' })
  })
  it('does nothing if it had not observed a definition that was dropped: the next one has', () => {
    const job = new JobHistory().define({ version: 2, retainCompletedMs: 60_000 }).until(1_000).report('SUCCEEDED')
    job.define({ version: 1 })
    expect(job.state).toMatchObject({ status: 'COMPLETED', droppedOffset: 1, deleteAt: 61_000 })
    expect(job.remove(observed).job.definition).toMatchObject({ offset: 0 })
    expect(job.until(61_000).job).toEqual({ id: 'job' })
  })
  it('of a user needs no such condition', () => {
    expect(completed().command('TRIGGER').remove().job).toEqual({ id: 'job' })
  })
})

describe('the decisions of an earlier owner', () => {
  it('restore a definition and nothing else', () => {
    const job = new JobHistory().define(everySecond)
    job.now = 1_400
    job.define({ schedule: { everyMs: 300 } }, true)
    expect(job.job.state).toBeUndefined()
    expect(job.job.definition).toMatchObject({ offset: 1, spec: { schedule: { everyMs: 300 } } })
    expect(job.last).toMatchObject({ out: [], notes: [], snapshotPuts: [], keptDefinition: undefined })
  })
  it('do not restore a definition that their owner has dropped: the state has an earlier one', () => {
    const job = new JobHistory().define(everySecond).until(1_000)
    const { state } = job
    job.define({ schedule: { everyMs: 300 } }, true)
    expect(job.state).toBe(state)
    expect(job.job.definition).toMatchObject({ offset: 0, spec: { schedule: { everyMs: 1_000 } } })
  })
  it('report an invalid definition only once', () => {
    const job = new JobHistory().definition({ problem: 'Why.' }, true)
    expect(job.last.notes).toEqual([])
    expect(job.job.definition?.problem).toBe('Why.')
  })
  it('remove a deleted definition and keep the state of the changelog', () => {
    const job = new JobHistory().define(everySecond).until(1_000)
    const { state } = job
    job.remove({ decided: true })
    expect(job.job).toMatchObject({ id: 'job', state })
    expect(job.job.definition).toBeUndefined()
    expect(job.last).toMatchObject({ out: [], deletesHistory: false, snapshotDeletes: [] })
  })
  it('keep a definition that a deletion did not observe', () => {
    const job = new JobHistory().define().define(everySecond).remove({ observedOffset: 0, decided: true })
    expect(job.job.definition?.offset).toBe(1)
    expect(job.last.keptDefinition).toBeUndefined()
  })
  it('keep a definition of the changelog, because its tombstone had not observed one that was dropped', () => {
    const kept = { ...everySecond, dedupKey: 'k', dedupWindowMs: 60_000 }
    const job = new JobHistory().define(kept).until(1_000).define(kept).remove({ observedOffset: 0 })
    const { state, definition } = job.job
    expect(state).toMatchObject({ definitionKept: true, specOffset: 0, droppedOffset: 1 })
    expect(job.remove({ observedOffset: 0, decided: true }).job).toMatchObject({ state, definition })
  })
  it('do not restore a definition older than the one of the state', () => {
    const job = new JobHistory().define().define(everySecond).until(1_000)
    const { definition } = job.job
    job.job = { id: 'job', state: job.state }
    expect(job.definition({ ...definition, offset: 0 }, true).job.definition).toBeUndefined()
    expect(job.definition({ ...definition }, true).job.definition?.offset).toBe(1)
  })
  it('are not made again when the definition of the state is read later', () => {
    const job = new JobHistory().define(everySecond).until(1_000)
    const { definition, state } = job.job
    job.job = { id: 'job', state }
    job.definition({ ...definition })
    expect(job.state).toBe(state)
    expect(job.job.definition?.offset).toBe(0)
    expect(job.last).toMatchObject({ out: [], snapshotPuts: [] })
  })
  it.each<[string, { offset: number; observedOffset?: number }]>([
    ['is older than it', { offset: 0 }],
    ['has observed an older one', { offset: 2, observedOffset: 0 }],
  ])('are not undone by a deletion that %s, while the definition in force is still unread', (_, deletion) => {
    const job = new JobHistory().define(payload('old'))
    const { definition } = job.job
    const { state } = job.define(everySecond).until(1_000)
    job.job = { id: 'job', definition, state }
    job.step({ kind: 'deletion', ...deletion })
    expect(job.state).toBe(state)
    expect(job.last.keptDefinition).toBeUndefined()
  })
})
