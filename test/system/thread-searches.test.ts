/** Searches in a thread of their own: the answers of a search in place, and an error to the caller whatever happens to thread and store. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { jobDefinitionSchema } from '../../schemas/generated.ts'
import { type Clock, systemClock } from '../../src/ground/clock/clock.ts'
import { FairSlots } from '../../src/ground/concurrency/semaphore.ts'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import type { JobView } from '../../src/ground/ports/owner-queries.ts'
import type { JobFilter } from '../../src/ground/ports/owner-views.ts'
import { avroType } from '../../src/log/kafka/avro/avro-type.ts'
import { AvroCodec } from '../../src/log/kafka/avro/codec.ts'
import { codecsWithoutRegistry } from '../../src/log/kafka/avro/codecs.ts'
import { rocksStores } from '../../src/log/store/rocks-store.ts'
import { ThreadSearches } from '../../src/program/system/thread-searches.ts'
import { jobQueries } from '../../src/scheduler/queries/job-queries.ts'
import { WrittenDefinitions } from '../../src/scheduler/queries/search-index.ts'
import { completeDefinition } from '../../streams/definitions/definition-json.ts'
import { pristineState } from '../../streams/state/draft.ts'
import { indexKeysOf } from '../../streams/state/job-index.ts'
import { definitionKey, definitionValue, stateKey } from '../../streams/state/keys.ts'

const codecs = codecsWithoutRegistry()
const none = Buffer.alloc(0)
/** No search is given up, however busy the machine is. */
const endless = { nowMs: () => 0, at: () => () => {} }
interface Given {
  handler: string
  tag: string
  status: 'ACTIVE' | 'COMPLETED' | undefined
}

async function room(seed = codecs.seed, clock: Pick<Clock, 'nowMs' | 'at'> = endless) {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-searches-'))
  const stores = rocksStores(folder)
  const searches = new ThreadSearches({ folder, seed, clock })
  const written = new WrittenDefinitions()
  const opened = written.hook({ partition: 0 }).opened((await stores.open(0)).store)
  const sight = { isOwner: true, isOther: false }
  onTestFinished(async () => {
    await searches.stop()
    await opened.close().catch(() => {})
    await rm(folder, { recursive: true, force: true })
  })
  const queries = jobQueries(
    {
      storeOf() {
        if (!sight.isOwner) throw new DuelogError('not-ready', 'The partition has moved.')
        return sight.isOther ? { ...opened } : opened
      },
      heartbeat: (_partition, id, { runNo }) => ({ checkedAt: runNo, progress: null, message: id }),
      jobsUnderWay: async () => [],
      written: () => written.take(0),
    },
    { codecs, clock: systemClock },
    new FairSlots({ what: 'lists of jobs', places: 2, clock: systemClock }),
    searches,
  )
  /** Without a bytes: the definition as it is encoded here. */
  const put = async (
    jobs: [id: string, given: Given | null][],
    bytesOf: (spec: never) => Buffer = (spec) => codecs.definition.encode(spec),
  ): Promise<void> => {
    const ops = jobs.flatMap(([id, given]) => {
      if (given === null) return [definitionKey(id), stateKey(id)].map((key) => ({ key, value: null }))
      const { handler, tag, status } = given
      const spec = completeDefinition({ schedule: { at: 9e12 }, target: { handler }, tags: [tag], payload: Buffer.from('{}') })
      const definition = { offset: 1, appendedAt: 1, bytes: bytesOf(spec as never), spec }
      const state = status && { ...pristineState({ id, definition }), status, active: [activeRun] }
      return [
        { key: definitionKey(id), value: definitionValue(definition) },
        ...indexKeysOf({ id, definition }).map((key) => ({ key, value: none })),
        ...[{ key: stateKey(id), value: state === undefined ? null : codecs.state.encode({ state }) }],
      ]
    })
    await opened.apply(ops)
  }
  const all = async (filter: JobFilter, limit = 100): Promise<JobView[]> => {
    const found: JobView[] = []
    for (let after: string | undefined; ; ) {
      const listed = await queries.list(0, filter, limit, after)
      found.push(...listed.jobs)
      if (listed.next === undefined) return found
      after = listed.next
    }
  }
  return { folder, stores, store: opened, searches, sight, queries, put, all }
}

