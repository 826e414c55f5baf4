/** A copy at any position of the logs, with the inputs after it, leads to the same job as the logs themselves. */
import { expect, it } from 'vitest'
import type { ExecutionEvent, JobState } from '../../../schemas/generated.ts'
import { Chance } from '../../../src/testing/simulation/chance.ts'
import { capturedJob, effective, followUpOf, isOfCopy, type JobsRecord, type SourceJob } from '../../../streams/backup/index.ts'
import { step } from '../../../streams/jobs/step.ts'
import type { Context, Job, KnownDefinition } from '../../../streams/state/job.ts'
import { randomDefinition } from '../random-definition.ts'
import { JobHistory } from '../runs/history.ts'

const contextAt = (now: number): Context => ({
  ...{ now, leadMs: 0, aheadFrom: 0, eventsReadUntil: now },
  ...{ topicProblem: () => undefined, poolProblem: () => undefined, seenAt: () => 0 },
  limits: { slots: () => ({ held: 0, waiting: 0 }), starts: () => undefined },
})

const inputOf = ({ offset, definition, headers }: JobsRecord) => {
  const onlyOver = headers['only-new'] === undefined ? {} : { onlyOver: 'none' as const }
  return definition === undefined
    ? { kind: 'deletion' as const, offset, ...onlyOver }
    : { kind: 'definition' as const, definition, ...onlyOver }
}

const applied = (job: Job, records: readonly JobsRecord[]): Job =>
  records.reduce((before, record) => step(before, inputOf(record), contextAt(record.appendedAt)).job, job)

it('an owner that reads the rest comes to the same definition and the same state', () => {
  let [folded, left, removed] = [0, 0, 0]
  for (let seed = 0; seed < 1_000; seed++) {
    const chance = new Chance(seed)
    const records = Array.from({ length: chance.int(1, 6) }, (_, index): JobsRecord => {
      const [offset, appendedAt] = [10 * index + chance.int(0, 9), 1_000 * index]
      const spec = randomDefinition(chance, appendedAt)
      const definition = chance.happens(0.2) ? undefined : { offset, appendedAt, bytes: Buffer.alloc(0), spec }
      return {
        offset,
        appendedAt,
        decided: false,
        definition,
        headers: chance.happens(0.1) ? { 'only-new': Buffer.alloc(0) } : {},
      }
    })
    const cut = chance.int(0, records.length)
    const { state } = applied({ id: 'job' }, records.slice(0, cut))
    const logged = records.map((record, index) => ({ ...record, decided: index < cut }))
    const kept = state?.definitionKept ? applied({ id: 'job' }, records.slice(0, cut)).definition : undefined
    const copy = capturedJob({ id: 'job', state, retained: kept, records: logged, events: [] })
    const flagged = logged.map((record) => ({ ...record, isTombstone: record.definition === undefined }))
    const thinned = effective(flagged, state?.specOffset).map(({ isTombstone: _, ...record }) => record)
    expect(capturedJob({ id: 'job', state, retained: kept, records: thinned, events: [] }), `seed ${seed}`).toEqual(copy)
    removed += flagged.length - thinned.length
    const whole = applied({ id: 'job' }, records)
    const continued = applied({ id: 'job', definition: copy.definition, state: copy.state }, copy.pending)
    expect({ spec: continued.definition?.spec, state: continued.state }, `seed ${seed}`).toEqual({
      spec: whole.definition?.spec,
      state: whole.state,
    })
    // An owner decides, and logs what it decides.
    expect(copy.state, `seed ${seed}`).toEqual(state)
    folded += records.length - cut - copy.pending.length
    left += copy.pending.length
  }
  expect(Math.min(folded, left, removed)).toBeGreaterThan(100)
})

