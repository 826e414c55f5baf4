/** A standby that follows many heavy jobs: it reads few of them at a time, even if one fetch concerns many. */
import { expect, it } from 'vitest'
import { exactOps } from '../../src/scheduler/partition/standby.ts'
import { putRetainedDefinitions } from '../../src/scheduler/state/stored-entries.ts'
import { definitionKey, definitionValue, prefix, retainedDefinitionKey, stateKey } from '../../streams/state/keys.ts'
import { codecs } from '../model/world.ts'
import { memoryStore } from '../tools/memory-store.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const count = 60
const payload = Buffer.alloc(500_000, 'x')
const ids = Array.from({ length: count }, (_, index) => `heavy-${index}`)
/** Maximum bytes of one read. */
const readBytesMax = 10 * payload.length

const bytes = codecs.definition.encode({ schedule: { everyMs: 60_000 }, target: { handler: 'x' }, payload })
const definition = (offset: number): Buffer => definitionValue({ offset, appendedAt: 0, bytes })

/** A store with these definitions, and the largest number of bytes that one read returned. */
function watched() {
  const store = memoryStore()
  store.applyNow(ids.map((id) => ({ key: definitionKey(id), value: definition(1) })))
  const seen = { most: 0 }
  const { get } = store
  store.get = async (keys) => {
    const values = await get(keys)
    const sum = values.reduce((total, value) => total + (value?.length ?? 0), 0)
    seen.most = Math.max(seen.most, sum)
    return values
  }
  return { store, seen }
}

/** The entries as an owner logged them. */
async function loggedStates() {
  const driver = new SchedulerDriver()
  driver.boot('A')
  await driver.settle()
  for (const id of ids) driver.define(id, { schedule: { everyMs: 1_000 }, target: { handler: 'x' } })
  await driver.advance(3_000, 100)
  const records = driver.log.allOf('model.job-state').flatMap(({ log }) => log.archive)
  return records.flatMap(({ record }) => (record?.key?.[0] === prefix.state && record.value !== null ? [record] : []))
}

it('the first state of each job and its deletion are followed with few definitions in memory', async () => {
  const states = await loggedStates()
  const first = ids.map((id) => states.find(({ key }) => key?.equals(stateKey(id))))
  const records = first.filter((record) => record !== undefined)
  expect(records).toHaveLength(count)
  const { store, seen } = watched()
  const ops = await exactOps(codecs, store, records)
  expect(ops.filter(({ key }) => key[0] === prefix.timer).length).toBeGreaterThanOrEqual(count)
  expect(seen.most).toBeLessThan(readBytesMax)
  store.applyNow(ops)

  seen.most = 0
  await exactOps(codecs, store, records)
  // If a state follows a state, the definition is not read.
  expect(seen.most).toBeLessThan(payload.length)

  seen.most = 0
  const gone = await exactOps(
    codecs,
    store,
    records.map((record) => ({ ...record, value: null })),
  )
  expect(gone.filter(({ key, value }) => key[0] === prefix.timer && value === null).length).toBeGreaterThan(0)
  expect(seen.most).toBeLessThan(readBytesMax)
})

it('definitions that the changelog keeps are restored a few at a time', async () => {
  const { store, seen } = watched()
  store.applyNow(ids.map((id) => ({ key: retainedDefinitionKey(id), value: codecs.state.encode({ snapshot: definition(2) }) })))
  await putRetainedDefinitions(codecs, store)
  expect(store.getNow(ids.map(definitionKey)).every((value) => value?.equals(definition(2)))).toBe(true)
  expect(seen.most).toBeLessThan(readBytesMax)
})
