import { describe, expect, it } from 'vitest'
import type { JobView } from '../../../src/ground/ports/owner-queries.ts'
import type { JobFilter } from '../../../src/ground/ports/owner-views.ts'
import { listedBytesMax, listJobsOf } from '../../../src/scheduler/queries/job-search.ts'
import { SearchIndex, WrittenDefinitions } from '../../../src/scheduler/queries/search-index.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { pristineState } from '../../../streams/state/draft.ts'
import type { Job } from '../../../streams/state/job.ts'
import { indexKeysOf } from '../../../streams/state/job-index.ts'
import { definitionKey, definitionValue, stateKey, timerKey } from '../../../streams/state/keys.ts'
import { timersOf } from '../../../streams/state/timers.ts'
import { codecs } from '../../model/world.ts'
import { memoryStore } from '../../tools/memory-store.ts'

const now = Date.UTC(2030, 0, 1)
const none = Buffer.alloc(0)

/** Many jobs of two handlers. A few of them are tagged, paused or completed. */
async function filled(count: number, searchIndex = new SearchIndex()) {
  const written = new WrittenDefinitions()
  const store = written.hook({ partition: 0 }).opened(memoryStore())
  const ops = []
  for (let index = 0; index < count; index++) {
    const id = `job-${String(index).padStart(6, '0')}${index % 4_000 === 77 ? '-odd' : ''}`
    const spec = completeDefinition({
      schedule: { at: now + index },
      target: { handler: index % 3_000 === 8 ? 'rare' : 'common' },
      tags: index % 900 === 5 ? ['few'] : [],
      paused: index % 5_000 === 6,
    })
    const definition = { offset: index, appendedAt: now, bytes: codecs.definition.encode(spec), spec }
    const job: Job = { id, definition }
    ops.push({ key: definitionKey(id), value: definitionValue(definition) })
    for (const timer of timersOf(job)) ops.push({ key: timerKey(timer), value: none })
    for (const key of indexKeysOf(job)) ops.push({ key, value: none })
    if (index % 7_000 === 9) {
      const state = { ...pristineState(job), status: 'COMPLETED' as const }
      ops.push({ key: stateKey(id), value: codecs.state.encode({ state }) })
    }
  }
  await store.apply(ops)
  const viewOf = (job: Job): JobView | undefined => {
    const { definition } = job
    if (definition === undefined) return undefined
    const state = job.state ?? pristineState(job)
    return { ...state, id: job.id, partition: 0, offset: definition.offset, definition: definition.spec } as unknown as JobView
  }
  const place = { store, codecs, viewOf, searchIndex }
  const all = async (filter: JobFilter, limit = 7) => {
    const ids: string[] = []
    let calls = 0
    let after: string | undefined
    do {
      searchIndex.note(written.take(0))
      const listed = await listJobsOf(place, { filter, limit, after })
      expect(listed.jobs.length).toBeLessThanOrEqual(limit)
      ids.push(...listed.jobs.map(({ id }) => id))
      after = listed.next
      calls++
    } while (after !== undefined && calls < 1_000)
    return { ids, calls }
  }
  return { store, all, list: (filter: JobFilter, limit: number) => listJobsOf(place, { filter, limit, after: undefined }) }
}
const indexesOf = (ids: string[]): number[] => ids.map((id) => Number(id.slice(4, 10)))
const every = (step: number, first: number, count: number): number[] =>
  Array.from({ length: Math.ceil((count - first) / step) }, (_, index) => first + index * step)

describe('a search through the jobs of a partition', () => {
  const count = 25_000
  it.each<[string, JobFilter, number[]]>([
    ['handler', { handler: 'rare' }, every(3_000, 8, count)],
    ['a part of an id', { idContains: '77-o' }, every(4_000, 77, count)],
    ['both', { handler: 'common', idContains: '-odd' }, every(4_000, 77, count)],
    ['a prefix and a part', { idPrefix: 'job-004', idContains: 'odd' }, [4_077]],
    ['a prefix and a handler', { idPrefix: 'job-00', handler: 'rare' }, every(3_000, 8, 10_000)],
    ['a prefix and a tag', { idPrefix: 'job-001', tag: 'few' }, [1_805]],
    ['tag', { tag: 'few' }, every(900, 5, count)],
    ['tag and handler', { tag: 'few', handler: 'rare' }, []],
    ['status PAUSED', { status: 'PAUSED' }, every(5_000, 6, count)],
    ['status COMPLETED', { status: 'COMPLETED' }, every(7_000, 9, count)],
    ['status COMPLETED and handler', { status: 'COMPLETED', handler: 'common' }, every(7_000, 9, count)],
    ['a due time before which few are', { dueBefore: now + 3 }, [0, 1, 2]],
    ['a due time before which many are', { dueBefore: now + 20_000, handler: 'rare' }, every(3_000, 8, 20_000)],
  ])('finds exactly the jobs of its filter, once and in order: %s', async (_, filter, wanted) => {
    const { all } = await filled(count)
    expect(indexesOf((await all(filter)).ids)).toEqual(wanted)
    // The second search uses the index that the first search built.
    expect(indexesOf((await all(filter)).ids)).toEqual(wanted)
  })

  it('reads the jobs one by one if the search index is full', async () => {
    const { all } = await filled(count, new SearchIndex(20_000))
    expect(indexesOf((await all({ handler: 'rare' })).ids)).toEqual(every(3_000, 8, count))
  })

  it.each<[string, JobFilter]>([
    ['all', {}],
    ['those of a handler', { handler: 'large' }],
    ['those of a tag', { tag: 'large' }],
    ['those that are due soon', { dueBefore: now + 1 }],
  ])('gives few large jobs at a time, and all of them in the end: %s', async (_, filter) => {
    const { store, all, list } = await filled(0)
    const payload = Buffer.alloc(300_000, 'x')
    const spec = completeDefinition({ schedule: { at: now }, target: { handler: 'large' }, tags: ['large'], payload })
    const definition = { offset: 0, appendedAt: now, bytes: codecs.definition.encode(spec), spec }
    const ids = Array.from({ length: 10 }, (_, index) => `large-${index}`)
    for (const id of ids) {
      const keys = [definitionKey(id), ...timersOf({ id, definition }).map(timerKey), ...indexKeysOf({ id, definition })]
      await store.apply(keys.map((key, index) => ({ key, value: index === 0 ? definitionValue(definition) : none })))
    }
    expect((await all(filter, 100)).ids).toEqual(ids)
    const first = await list(filter, 100)
    expect(first.jobs).toHaveLength(Math.ceil(listedBytesMax / payload.length))
    expect(first.next).toBe(first.jobs.at(-1)?.id)
  })

  it('shows no job that was deleted or has another handler meanwhile', async () => {
    const { store, all } = await filled(4_000)
    expect(indexesOf((await all({ handler: 'rare' })).ids)).toEqual([8, 3_008])
    const spec = completeDefinition({ schedule: { at: now }, target: { handler: 'common' } })
    const value = definitionValue({ offset: 9_000, appendedAt: now, bytes: codecs.definition.encode(spec) })
    await store.apply([
      { key: definitionKey('job-000008'), value: null },
      { key: definitionKey('job-003008'), value },
    ])
    expect((await all({ handler: 'rare' })).ids).toEqual([])
  })
})