it('a definition that only job-state has is the one in force', () => {
  const history = new JobHistory()
    .define({ schedule: { everyMs: 1_000 }, version: 2 })
    .define({ schedule: { everyMs: 500 }, version: 1 })
  const { state, definition } = history.job
  const dropped = {
    offset: 1,
    appendedAt: 0,
    decided: true,
    definition: { offset: 1, appendedAt: 0, bytes: Buffer.alloc(0) },
    headers: {},
  }
  const copy = capturedJob({ id: 'job', state, retained: definition, records: [dropped], events: [] })
  expect(copy.definition).toEqual(definition)
})

it('only reports of active attempts belong to it, and no heartbeat', () => {
  const { state } = new JobHistory().define().until(1_000).job
  const event = (more: Partial<ExecutionEvent>): ExecutionEvent => ({
    ...{ type: 'SUCCEEDED', jobId: 'job', runNo: 1, attempt: 1, specOffset: 0, at: 0, worker: 'w', startedAt: 0 },
    ...{ result: null, error: null, progress: null, message: null, ...more },
  })
  const events = [event({}), event({ type: 'HEARTBEAT' }), event({ runNo: 2 }), event({ attempt: 2 }), event({ specOffset: 1 })]
  expect(capturedJob({ id: 'job', state, retained: undefined, records: [], events }).events).toEqual([events[0]])
})

it('a report of a run that waits in the copy belongs to a dispatch after it, and a retry has only the report of the retrier', () => {
  const { state } = new JobHistory().define().until(1_000).job
  const [run] = state?.active ?? []
  if (state === undefined || run === undefined) throw new Error('no run')
  const types = ['STARTED', 'SUCCEEDED', 'FAILED', 'RELEASED', 'RETRY_DUE'] as const
  const events = types.map((type) => ({
    ...{ type, jobId: 'job', runNo: run.runNo, attempt: run.attempt, specOffset: run.specOffset, at: 0, worker: 'w' },
    ...{ startedAt: 0, result: null, error: null, progress: null, message: null },
  }))
  const kept = (status: typeof run.status): string[] => {
    const copy = { id: 'job', state: { ...state, active: [{ ...run, status }] }, retained: undefined, records: [], events }
    return capturedJob(copy).events.map(({ type }) => type)
  }
  expect(kept('WAITING')).toEqual([])
  expect(kept('RETRY_WAIT')).toEqual(['RETRY_DUE'])
  expect(kept('DISPATCHED')).toEqual(['STARTED', 'SUCCEEDED', 'FAILED', 'RELEASED'])
})

it('a tombstone that an owner wrote is pending: a definition after it may mean the new job', () => {
  const tombstone = {
    ...{ offset: 3, appendedAt: 0, decided: false, definition: undefined },
    headers: { 'observed-offset': Buffer.from('2') },
  }
  const { state } = new JobHistory().define().until(1_000).job
  const copy = capturedJob({ id: 'job', state, retained: undefined, records: [tombstone], events: [] })
  expect(copy.pending).toEqual([tombstone])
})

it('a definition whose condition was refused, because there was no such job, is not in it', () => {
  const definition = { offset: 2, appendedAt: 0, bytes: Buffer.alloc(0), spec: new JobHistory().define().job.definition?.spec }
  const refused = { offset: 2, appendedAt: 0, decided: true, definition: definition as KnownDefinition }
  const removed = {
    offset: 3,
    appendedAt: 0,
    decided: false,
    definition: undefined,
    headers: { 'observed-offset': Buffer.from('2') },
  }
  for (const header of ['0', '*']) {
    const records = [{ ...refused, headers: { 'only-over': Buffer.from(header) } }, removed]
    const copy = capturedJob({ id: 'job', state: undefined, retained: undefined, records, events: [] })
    expect(copy).toMatchObject({ definition: undefined, state: undefined, pending: [] })
  }
})

