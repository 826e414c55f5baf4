/** Scans of a whole store with heavy jobs: few jobs are in memory at the same time. */
import { expect, it } from 'vitest'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { entriesOf } from '../../src/scheduler/partition/invalid-positions.ts'
import { SearchIndex } from '../../src/scheduler/queries/search-index.ts'
import { ZoneWalk } from '../../src/scheduler/timers/zone-rules.ts'
import { definitionKey, definitionValue, prefix, snapshotKey } from '../../streams/state/keys.ts'
import { codecs } from '../model/world.ts'
import { ManualClock } from '../tools/manual-clock.ts'
import { memoryStore } from '../tools/memory-store.ts'

const count = 60
const payload = Buffer.alloc(500_000, 'x')
const ids = Array.from({ length: count }, (_, index) => `heavy-${index}`)
const schedule = { cron: '0 9 * * *', timezone: 'Europe/Paris' }
const bytes = codecs.definition.encode({ schedule, target: { handler: 'x' }, payload })
const value = definitionValue({ offset: 1, appendedAt: 0, bytes })

/** A store with these definitions and stored executions, and the largest number of bytes that one read returned. */
function watched() {
  const store = memoryStore()
  store.applyNow(ids.map((id) => ({ key: definitionKey(id), value })))
  store.applyNow(ids.map((id) => ({ key: snapshotKey(id, 1), value })))
  const seen = { most: 0 }
  const note = (values: (Buffer | null)[]): void => {
    seen.most = Math.max(
      seen.most,
      values.reduce((sum, one) => sum + (one?.length ?? 0), 0),
    )
  }
  const { get, scan } = store
  store.get = async (keys) => {
    const values = await get(keys)
    note(values)
    return values
  }
  store.scan = async (options) => {
    const entries = await scan(options)
    note(entries.map((entry) => entry.value))
    return entries
  }
  return { store, seen }
}

it('a search index is read in pieces, with definitions that came since', async () => {
  const { store, seen } = watched()
  const searchIndex = new SearchIndex()
  expect(await searchIndex.advance(store, codecs, 1_000_000)).toBe(count)
  expect(searchIndex.propose({ handler: 'x' }, undefined, 100)).toMatchObject({ ids: ids.toSorted(), upTo: undefined })
  expect(seen.most).toBeLessThan(6 * payload.length)
  searchIndex.note(ids)
  await searchIndex.advance(store, codecs, 0)
  expect(seen.most).toBeLessThan(33 * payload.length)
})

it('a store whose states are logged again is read in pieces', async () => {
  const { store, seen } = watched()
  let entries = 0
  for await (const { key } of entriesOf(store, [prefix.state, prefix.snapshot])) entries += key.length > 0 ? 1 : 0
  expect(entries).toBe(count)
  expect(seen.most).toBeLessThan(4 * payload.length)
})

it('the walk over all jobs after new time zone rules reads in pieces', async () => {
  const { store, seen } = watched()
  const walk = new ZoneWalk(0, store, { codecs, clock: new ManualClock(), metrics: newMetrics() })
  await walk.checkNext(() => {}, 50)
  expect(walk.view.checked).toBe(50)
  await walk.checkNext(() => {}, 50)
  expect(walk.view.checked).toBe(count)
  expect(seen.most).toBeLessThan(6 * payload.length)
})
