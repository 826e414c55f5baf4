/** Limits that jobs share, through the real batches, store and restore: queues, crashes between any two steps, sweeps. */
import { describe, expect, it } from 'vitest'
import type { Execution, JobDefinitionInput } from '../../schemas/generated.ts'
import { positionKey } from '../../src/scheduler/state/checkpoint.ts'
import { prefix, slotsKey, startsKey, waiterKey, waiterOfKey } from '../../streams/state/keys.ts'
import { memoryStore } from '../tools/memory-store.ts'
import { mulberry32 } from '../tools/mulberry32.ts'
import { type CrashPoint, names, World } from './world.ts'

const dueAt = 1_800_000_001_000

function define(world: World, id: string, more: Partial<JobDefinitionInput> = {}): void {
  const limits = { concurrencyKey: 'k', concurrencyLimit: 3 }
  world.define(id, { schedule: { at: dueAt }, target: { handler: 'noop' }, ...limits, ...more })
}

function report(world: World, { jobId, runNo, attempt, specOffset }: Execution): void {
  const attemptId = { jobId, runNo, attempt, specOffset }
  world.report({ type: 'SUCCEEDED', ...attemptId, at: world.now, startedAt: world.now, worker: 'w' })
}

async function settle(world: World): Promise<void> {
  while ((await world.settle()) === 'crashed');
}

/**
 * Runs Executions until none is left. Each ends before the next check. `held` is called with the number of runs that were active
 * at once.
 */
async function runAll(world: World, held: (count: number) => void = () => {}): Promise<string[]> {
  const order: string[] = []
  for (;;) {
    await settle(world)
    const given = world.handOut()
    if (given.length === 0) return order
    held(given.length)
    for (const execution of given) {
      order.push(execution.jobId)
      report(world, execution)
    }
  }
}

const waitersIn = (world: World): string[] =>
  world.store
    .dump()
    .map(([key]) => Buffer.from(key, 'hex'))
    .filter((key) => key[0] === prefix.waiter)
    .map((key) => waiterOfKey(key).jobId)

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `job-${String(index).padStart(4, '0')}`)