it('a follow-up belongs to it if the run that sent it has ended in it', () => {
  expect(followUpOf('after:a/b/3@12-x')).toEqual({ jobId: 'a/b', runNo: 3, life: '12-x' })
  expect(followUpOf('my-own')).toBeUndefined()
  const history = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define({ schedule: { everyMs: 1_000 } }).until(1_000)
  const state = history.job.state as JobState
  const of = (known: JobState | undefined, definition: boolean) => (): SourceJob => ({
    ...{ state: known, readUntil: 1, sinceMs: 0 },
    records: definition ? [{ offset: 0, appendedAt: 0, decided: true, definition: history.job.definition, headers: {} }] : [],
  })
  const id = (runNo: number, life = state.life): string => `after:job/${runNo}@${life}`
  expect(isOfCopy(id(1), of(state, true))).toBe(true)
  expect(isOfCopy(id(2), of(state, true))).toBe(false)
  const running = new JobHistory().define({ schedule: { everyMs: 1_000 } }).until(1_000).job.state
  expect(isOfCopy(id(1, running?.life), of(running, true))).toBe(false)
  expect(isOfCopy(id(1), of(undefined, true))).toBe(false)
  expect(isOfCopy(id(1), of(undefined, false))).toBe(true)
  expect(isOfCopy(id(2, 'an-earlier-life'), of(state, true))).toBe(true)
  expect(isOfCopy('my-own', () => undefined)).toBe(true)
})

it('a follow-up of a job that begins after the copy does not belong to it', () => {
  const { job } = new JobHistory().define({ schedule: { everyMs: 1_000 } }).until(1_000)
  const of = (known: Partial<SourceJob>) => (): SourceJob => ({
    state: undefined,
    records: [],
    readUntil: 7,
    sinceMs: 100,
    ...known,
  })
  const deleted: JobsRecord = { offset: 6, appendedAt: 150, decided: false, definition: undefined, headers: {} }
  const again: JobsRecord = {
    ...deleted,
    offset: 5,
    definition: { offset: 5, appendedAt: 150, bytes: Buffer.alloc(0), spec: undefined },
  }
  // Appended at 200, 150 and 99.
  const [unread, read, older] = ['after:job/1@7-5k', 'after:job/1@5-46', 'after:job/1@7-2r']
  for (const records of [[], [deleted]]) expect(isOfCopy(unread, of({ records }))).toBe(false)
  expect(isOfCopy(unread, of({ state: job.state }))).toBe(false)
  for (const records of [[again], [again, deleted]]) expect(isOfCopy(read, of({ state: job.state, records }))).toBe(false)
  // Its job was deleted before the copy.
  expect(isOfCopy(read, of({}))).toBe(true)
  // Of a log that was restored: its offset is not one of this log.
  expect(isOfCopy(older, of({}))).toBe(true)
})

it('a follow-up of an earlier life of its job belongs to it', () => {
  const at = (offset: number, decided = true): JobsRecord => ({
    ...{ offset, appendedAt: 150, decided, headers: {} },
    definition: { offset, appendedAt: 150, bytes: Buffer.alloc(0), spec: undefined },
  })
  const deletion = (observed?: number): JobsRecord => ({
    ...{ ...at(4), definition: undefined },
    headers: observed === undefined ? {} : { 'observed-offset': Buffer.from(String(observed)) },
  })
  const isKept = (...records: JobsRecord[]): boolean =>
    isOfCopy('after:job/1@2-46', () => ({ state: undefined, records, readUntil: 9, sinceMs: 100 }))
  // Compaction may have removed its records, and nobody may have decided the next definition yet.
  for (const after of [[], [at(6)], [at(6, false)]]) {
    expect(isKept(...after)).toBe(true)
    for (const observed of [undefined, 2, 3]) expect(isKept(at(2), deletion(observed), ...after)).toBe(true)
  }
  // Without a state nothing of its definition was decided: its first run comes after the copy.
  expect(isKept(at(2))).toBe(false)
  // The owner's tombstone is for an earlier definition.
  expect(isKept(at(2), deletion(1))).toBe(false)
})