const activeRun = {
  ...{ runNo: 7, specOffset: 1, scheduledFor: 1, status: 'DISPATCHED' as const, attempt: 1, dueAt: 1, dispatchedAt: 1 },
  ...{ attemptTimeoutMs: 1_000, leaseMs: 1_000, startDeadlineAt: 9 },
} as never
const idOf = (index: number): string => `job-${String(index).padStart(5, '0')}`
const common = { handler: 'common', tag: 'a', status: undefined }
const many = (count: number): [string, Given][] => Array.from({ length: count }, (_, index) => [idOf(index), common])

it('finds what a plain filter finds, with everything that was written before the call', async () => {
  const { put, all } = await room()
  const known = new Map<string, Given>(many(1_200))
  await put([...known])
  const given = fc.record({
    handler: fc.constantFrom('common', 'rare', 'rar'),
    tag: fc.constantFrom('a', 'b'),
    status: fc.constantFrom('ACTIVE' as const, 'COMPLETED' as const, undefined),
  })
  const filter = fc.record(
    {
      handler: fc.constantFrom('common', 'rare', 'rar', 'none'),
      tag: fc.constantFrom('a', 'b'),
      status: fc.constantFrom('ACTIVE' as const, 'COMPLETED' as const),
      idPrefix: fc.constantFrom('job-', 'job-010', 'z'),
      idContains: fc.constantFrom('9', '07', 'zz'),
    },
    { requiredKeys: [] },
  )
  const change = fc.tuple(fc.nat(1_300).map(idOf), fc.option(given))
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 40 }), filter, fc.constantFrom(3, 100), async (changes, wanted, limit) => {
      await put(changes)
      for (const [id, now] of changes)
        if (now === null) known.delete(id)
        else known.set(id, now)
      const expected = [...known].filter(
        ([id, { handler, tag, status = 'ACTIVE' }]) =>
          (wanted.handler ?? handler) === handler &&
          (wanted.tag ?? tag) === tag &&
          (wanted.status ?? status) === status &&
          id.startsWith(wanted.idPrefix ?? '') &&
          id.includes(wanted.idContains ?? ''),
      )
      const found = await all(wanted, limit)
      expect(found.map(({ id }) => id)).toEqual(expected.map(([id]) => id).sort())
    }),
    { numRuns: 40 },
  )
}, 120_000)

it('finds by the index that it has built what was written since', async () => {
  const { put, all } = await room()
  await put(many(600))
  expect(await all({ handler: 'rare' })).toEqual([])
  const rare = { ...common, handler: 'rare' }
  await put([idOf(550), 'job-x'].map((id) => [id, rare]))
  expect((await all({ handler: 'rare' })).map(({ id }) => id)).toEqual([idOf(550), 'job-x'])
})

it('gives payloads as buffers, and the heartbeats that only the owner knows', async () => {
  const { put, all } = await room()
  await put([...many(600), ['job-x', { handler: 'rare', tag: 'a', status: 'ACTIVE' }]])
  const [found] = await all({ idPrefix: 'job-x', handler: 'rare' })
  const [searched] = await all({ handler: 'rare' })
  expect(searched).toEqual(found)
  expect(Buffer.isBuffer(searched?.definition?.payload)).toBe(true)
  expect(searched?.active).toMatchObject([{ runNo: 7, heartbeat: { checkedAt: 7, message: 'job-x' } }])
})

it('asks its process for the schemas of other writers', async () => {
  const asked: number[] = []
  const known: Record<number, string> = { 77: JSON.stringify(jobDefinitionSchema) }
  const { put, all } = await room({
    ...codecs.seed,
    async schemaOf(id) {
      asked.push(id)
      return known[id] ?? null
    },
  })
  const encoder = (id: number) => {
    const codec = new AvroCodec(avroType(jobDefinitionSchema), [id], () => Promise.reject(new Error('unused')))
    return (spec: never) => codec.encode(spec)
  }
  await put(many(600))
  await put([['job-x', { ...common, handler: 'rare' }]], encoder(77))
  await put([['job-y', { ...common, handler: 'rare' }]], encoder(78))
  expect((await all({ handler: 'rare' })).map(({ id }) => id)).toEqual(['job-x'])
  await all({ handler: 'rare' })
  expect(asked).toEqual([77, 78])
})

