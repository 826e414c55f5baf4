/**
 * Copies of random histories: at any moment a system is backed up and restored, or moved, to any number of partitions, and once more. The
 * oracle is the system itself, which a new owner takes over: from then on all get the same records and reports, and must decide the same.
 *
 * DUELOG_MODEL_COPIES sets the number of histories, DUELOG_MODEL_FIRST_SEED the first seed.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Chance } from '../../src/testing/simulation/chance.ts'
import { stateKey } from '../../streams/state/keys.ts'
import { partitionOf } from '../../streams/topics/topics.ts'
import { usually } from '../setup/long.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'
import { Operations } from './cluster/operations.ts'
import { act, compact, ids, ofCommands, ofJobs, report, statesOf } from './copies/acts.ts'
import { type Copy, carried, copied, fenced, released } from './copies/copying.ts'
import { codecs, leadMs, names } from './world.ts'

const copies = Number(process.env.DUELOG_MODEL_COPIES ?? usually(60, 1_000))
const firstSeed = Number(process.env.DUELOG_MODEL_FIRST_SEED ?? 1)
const folder = await mkdtemp(join(tmpdir(), 'duelog-copies-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

/** What the histories have had. */
const had = { reshards: 0, carried: 0, twice: 0, limits: 0, operated: 0, jobs: 0 }

