/** What an owner keeps in memory of operations: their order, their places and their counts. No job is needed to see it. */
import { expect, it } from 'vitest'
import { AnnouncedChange, AnnouncedChanges } from '../../../src/scheduler/bulk/announced-changes.ts'
import { BulkChanges } from '../../../src/scheduler/bulk/bulk-changes.ts'
import type { SliceOutcome } from '../../../src/scheduler/bulk/bulk-cycle.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { definitionKey } from '../../../streams/state/keys.ts'
import { ManualClock } from '../../tools/manual-clock.ts'
import { memoryStore } from '../../tools/memory-store.ts'

const cutOff = { jobsOffset: 100, at: 9e15 }
const announcing = (commandId: string, createdAt = 1) => ({
  ...{ action: 'PAUSE' as const, filter: {}, commandId, createdAt, cutOff, isOver: false, waitMs: 0 },
})

function announced() {
  const clock = new ManualClock()
  const changes = new AnnouncedChanges(clock)
  const known = (): string[] => changes.inForce.map(({ commandId }) => commandId)
  return { clock, changes, known }
}

it('operations of the same time have one order, whichever was heard of first', async () => {
  for (const ids of [
    ['a', 'b', 'c'],
    ['c', 'b', 'a'],
    ['b', 'c', 'a'],
  ]) {
    const { changes, known } = announced()
    for (const id of ids) await changes.announce(announcing(id), undefined)
    expect(known()).toEqual(['a', 'b', 'c'])
  }
})

it('a walk keeps its operation known, and an announcement too', async () => {
  const { clock, changes, known } = announced()
  for (const id of ['walked', 'told', 'left']) await changes.announce(announcing(id), undefined)
  await clock.advance(50_000)
  changes.walked('walked', 'job-1', { isOver: false, counted: 0 })
  await changes.announce(announcing('told'), undefined)
  await clock.advance(50_000)
  expect(known()).toEqual(['told', 'walked'])
})

it('at most a hundred are known, and one that is forgotten leaves its place', async () => {
  const { clock, changes, known } = announced()
  for (let index = 0; index < 100; index++) await changes.announce(announcing(`o-${index}`), undefined)
  await expect(changes.announce(announcing('more'), undefined)).rejects.toMatchObject({ code: 'overloaded' })
  await changes.announce(announcing('o-7'), undefined)
  await clock.advance(61_000)
  await changes.announce(announcing('more'), undefined)
  expect(known()).toEqual(['more'])
})

it('a walk that is repeated changes no job that it has passed', async () => {
  const change = new AnnouncedChange(announcing('o'), cutOff, 1)
  const spec = completeDefinition({ schedule: { everyMs: 1_000 }, target: { handler: 'x' } })
  const job = (id: string) => ({ id, definition: { offset: 5, appendedAt: 1, bytes: Buffer.alloc(0), spec } })
  expect(change.concerns(job('b'))).toBe(true)
  change.walkedTo('c')
  change.walkedTo('a')
  change.walkedTo(undefined)
  expect([change.concerns(job('b')), change.concerns(job('d'))]).toEqual([false, true])
})

const query = (more: object = {}) => ({
  ...{ action: 'PAUSE' as const, filter: {}, commandId: 'operation/o/pause', cutOff, isRepeat: false, limit: 1_000, ...more },
})

async function bulk(ids: readonly string[]) {
  const clock = new ManualClock()
  const store = memoryStore()
  await store.apply(ids.map((id) => ({ key: definitionKey(id), value: Buffer.alloc(0) })))
  const changes = new BulkChanges(clock, () => {})
  /** A commit cycle that has room for so many jobs of the next slice. */
  const cycle = async (room: number, outcome: Partial<SliceOutcome> = {}): Promise<string[]> => {
    const slice = (await changes.slice(store, 3)) ?? expect.fail('Nothing was asked.')
    const ids = slice.ids.slice(0, room)
    changes.committed(slice, ids.length, { changed: ids.length, refused: [], before: 0, ...outcome })
    return ids
  }
  return { clock, changes, cycle }
}

it('jobs of a slice that have no room in a commit come with the next one, also the last jobs of all', async () => {
  const { changes, cycle } = await bulk(['a', 'b', 'c', 'd', 'e'])
  const asked = changes.ask(query())
  const seen = [await cycle(3), await cycle(1), await cycle(1)]
  expect(seen).toEqual([['a', 'b', 'c'], ['d'], ['e']])
  expect(changes.isPressing).toBe(false)
  expect(await asked).toEqual({ changed: 5, refused: [] })
})

it('refused jobs count against the limit of a call, and a slow one is answered after a second with its place', async () => {
  const { clock, changes, cycle } = await bulk(['a', 'b', 'c', 'd', 'e'])
  const full = changes.ask(query({ limit: 3 }))
  await cycle(3, { changed: 1, refused: ['b', 'c'].map((jobId) => ({ jobId, code: 'expired' })) })
  expect(changes.isPressing).toBe(false)
  expect(await full).toMatchObject({ changed: 1, refused: [{ code: 'expired', count: 2 }], next: 'c' })
  const slow = changes.ask(query())
  await clock.advance(1_000)
  await cycle(2)
  expect(changes.isPressing).toBe(false)
  expect(await slow).toEqual({ changed: 2, refused: [], next: 'b' })
})

it('a hundred calls wait at most', async () => {
  const { changes } = await bulk(['a'])
  const waiting = Array.from({ length: 100 }, () => changes.ask(query()))
  expect(() => changes.ask(query())).toThrow('wait for this partition already')
  changes.closed()
  for (const call of waiting) await expect(call).rejects.toMatchObject({ code: 'not-ready' })
})
