/** The dead runs of a partition: newest first, by error and time, and those that an operation chooses by them. */
import { describe, expect, it } from 'vitest'
import type { FinishedRun } from '../../../schemas/index.ts'
import type { DeadRunsQuery, JobFilter } from '../../../src/ground/ports/owner-views.ts'
import { byDeath } from '../../../src/ground/records/owners.ts'
import { changeTargets } from '../../../src/scheduler/bulk/change-targets.ts'
import { listDeadRuns } from '../../../src/scheduler/queries/dead-runs.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { pristineState } from '../../../streams/state/draft.ts'
import type { Job } from '../../../streams/state/job.ts'
import { indexKeysOf } from '../../../streams/state/job-index.ts'
import { definitionKey, definitionValue, stateKey } from '../../../streams/state/keys.ts'
import { codecs } from '../../model/world.ts'
import { memoryStore } from '../../tools/memory-store.ts'

const start = Date.UTC(2030, 0, 1)
const minute = 60_000

/** Job `job-000` died first. Every third has another error; job-001 may hold a secret. */
async function died(count: number) {
  const store = memoryStore()
  for (let index = 0; index < count; index++) {
    const id = `job-${String(index).padStart(3, '0')}`
    const spec = completeDefinition({ schedule: { at: start }, target: { handler: 'h' }, tags: index % 2 === 0 ? ['even'] : [] })
    const definition = { offset: index, appendedAt: start, bytes: codecs.definition.encode(spec), spec }
    const error = { attempt: 1, at: start, worker: 'w', dueAt: start, dispatchedAt: start, startedAt: null, stack: 'at x' }
    const [type, message] = index % 3 === 0 ? ['TypeError', `no customer ${index}`] : ['Timeout', `order ${index} took long`]
    const lastRun = {
      ...{ runNo: 1, scheduledFor: start, trigger: 'SCHEDULE', commandId: null, status: 'DEAD', attempts: 1, startedAt: start },
      ...{ finishedAt: start + index * minute, worker: 'w', result: null, note: null, errors: [{ ...error, type, message }] },
      ...{ hiddenHash: index === 1 ? 7 : 0, specOffset: index, dueAt: start, dispatchedAt: start, hasOwnInput: false },
    } as FinishedRun
    const pristine: Job = { id, definition }
    const state = { ...pristineState(pristine), status: 'COMPLETED' as const, runNo: 1, deadRuns: [1], lastRun }
    const job: Job = { ...pristine, state }
    await store.apply([
      { key: definitionKey(id), value: definitionValue(definition) },
      { key: stateKey(id), value: codecs.state.encode({ state }) },
      ...indexKeysOf(job).map((key) => ({ key, value: Buffer.alloc(0) })),
    ])
  }
  const place = { store, codecs }
  const list = async (filter: JobFilter, more: Partial<DeadRunsQuery> = {}) => {
    const found = await listDeadRuns(place, { filter, limit: 100, harmlessOnly: false, ...more })
    return { ...found, ids: found.runs.map(({ place: { jobId } }) => jobId) }
  }
  const chosen = async (filter: JobFilter) => {
    const query = { action: 'REDRIVE' as const, commandPrefix: 'operation/1/', limit: 100, filter }
    const { targets } = await changeTargets(place, { ...query, cutOff: { jobsOffset: count, at: start + count * minute } })
    return targets.map(({ id }) => id)
  }
  return { list, chosen }
}

describe('dead runs', () => {
  it('are listed newest first, page by page, each once, with their number on all pages', async () => {
    const { list } = await died(7)
    const first = await list({}, { limit: 3 })
    expect(first).toMatchObject({ ids: ['job-006', 'job-005', 'job-004'], isCut: true, count: 7 })
    const last = first.runs.at(-1)?.place
    const second = await list({}, { limit: 10, ...(last && { before: last }) })
    expect(second).toMatchObject({ ids: ['job-003', 'job-002', 'job-001', 'job-000'], isCut: false, count: 7 })
    expect(second.runs[0]?.run?.errors[0]).toMatchObject({ type: 'TypeError', stack: null })
  })
  it('are counted by the kind of their errors', async () => {
    const { list } = await died(7)
    const kinds = (await list({})).kinds.map(({ kind, count, message }) => [kind, count, message])
    expect(kinds).toEqual([
      ['TypeError: no customer #', 3, 'no customer 6'],
      ['Timeout: order # took long', 4, 'order 5 took long'],
    ])
  })
  it.each<[JobFilter, string[]]>([
    [{ errorType: 'TypeError' }, ['job-006', 'job-003', 'job-000']],
    [{ errorKind: 'TypeError: no customer #' }, ['job-006', 'job-003', 'job-000']],
    [{ diedFrom: start + 5 * minute }, ['job-006', 'job-005']],
    [{ diedFrom: start + 2 * minute, diedTo: start + 4 * minute }, ['job-003', 'job-002']],
    [{ tag: 'even', errorType: 'Timeout' }, ['job-004', 'job-002']],
    [{ idPrefix: 'job-00', errorType: 'Nothing' }, []],
  ])('of %j are found, and an operation changes just these', async (filter, ids) => {
    const { list, chosen } = await died(7)
    expect((await list(filter)).ids).toEqual(ids)
    expect((await chosen(filter)).sort()).toEqual([...ids].sort())
  })
  it('that may hold secrets are found by no filter of errors, and their kind is not told to those who must not see it', async () => {
    const { list } = await died(3)
    expect((await list({ errorType: 'Timeout' }, { harmlessOnly: true })).ids).toEqual(['job-002'])
    const { ids, kinds } = await list({}, { harmlessOnly: true })
    expect(ids).toEqual(['job-002', 'job-001', 'job-000'])
    expect(kinds.map(({ kind }) => kind).sort()).toEqual(['', 'Timeout: order # took long', 'TypeError: no customer #'])
  })
  it('of one instant have one order', () => {
    const places = [
      { at: 1, jobId: 'b', runNo: 1 },
      { at: 1, jobId: 'a', runNo: 1 },
      { at: 1, jobId: 'a', runNo: 2 },
      { at: 2, jobId: 'c', runNo: 1 },
    ]
    expect(places.sort(byDeath).map(({ jobId, runNo }) => `${jobId}/${runNo}`)).toEqual(['c/1', 'a/2', 'a/1', 'b/1'])
  })
})
