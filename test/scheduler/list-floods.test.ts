/**
 * Many concurrent lists of all jobs of a partition: between two turns of the event loop few jobs are read, whatever the number
 * of callers.
 */
import { expect, it } from 'vitest'
import { type Clock, systemClock } from '../../src/ground/clock/clock.ts'
import { FairSlots, listSlots, slotWaitersMax } from '../../src/ground/concurrency/semaphore.ts'
import { jobQueries } from '../../src/scheduler/queries/job-queries.ts'
import { WholeSearches } from '../../src/scheduler/queries/whole-searches.ts'
import { completeDefinition } from '../../streams/definitions/definition-json.ts'
import { definitionKey, definitionValue } from '../../streams/state/keys.ts'
import { codecs } from '../model/world.ts'
import { memoryStore } from '../tools/memory-store.ts'

const jobs = 2_000
const asked = 40

/** A store that answers in a later turn of the event loop, like one on disk. */
async function filled() {
  const store = memoryStore()
  const spec = completeDefinition({ schedule: { at: 1 }, target: { handler: 'common' } })
  const value = definitionValue({ offset: 0, appendedAt: 0, bytes: codecs.definition.encode(spec) })
  await store.apply(Array.from({ length: jobs }, (_, index) => ({ key: definitionKey(`job-${index}`), value })))
  let loaded = 0
  const get: typeof store.get = async (keys) => {
    await new Promise(setImmediate)
    loaded += keys.length / 2
    return store.get(keys)
  }
  const scan: typeof store.scan = async (range) => {
    await new Promise(setImmediate)
    return store.scan(range)
  }
  return { store: { ...store, get, scan }, loaded: () => loaded }
}

const clock: Clock = systemClock
const placesOf = (places: number) => new FairSlots({ what: 'lists of jobs', places, clock })
const queriesOf = (store: Awaited<ReturnType<typeof filled>>['store'], lists = placesOf(listSlots)) =>
  jobQueries(
    {
      storeOf: () => store,
      heartbeat: () => null,
      jobsUnderWay: async () => [],
      written: () => undefined,
    },
    { codecs, clock },
    lists,
    new WholeSearches({ codecs, reading: (_partition, task) => task(store) }),
  )

it('lists read a few jobs in each round of the event loop', async () => {
  const { store, loaded } = await filled()
  const queries = queriesOf(store)
  let [last, most, goesOn] = [0, 0, true]
  const look = (): void => {
    most = Math.max(most, loaded() - last)
    last = loaded()
    if (goesOn) setImmediate(look)
  }
  setImmediate(look)
  const none = { status: 'PAUSED' as const, idPrefix: 'job-' }
  const found = await Promise.all(Array.from({ length: asked }, () => queries.list(0, none, 10)))
  goesOn = false
  expect(found.map(({ looked }) => looked)).toEqual(found.map(() => jobs))
  expect(loaded()).toBe(asked * jobs)
  expect(most).toBeLessThanOrEqual(listSlots * 64)
})

it('lists are refused when too many wait', async () => {
  const { store } = await filled()
  const held = Promise.withResolvers<void>()
  const lists = placesOf(1)
  const holding = lists.run(() => held.promise)
  const queries = queriesOf(store, lists)
  const waiting = Array.from({ length: slotWaitersMax }, () => queries.list(0, {}, 1))
  await expect(queries.list(0, {}, 1)).rejects.toMatchObject({ code: 'overloaded' })
  held.resolve()
  await holding
  expect((await Promise.all(waiting)).every(({ jobs: [job] }) => job !== undefined)).toBe(true)
})
