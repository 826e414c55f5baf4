import { expect, it } from 'vitest'
import { limitUses } from '../../../src/scheduler/queries/limit-uses.ts'
import { slotsKey, startsKey } from '../../../streams/state/keys.ts'
import { StartTimes, startsEntry } from '../../../streams/state/starts.ts'
import { codecs } from '../../model/world.ts'
import { memoryStore } from '../../tools/memory-store.ts'

it('lists concurrency keys and rate limits that are in use, each with what waits for it', async () => {
  const store = memoryStore()
  const now = 1_893_456_000_000
  const starts = (...times: number[]) => ({
    starts: startsEntry({ times: StartTimes.of(times), limit: 2, perMs: 60_000, givenAt: now }),
  })
  await store.apply([
    { key: slotsKey('crm'), value: codecs.state.encode({ slots: { held: 1, waiting: 3, limit: 1 } }) },
    { key: slotsKey('idle'), value: codecs.state.encode({ slots: { held: 0, waiting: 0, limit: 1 } }) },
    { key: startsKey('crm'), value: codecs.state.encode(starts(now - 1_000, now - 500, now + 59_000)) },
    { key: startsKey('quiet'), value: codecs.state.encode(starts(now - 600_000)) },
  ])
  expect(await limitUses(store, codecs, now)).toEqual([
    { key: 'crm', held: 1, waiting: 3, limit: 1 },
    { key: 'crm', held: 2, waiting: 1, limit: 2, perMs: 60_000, nextAt: now + 59_500 },
  ])
})
