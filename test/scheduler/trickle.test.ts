/** Definitions that trickle in are read in portions, and nothing that somebody waits for is delayed by it. */
import { expect, it } from 'vitest'
import type { Process } from '../model/cluster/process.ts'
import { jobsOf } from '../model/cluster/settled.ts'
import { names } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const target = { handler: 'x' }
const farMs = 1_000_000_000

interface Idle {
  driver: SchedulerDriver
  owner: Process
  /** Defines a job that is due long after the test. Returns its offset. */
  define: (id: string) => number
  /** How often definitions were fetched. */
  fetches: () => number
}

/** An owner of one partition that has committed nothing for more than a second. */
async function idleOwner(readPaceMs: number): Promise<Idle> {
  const driver = new SchedulerDriver(1, 'owners', { readPaceMs })
  const owner = driver.boot('A')
  await driver.settle()
  await driver.advance(5_000, 100)
  const jobs = driver.log.at(names.jobs, 0)
  const read = jobs.read.bind(jobs)
  let fetches = 0
  jobs.read = (...limits) => {
    const found = read(...limits)
    if (found.records.length > 0) fetches++
    return found
  }
  const define = (id: string): number => driver.define(id, { schedule: { at: driver.time.nowMs + farMs }, target })
  return { driver, owner, define, fetches: () => fetches }
}

/** Ids of the jobs whose definitions are in the store of the owner. */
function definedIn({ disk }: Process): Set<string> {
  const store = disk.get(0)
  return new Set(store === undefined ? [] : jobsOf(store).keys())
}

/** One job each millisecond. */
async function trickle({ driver, define }: Idle, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `far-${index}`)
  for (const id of ids) {
    define(id)
    await driver.advance(1)
  }
  return ids
}

it('definitions that trickle in are read in portions, and all of them', async () => {
  const idle = await idleOwner(10)
  const ids = await trickle(idle, 100)
  await idle.driver.advance(10)
  expect(idle.fetches()).toBeGreaterThanOrEqual(9)
  expect(idle.fetches()).toBeLessThanOrEqual(12)
  expect([...definedIn(idle.owner)].sort()).toEqual(ids.sort())
  const one = await idleOwner(0)
  await trickle(one, 100)
  expect(one.fetches()).toBe(100)
})

it('a definition that somebody waits for is read at once', async () => {
  const { driver, owner, define } = await idleOwner(10)
  define('before')
  await driver.settle()
  const beganAt = driver.time.nowMs
  const applied = owner.scheduler.queries.applied(0, { jobs: define('awaited') }, 60_000)
  await driver.settle()
  expect(await applied).toBe(true)
  expect(driver.time.nowMs).toBe(beganAt)
})

it('a job that is due is dispatched without a wait for the pace, and reading is quick after it', async () => {
  const idle = await idleOwner(10)
  const { driver } = idle
  driver.define('due', { schedule: { at: driver.time.nowMs }, target })
  await driver.settle()
  expect(driver.executions()).toHaveLength(1)
  const before = idle.fetches()
  await trickle(idle, 50)
  expect(idle.fetches() - before).toBe(50)
})

it('a backlog is read without waits', async () => {
  const { driver, owner, define } = await idleOwner(10)
  for (let index = 0; index < 400; index++) define(`job-${index}`)
  const beganAt = driver.time.nowMs
  await driver.settle()
  expect(driver.time.nowMs).toBe(beganAt)
  expect(definedIn(owner).size).toBe(400)
})

it('a takeover does not wait for the pace of another partition', async () => {
  const driver = new SchedulerDriver(2, 'owners', { readPaceMs: 10 })
  const first = driver.boot('A')
  const second = driver.boot('B')
  await driver.settle()
  await driver.advance(5_000, 100)
  const define = (id: string): number => driver.define(id, { schedule: { at: driver.time.nowMs + farMs }, target })
  const ids = Array.from({ length: 20 }, (_, index) => `job-${index}`)
  for (const id of ids) define(id)
  await driver.settle()
  driver.kill(first)
  for (const id of ids) define(`${id}-again`)
  const beganAt = driver.time.nowMs
  await driver.settle()
  expect(driver.phases(second)).toBe('active,active')
  expect(driver.time.nowMs).toBe(beganAt)
})
