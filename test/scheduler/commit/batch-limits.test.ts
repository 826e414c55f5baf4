/** How many inputs one commit cycle takes, by the bytes that it would write. */
import { expect, it } from 'vitest'
import type { JobDefinitionInput, JobState } from '../../../schemas/generated.ts'
import { type Batch, loadBatch } from '../../../src/scheduler/commit/batch-limits.ts'
import type { InputRecord } from '../../../src/scheduler/input/input-buffer.ts'
import { HeavyJobs } from '../../../src/scheduler/state/job-loader.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { pristineState } from '../../../streams/state/draft.ts'
import { definitionKey, definitionValue, stateKey } from '../../../streams/state/index.ts'
import type { Input } from '../../../streams/state/job.ts'
import { codecs } from '../../model/world.ts'
import { memoryStore } from '../../tools/memory-store.ts'

const megabyte = 1024 * 1024

/** The batch of a cycle with one input for each of `count` equal jobs. */
async function batchOf(
  count: number,
  definition: Partial<JobDefinitionInput>,
  state: Partial<JobState>,
  input: (jobId: string) => Input,
): Promise<Batch> {
  const spec = completeDefinition({ schedule: { at: 1 }, target: { handler: 'h' }, ...definition })
  const known = { offset: 0, appendedAt: 0, spec, bytes: codecs.definition.encode(spec) }
  const store = memoryStore()
  const inputRecords: InputRecord[] = []
  for (let offset = 0; offset < count; offset++) {
    const jobId = `j${offset}`
    const value = codecs.state.encode({ state: { ...pristineState({ id: jobId, definition: known }), ...state } })
    await store.apply([
      { key: definitionKey(jobId), value: definitionValue(known) },
      { key: stateKey(jobId), value },
    ])
    inputRecords.push({ source: 'events', offset, jobId, input: input(jobId), value: null, bytes: 100, moved: undefined })
  }
  return loadBatch({ store, codecs, heavyJobs: new HeavyJobs(), share: 1 }, [], inputRecords)
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