describe('a key with more runs than slots', () => {
  it('runs all of them, never more at once than its slots, in the order of priority and time', async () => {
    const world = new World()
    for (const [index, id] of ids(60).entries())
      define(world, id, {
        schedule: { at: dueAt + (index % 10) },
        priority: index % 3 === 0 ? 'HIGH' : index % 3 === 1 ? 'NORMAL' : 'LOW',
      })
    world.now = dueAt + 1_000
    let most = 0
    const order = await runAll(world, (count) => {
      most = Math.max(most, count)
    })
    expect(most).toBe(3)
    expect(new Set(order).size).toBe(60)
    // The first three were dispatched before a run waited.
    const places = order.slice(3).map((id) => ({ rank: Number(id.slice(-4)) % 3, at: Number(id.slice(-4)) % 10 }))
    expect(places.slice(0, 15).map(({ rank }) => rank)).toEqual(Array.from({ length: 15 }, () => 0))
    // Three of 57 go for their age: each is the longest due of those that are not of the best rank then. The others are in order.
    const aged = places.filter(({ rank }, index) => places.slice(index + 1).some((later) => later.rank < rank))
    expect(aged.length).toBeGreaterThan(0)
    expect(aged.length).toBeLessThanOrEqual(3)
    expect(aged.map(({ at }) => at)).toEqual(aged.map(({ at }) => at).toSorted((a, b) => a - b))
    const others = places.filter((place) => !aged.includes(place)).map(({ rank, at }) => rank * 10 + at)
    expect(others).toEqual(others.toSorted((a, b) => a - b))
    expect(world.store.getNow([slotsKey('k')])).toEqual([null])
    expect(waitersIn(world)).toEqual([])
  })
  it('gives every sixteenth slot to the run that has been due longest, while better ones keep coming', async () => {
    const world = new World()
    define(world, 'first', { schedule: { at: dueAt - 1_000 }, concurrencyLimit: 1 })
    define(world, 'old-low', { schedule: { at: dueAt - 500 }, priority: 'LOW', priorityLevel: 0, concurrencyLimit: 1 })
    define(world, 'young-low', { schedule: { at: dueAt - 400 }, priority: 'LOW', priorityLevel: 2, concurrencyLimit: 1 })
    for (let index = 0; index < 60; index++) {
      const priorityLevel = index % 2 === 0 ? 9 : 7
      define(world, `high-${index}`, { schedule: { at: dueAt }, priority: 'HIGH', priorityLevel, concurrencyLimit: 1 })
    }
    world.now = dueAt + 1_000
    const order = await runAll(world)
    const lows = order.flatMap((id, index) => (id.endsWith('-low') ? [index] : []))
    // Both have gone while better ones wait. The one of the higher priority was second, as it was due later.
    expect(order.filter((id) => id.endsWith('-low'))).toEqual(['old-low', 'young-low'])
    expect(lows[1]).toBeLessThan(60)
    expect((lows[1] ?? 0) - (lows[0] ?? 0)).toBe(16)
    const highs = order.filter((id) => id.startsWith('high-')).map((id) => Number(id.slice(5)) % 2)
    expect(highs.filter((odd) => odd === 1)).toHaveLength(30)
    // 9 before 7, except where age decides.
    expect(highs.slice(0, 14)).toEqual(new Array(14).fill(0))
  })
  it('lets no debt add up while nobody of a worse rank waits', async () => {
    const world = new World()
    for (let index = 0; index < 400; index++)
      define(world, `high-${index}`, { schedule: { at: dueAt }, priority: 'HIGH', concurrencyLimit: 20 })
    // Most of the first are gone when these come.
    for (let index = 0; index < 30; index++)
      define(world, `low-${index}`, { schedule: { at: dueAt + 60_000 }, priority: 'LOW', concurrencyLimit: 20 })
    world.now = dueAt
    const order: string[] = []
    for (let round = 0; ; round++) {
      await settle(world)
      const given = world.handOut()
      if (given.length === 0) break
      for (const execution of given) {
        order.push(execution.jobId)
        report(world, execution)
      }
      if (round === 14) world.now = dueAt + 60_000
    }
    expect(new Set(order).size).toBe(430)
    // Once both wait, at most one of 16 is a LOW one, and one more at the start.
    const high = order.filter((id) => id.startsWith('high-')).length
    const lastHigh = order.findLastIndex((id) => id.startsWith('high-'))
    const lowsBefore = order.slice(0, lastHigh).filter((id) => id.startsWith('low-')).length
    expect(high).toBe(400)
    expect(lowsBefore).toBeLessThanOrEqual(Math.ceil(100 / 15) + 1)
  })
  it('admits the next run in the transaction that frees a slot', async () => {
    const world = new World()
    for (const id of ids(4)) define(world, id)
    world.now = dueAt
    await settle(world)
    const [first] = world.handOut()
    if (first !== undefined) report(world, first)
    const commits = positions(world)
    await settle(world)
    expect(world.handOut()).toHaveLength(1)
    expect(positions(world) - commits).toBe(1)
  })
  it('admits more runs when the limit of waiting runs is raised', async () => {
    const world = new World()
    for (const id of ids(8)) define(world, id)
    world.now = dueAt
    await settle(world)
    expect(world.handOut()).toHaveLength(3)
    for (const id of ids(8).slice(3)) define(world, id, { concurrencyLimit: 7 })
    await settle(world)
    expect(world.handOut()).toHaveLength(4)
    expect(waitersIn(world)).toHaveLength(1)
  })
  it('admits the next run when the first of the queue is canceled or deleted', async () => {
    const world = new World()
    for (const id of ids(5)) define(world, id, { concurrencyLimit: 1, schedule: { at: dueAt + Number(id.slice(-1)) } })
    world.now = dueAt + 100
    await settle(world)
    const [running] = world.handOut()
    world.command('job-0001', { type: 'CANCEL_RUN', commandId: 'c', runNo: 1, at: world.now })
    world.remove('job-0002')
    await settle(world)
    expect(waitersIn(world)).toEqual(['job-0003', 'job-0004'])
    if (running !== undefined) report(world, running)
    await settle(world)
    expect(world.handOut().map(({ jobId }) => jobId)).toEqual(['job-0003'])
  })
  it('frees the slots of a deleted job', async () => {
    const world = new World()
    for (const id of ids(4)) define(world, id)
    world.now = dueAt
    await settle(world)
    world.handOut()
    for (const id of ids(3)) world.remove(id)
    await settle(world)
    expect(world.handOut().map(({ jobId }) => jobId)).toEqual(['job-0003'])
  })
})

describe('a key whose jobs have different limits', () => {
  it('admits no run before the first of its queue, also when its limit is reached', async () => {
    const world = new World()
    define(world, 'holder', { concurrencyLimit: 1 })
    define(world, 'first', { concurrencyLimit: 1, schedule: { at: dueAt + 1 } })
    define(world, 'second', { concurrencyLimit: 5, schedule: { at: dueAt + 2 } })
    world.now = dueAt + 10
    await settle(world)
    expect(world.handOut().map(({ jobId }) => jobId)).toEqual(['holder'])
    // It is defined again, so its queue is checked: its first run is asked, and refused.
    define(world, 'second', { concurrencyLimit: 6, schedule: { at: dueAt + 2 } })
    await settle(world)
    world.now += 3_600_001
    await settle(world)
    expect(world.handOut()).toEqual([])
  })
  it('checks the first again when a slot is freed without any report, whatever the limit of the last one', async () => {
    const world = new World()
    const wide = { concurrencyLimit: 3 }
    for (const id of ids(3)) define(world, id, { ...wide, startDeadlineMs: 60_000, schedule: { at: dueAt } })
    define(world, 'high', { ...wide, priority: 'HIGH', schedule: { at: dueAt + 10 } })
    define(world, 'narrow', { concurrencyLimit: 1, schedule: { at: dueAt + 20 } })
    world.now = dueAt + 30
    await settle(world)
    expect(world.handOut().map(({ jobId }) => jobId)).toEqual(ids(3))
    expect(waitersIn(world)).toEqual(['high', 'narrow'])
    world.command('job-0001', { type: 'CANCEL_RUN', commandId: 'c', runNo: 1, at: world.now })
    await settle(world)
    expect(world.handOut().map(({ jobId }) => jobId)).toEqual(['high'])
  })
})

