/** How many inputs one commit cycle takes, by the bytes that it would write. */
import { expect, it } from 'vitest'
import type { JobCommand, JobDefinitionInput, JobState } from '../../../schemas/generated.ts'
import { type Batch, loadBatch } from '../../../src/scheduler/commit/batch-limits.ts'
import type { InputRecord } from '../../../src/scheduler/input/input-buffer.ts'
import { ActiveJobs } from '../../../src/scheduler/state/active-jobs.ts'
import { HeavyJobs } from '../../../src/scheduler/state/job-loader.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { pristineState } from '../../../streams/state/draft.ts'
import { definitionKey, definitionValue, stateKey, type Timer, timerKind } from '../../../streams/state/index.ts'
import type { Input } from '../../../streams/state/job.ts'
import { codecs } from '../../model/world.ts'
import { memoryStore } from '../../tools/memory-store.ts'

const megabyte = 1024 * 1024

/** A store with equal jobs j0, j1 and so on, and what it takes to load them. */
async function loadingOf(count: number, definition: Partial<JobDefinitionInput>, state: Partial<JobState> = {}) {
  const spec = completeDefinition({ schedule: { at: 1 }, target: { handler: 'h' }, ...definition })
  const known = { offset: 0, appendedAt: 0, spec, bytes: codecs.definition.encode(spec) }
  const store = memoryStore()
  const ids = Array.from({ length: count }, (_, at) => `j${at}`)
  for (const jobId of ids) {
    const value = codecs.state.encode({ state: { ...pristineState({ id: jobId, definition: known }), ...state } })
    await store.apply([
      { key: definitionKey(jobId), value: definitionValue(known) },
      { key: stateKey(jobId), value },
    ])
  }
  return { ids, loading: { store, codecs, heavyJobs: new HeavyJobs(), activeJobs: new ActiveJobs(() => 0), share: 1 } }
}

const recordOf = (jobId: string, offset: number, input: Input): InputRecord => {
  return { source: 'events', offset, jobId, input, value: null, bytes: 100, moved: undefined }
}

/** The batch of a cycle with one input for each of `count` equal jobs. */
async function batchOf(
  count: number,
  definition: Partial<JobDefinitionInput>,
  state: Partial<JobState>,
  input: (jobId: string) => Input,
): Promise<Batch> {
  const { ids, loading } = await loadingOf(count, definition, state)
  return loadBatch(
    loading,
    [],
    ids.map((jobId, offset) => recordOf(jobId, offset, input(jobId))),
  )
}

const succeeded =
  (resultBytes: number) =>
  (jobId: string): Input => {
    const attempt = { jobId, runNo: 1, attempt: 1, specOffset: 0, at: 0, worker: 'w', startedAt: null }
    const report = { result: Buffer.alloc(resultBytes), error: null, progress: null, message: null }
    return { kind: 'event', event: { type: 'SUCCEEDED', ...attempt, ...report } }
  }

it('a run that ends counts with the cause that each of its followers gets', async () => {
  const onSuccess = Array.from({ length: 16 }, (_, at) => `follower-${at}`)
  const { inputRecords } = await batchOf(64, { onSuccess }, {}, succeeded(65_536))
  expect(inputRecords.length).toBeGreaterThan(1)
  expect(inputRecords.length * 16 * 65_536).toBeLessThanOrEqual(4 * megabyte)
  expect((await batchOf(64, {}, {}, succeeded(65_536))).inputRecords).toHaveLength(64)
})

it('a deletion counts with its dead runs and its pages of follow-ups', async () => {
  const deadRuns = Array.from({ length: 1_000 }, (_, at) => at + 1)
  const followUps = { firstPage: 3, taken: 0, lastPage: 1_002, count: 1_000, bytes: 1, lookAt: null }
  const deletion = (): Input => ({ kind: 'deletion', offset: 1 })
  expect((await batchOf(100, {}, { deadRuns }, deletion)).inputRecords.length).toBeLessThan(40)
  expect((await batchOf(100, {}, { deadRuns, followUps }, deletion)).inputRecords.length).toBeLessThan(20)
  expect((await batchOf(100, {}, {}, deletion)).inputRecords).toHaveLength(100)
})

it('a run that may be given up counts twice: with its dead letter, and with what a redrive needs', async () => {
  const payload = Buffer.alloc(60_000, 'x')
  const { ids, loading } = await loadingOf(100, { payload })
  const taken = async (kind: Timer['kind']): Promise<number> => {
    const timers = ids.map((jobId) => ({ jobId, kind, runNo: 1, dueAt: 1 }))
    return (await loadBatch(loading, timers, [])).timers.length
  }
  const [lease, timeout, fire] = [
    await taken(timerKind.lease),
    await taken(timerKind.attemptTimeout),
    await taken(timerKind.fire),
  ]
  expect(2 * fire * payload.length).toBeGreaterThan(4 * megabyte)
  for (const count of [lease, timeout]) {
    expect(count).toBeGreaterThan(20)
    expect(2 * count * payload.length).toBeLessThanOrEqual(4 * megabyte)
  }
})

it('an input record that does not fit beside the timers gets its place before them once it has waited', async () => {
  const payload = Buffer.alloc(60_000, 'x')
  const { ids, loading } = await loadingOf(100, { payload })
  const timers = ids.map((jobId) => ({ jobId, kind: timerKind.fire, runNo: 0, dueAt: 1 }))
  const own = { commandId: 'c', at: 0, type: 'TRIGGER', payload: Buffer.alloc(12 * payload.length, 'y') } as const
  const command = codecs.command.decode(codecs.command.encode(own)) as JobCommand
  const records = [recordOf('j0', 0, { kind: 'command', command })]
  const [waits, comes] = [await loadBatch(loading, timers, records), await loadBatch(loading, timers, records, true)]
  expect([waits.inputRecords.length, waits.inputRecordsLeft.length]).toEqual([0, 1])
  expect([comes.inputRecords.length, comes.inputRecordsLeft.length]).toEqual([1, 0])
  expect(comes.timers.length).toBeGreaterThan(0)
  expect(comes.timers.length).toBeLessThan(waits.timers.length)
})