/** What two systems must agree on. Offsets, lives and times of reports are their own. */
function told(driver: SchedulerDriver): Record<string, unknown> {
  const shown = [...statesOf(driver)].map(([id, state]): [string, unknown] => {
    const { status, nextFireAt, runNo, scheduledRuns, succeeded, failed, cancelled, skipped } = state
    const counts = { runNo, scheduledRuns, succeeded, failed, cancelled, skipped }
    const { queuedFor, deadRuns, pausedByCommand, followUps, backfill } = state
    const waits = { queuedFor, deadRuns, pausedByCommand, followUps: followUps?.count ?? 0, backfill: backfill?.nextAt ?? null }
    // A triggered run is scheduled for the time of its decision.
    const runs = state.active.map(({ runNo, trigger, scheduledFor, attempt, status }) => [
      runNo,
      trigger,
      trigger === 'MANUAL' || trigger === 'FOLLOW_UP' ? null : scheduledFor,
      attempt,
      status,
    ])
    return [id, { status, nextFireAt, ...counts, ...waits, runs }]
  })
  return Object.fromEntries(shown.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The first part: users, operators, workers and kills in any order. */
async function lived(chance: Chance, limits: boolean): Promise<SchedulerDriver> {
  const driver = new SchedulerDriver(2)
  driver.boot('A')
  await driver.settle()
  const operations = new Operations({ log: driver.log, chance, time: driver.time }, ids)
  for (let step = chance.int(10, 60); step > 0; step--) {
    for (let acts = chance.int(0, 3); acts > 0; acts--)
      act(driver, chance, { weights: { ...ofJobs, ...ofCommands }, limits, offsets: true })
    const owner = driver.processes.at(-1)
    if (owner !== undefined && chance.happens(0.3)) operations.act(owner)
    await driver.advance(chance.pick([90, 330, 1_170]), 500)
    report(driver, () => chance.pick(['start', 'succeed', 'succeed', 'die', undefined]))
    if (!chance.happens(0.1)) continue
    for (const process of driver.processes) driver.kill(process)
    if (chance.happens(0.5)) compact(driver, chance)
    driver.boot(`A${step}`)
  }
  had.operated += operations.changed
  return driver
}

/** All that this system decides from here on, with an owner of its own. */
async function continued(driver: SchedulerDriver): Promise<void> {
  driver.boot('B')
  await driver.settle()
  for (let step = 0; step < 40; step++) {
    await driver.advance(530, 500)
    report(driver, (id, { runNo }) => (step > 2 ? ((id.charCodeAt(0) + runNo) % 5 === 0 ? 'die' : 'succeed') : undefined))
  }
  await driver.advance(700, 100)
}

/** Owners decide an occurrence within this time; their commits gather what comes meanwhile. */
const edgeMs = 30

/** Whether an occurrence is due just now: one of two systems may have decided it, and the other one may be about to. */
const isOnEdge = (driver: SchedulerDriver): boolean =>
  [...statesOf(driver).values()].some(
    ({ nextFireAt }) => nextFireAt !== null && Math.abs(nextFireAt - leadMs - driver.time.nowMs) < edgeMs,
  )

async function history(seed: number): Promise<{ original: object; copy: object }> {
  const chance = new Chance(seed)
  const partitions = chance.pick([1, 2, 3])
  const limits = partitions === 2
  const original = await lived(chance, limits)
  const isMoved = chance.happens(0.4)
  if (isMoved) {
    // Its owner is suspended and wakes up behind the fence.
    await fenced(original)
    await original.advance(chance.pick([90, 1_170]), 500)
    had.reshards++
  }
  for (const process of original.processes) original.kill(process)
  // Both know of each start: a copy sends again what no worker has reported.
  report(original, () => 'start')
  const write = (offsets: boolean): void => {
    const weights = chance.pick([ofJobs, ofCommands])
    const acts = chance.int(0, 8)
    // A copy has what nobody has decided job by job. Between jobs there is no order, but the first one to ask takes the start of a limit.
    const of = limits ? Array.from({ length: acts }, () => chance.pick(ids)).sort() : []
    for (let at = 0; at < acts; at++) act(original, chance, { weights, limits, offsets, id: of[at] })
  }
  // Nobody has decided these. Between two topics there is no order.
  write(true)
  await original.advance(chance.pick([0, 700, 2_500]))
  let copy: Copy = await copied(original, partitions, folder)
  if (isMoved) {
    // A producer still has the old address.
    write(false)
    await original.advance(chance.pick([0, 700, 2_500]))
    copy.system.time.nowMs = original.time.nowMs
    await carried(original, copy)
    await released(original)
    had.carried++
  }
  if (chance.happens(0.3)) {
    copy = await copied(copy.system, limits ? 2 : chance.pick([1, 2, 3]), folder)
    had.twice++
  }
  if (limits) had.limits++
  const both = [original, copy.system]
  for (const driver of both) await continued(driver)
  for (let left = 20; left > 0 && both.some(isOnEdge); left--) for (const driver of both) await driver.advance(edgeMs, 10)
  had.jobs += statesOf(copy.system).size
  return { original: told(original), copy: told(copy.system) }
}

it(`a copy decides what the original would have decided, in ${copies} histories from seed ${firstSeed} on`, {
  timeout: 180_000 + copies * 3_000,
}, async () => {
  const red: number[] = []
  const first: { original?: object; copy?: object } = {}
  for (let seed = firstSeed; seed < firstSeed + copies; seed++) {
    const { original, copy } = await history(seed)
    if (JSON.stringify(copy) === JSON.stringify(original)) continue
    if (red.push(seed) === 1) Object.assign(first, { original, copy })
  }
  expect(first.copy, `seeds ${red.join()}`).toEqual(first.original)
  if (copies < 60) return
  for (const count of Object.values(had)) expect(count).toBeGreaterThan(copies / 10)
})

it('a definition that repairs a job whose state cannot be read repairs it in the copy', async () => {
  const original = new SchedulerDriver(1)
  const owner = original.boot('A')
  await original.settle()
  const definition = { schedule: { everyMs: 1_000 }, target: { handler: 'x' } }
  original.define('a', definition)
  await original.advance(2_500, 500)
  original.kill(owner)
  // The frame of a value of ours, and nothing that can be read in it.
  const garbage = Buffer.concat([codecs.state.encode({}).subarray(0, 5), Buffer.alloc(40, 0xff)])
  original.log.append([{ topic: names.state, partition: 0, key: stateKey('a'), value: garbage }])
  original.define('a', definition)
  const { system } = await copied(original, 1, folder)
  system.boot('B')
  await system.advance(1_500, 500)
  expect(statesOf(system).get('a')?.status).toBe('ACTIVE')
})

it('each partition keeps the starts of its own jobs when their number stays the same', async () => {
  const original = new SchedulerDriver(2)
  const owner = original.boot('A')
  await original.settle()
  const byPartition = Map.groupBy(ids, (id) => partitionOf(id, 2))
  const [busy, quiet] = [0, 1].map((partition) => byPartition.get(partition)?.[0] ?? expect.fail())
  const rateLimit = { key: 'r', limit: 1, perMs: 3_000 }
  const common = { target: { handler: 'x' }, overlap: 'ALLOW', maxConcurrentRuns: 100, rateLimit } as const
  original.define(busy ?? '', { ...common, schedule: { everyMs: 300 }, maxRuns: 5 })
  await original.advance(2_000, 100)
  original.kill(owner)
  original.define(quiet ?? '', { ...common, schedule: { everyMs: 300 }, maxRuns: 1 })
  for (const [partitions, status] of [[2, 'DISPATCHED'] as const, [1, 'WAITING'] as const]) {
    const { system } = await copied(original, partitions, folder)
    system.boot('B')
    await system.advance(1_500, 500)
    const [first, last] = [busy, quiet].map((id = '') => statesOf(system).get(id)?.active.at(-1)?.status)
    expect(last).toBe(status)
    // Its last start was given for 12 s after the first one.
    expect(first).toBe('WAITING')
  }
})