describe('many keys', () => {
  it('admits from all of them after a takeover', async () => {
    const world = new World()
    const keys = 700
    for (const id of ids(2 * keys)) {
      const key = `key ${Number(id.slice(-4)) % keys}`
      define(world, id, { concurrencyKey: key, concurrencyLimit: 1 })
    }
    world.now = dueAt
    await settle(world)
    const running = world.handOut()
    expect(running).toHaveLength(keys)
    world.dropOwner(memoryStore())
    for (const execution of running) report(world, execution)
    await settle(world)
    expect(world.handOut()).toHaveLength(keys)
  })
})

describe('an owner that dies', () => {
  const points: CrashPoint[] = ['before-send', 'after-send', 'after-commit', 'after-apply']
  it.each([1, 2, 3, 4])(
    'at any step, with its store kept or lost, leaves the limit counters of a key unchanged (seed %i)',
    async (seed) => {
      const share = mulberry32(seed)
      const world = new World()
      const rateLimit = { key: 'r', limit: 2, perMs: 400 }
      for (const [index, id] of ids(40).entries()) define(world, id, index % 2 === 0 ? {} : { rateLimit })
      const out = new Map<string, Execution>()
      for (let step = 0; step < 400; step++) {
        world.now += Math.floor(share() * 200)
        if (share() < 0.3) world.crashAt = points[Math.floor(share() * points.length)]
        if (share() < 0.1) world.dropOwner(share() < 0.5 ? world.store : memoryStore())
        await settle(world)
        for (const execution of world.handOut()) out.set(execution.jobId, execution)
        expect(out.size).toBeLessThanOrEqual(3)
        for (const [id, execution] of out) {
          if (share() > 0.4 || execution.dueAt > world.now) continue
          out.delete(id)
          report(world, execution)
        }
      }
      const executions = world.executions()
      expect(executions.map(({ jobId }) => jobId).sort()).toEqual(ids(40))
      const starts = executions.filter(({ jobId }) => Number(jobId.slice(-4)) % 2 === 1).map((execution) => execution.dueAt)
      starts.sort((left, right) => left - right)
      for (const [index, at] of starts.entries()) {
        const beyond = starts[index + rateLimit.limit]
        if (beyond !== undefined) expect(beyond - at).toBeGreaterThanOrEqual(rateLimit.perMs)
      }
      expect(world.store.getNow([slotsKey('k')])).toEqual([null])
    },
  )
  it('leaves a queue that the next owner rebuilds, without entries of an earlier state', async () => {
    const world = new World()
    for (const id of ids(5)) define(world, id, { concurrencyLimit: 1 })
    world.now = dueAt
    await settle(world)
    const old = world.store.copy()
    expect(waitersIn(world)).toHaveLength(4)
    const [first] = world.handOut()
    if (first !== undefined) report(world, first)
    await settle(world)
    const [second] = world.handOut()
    world.dropOwner(old)
    if (second !== undefined) report(world, second)
    await settle(world)
    expect(world.handOut()).toHaveLength(1)
    expect(waitersIn(world)).toHaveLength(2)
  })
})

describe('the sweep', () => {
  it('drops a queue entry without a run, and checks the next one', async () => {
    const world = new World()
    for (const id of ids(2)) define(world, id, { concurrencyLimit: 1 })
    world.now = dueAt
    await settle(world)
    const ghost = { key: 'k', rank: 0, dueAt: 1, jobId: 'nobody', runNo: 7 }
    world.store.applyNow([{ key: waiterKey(ghost), value: Buffer.alloc(0) }])
    const [first] = world.handOut()
    if (first !== undefined) report(world, first)
    await settle(world)
    expect(world.handOut()).toHaveLength(1)
    expect(waitersIn(world)).toEqual([])
  })
  it('forgets starts an hour after they expire, and not those that are added meanwhile', async () => {
    const world = new World()
    const rated = (key: string, at: number): Partial<JobDefinitionInput> => ({
      schedule: { at },
      concurrencyKey: null,
      concurrencyLimit: 1,
      rateLimit: { key, limit: 1, perMs: 1_000 },
    })
    define(world, 'a', rated('old', dueAt))
    define(world, 'b', rated('again', dueAt))
    define(world, 'c', rated('again', dueAt + 4_000_000))
    world.now = dueAt
    await settle(world)
    expect(world.store.getNow([startsKey('old')])).not.toEqual([null])
    world.now = dueAt + 4_000_000
    await settle(world)
    expect(world.store.getNow([startsKey('old')])).toEqual([null])
    expect(world.store.getNow([startsKey('again')])).not.toEqual([null])
    world.dropOwner(memoryStore())
    await settle(world)
    expect(world.store.getNow([startsKey('old')])).toEqual([null])
  })
})

/** Transactions that were committed. */
const positions = (world: World): number => world.log(names.state).filter(({ key }) => key?.equals(positionKey)).length