it('ends when the caller is gone, and has the next search then', async () => {
  const { put, queries, all } = await room()
  await put(many(3_000))
  await all({ handler: 'none' })
  const gone = new AbortController()
  const search = queries.list(0, { idPrefix: 'job-', status: 'COMPLETED' }, 10, undefined, { caller: '', signal: gone.signal })
  const long = queries.list(0, { idPrefix: 'job-', handler: 'none' }, 10, undefined, { caller: '', signal: gone.signal })
  gone.abort(new Error('gone'))
  await expect(long).rejects.toThrow('gone')
  await search.catch(() => {})
  expect(await all({ handler: 'common' }, 1_000)).toHaveLength(3_000)
})

it('rejects if the partition has another owner by the end of the search', async () => {
  const { put, queries, sight } = await room()
  await put(many(3_000))
  const search = expect(queries.list(0, { handler: 'none' }, 10)).rejects.toMatchObject({ code: 'not-ready' })
  await queries.job(0, 'job-x')
  sight.isOwner = false
  await search
})

it('rejects if the partition went and came back with another store during the search', async () => {
  const { put, queries, sight } = await room()
  await put(many(3_000))
  const search = expect(queries.list(0, { handler: 'none' }, 10)).rejects.toMatchObject({ code: 'not-ready' })
  await queries.job(0, 'job-x')
  sight.isOther = true
  await search
})

it('ends a thread that does not answer in time, and the next search starts another', async () => {
  const timers = new Set<() => void>()
  const clock = {
    nowMs: () => 0,
    at(_ms: number, ring: () => void) {
      timers.add(ring)
      return () => void timers.delete(ring)
    },
  }
  const asked = Promise.withResolvers<void>()
  const answers: Promise<string | null>[] = [new Promise(() => {}), Promise.resolve(null)]
  const schemaOf = (): Promise<string | null> => {
    asked.resolve()
    return answers.shift() ?? Promise.resolve(null)
  }
  const { put, searches } = await room({ ...codecs.seed, schemaOf }, clock)
  await put(many(10))
  await put([['job-x', { ...common, handler: 'rare' }]], (spec) => {
    const bytes = Buffer.from(codecs.definition.encode(spec))
    bytes.writeUInt32BE(79, 1)
    return bytes
  })
  const search = { partition: 0, query: { filter: { handler: 'rare' }, limit: 10 } }
  const late = expect(searches.list(search)).rejects.toMatchObject({ code: 'overloaded' })
  await asked.promise
  for (const ring of timers) ring()
  await late
  // The old thread may still take one, and rejects it when it ends.
  expect(await searches.list(search).catch(() => searches.list(search))).toMatchObject({ jobs: [] })
})

it('survives a store that is closed and wiped during a search', async () => {
  const { put, stores, store, searches } = await room()
  await put(many(5_000))
  const search = { partition: 0, query: { filter: { handler: 'none' }, limit: 10 } }
  expect(await searches.list(search)).toMatchObject({ jobs: [], looked: 5_000 })
  const [running] = await Promise.all([Promise.allSettled([searches.list(search)]), store.close().then(() => stores.wipe(0))])
  expect(running[0]).toMatchObject(
    running[0].status === 'fulfilled' ? { value: { jobs: [] } } : { reason: { code: 'not-ready' } },
  )
  await expect(searches.list(search)).rejects.toMatchObject({ code: 'not-ready' })
})

it('is an error to the caller if the thread dies, and the next search starts another', async () => {
  const seed = { ...codecs.seed }
  const { put, all } = await room(seed)
  await put(many(600))
  const { ids } = seed
  seed.ids = {} as typeof ids
  await expect(all({ handler: 'none' })).rejects.toMatchObject({ code: 'not-ready', message: expect.stringContaining('thread') })
  seed.ids = ids
  expect(await all({ handler: 'none' })).toEqual([])
})

it('makes no search any more once it is stopped', async () => {
  const { put, searches } = await room()
  await put(many(600))
  const search = { partition: 0, query: { filter: { handler: 'none' }, limit: 10 } }
  await searches.list(search)
  const running = expect(searches.list(search)).rejects.toMatchObject({ code: 'not-ready' })
  await searches.stop()
  await running
  await expect(searches.list(search)).rejects.toMatchObject({ code: 'not-ready' })
})
