/** Planned stops: a scheduler fires until another one does, and then ends. If no other can, a time limit ends it. */
import { expect, test } from 'vitest'
import { handOverMsMax } from '../../src/scheduler/hand-over.ts'
import type { Process } from '../model/cluster/process.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

/** Two schedulers; the first fires. Something is due every second, unless it is idle. */
async function pair(isIdle = false): Promise<{ driver: SchedulerDriver; owner: Process; successor: Process }> {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  if (!isIdle) driver.define('tick', { schedule: { everyMs: 1_000 }, target: { handler: 'x' } })
  await driver.advance(2_000, 250)
  const successor = driver.boot('B')
  await driver.advance(1_000, 250)
  const owners = [owner, successor].filter((process) => driver.phases(process) === 'active')
  const [first] = owners
  if (first === undefined || owners.length > 1) throw new Error('One of them should fire.')
  return { driver, owner: first, successor: first === owner ? successor : owner }
}

function stopped({ scheduler, machine }: Process): { at: number | undefined } {
  const end: { at: number | undefined } = { at: undefined }
  void scheduler.stop().then(() => {
    end.at = machine.clock.nowMs()
  })
  return end
}

const ticks = (driver: SchedulerDriver): number[] =>
  driver
    .executions()
    .filter(({ jobId }) => jobId === 'tick')
    .map(({ scheduledFor }) => scheduledFor)

/** The successor gets no answer to a heartbeat until the test allows it, so it fences no owner. */
function held({ member }: Process): () => void {
  if (member === undefined) throw new Error('It has not joined.')
  const { promise, resolve } = Promise.withResolvers<void>()
  member.nextHeartbeat = () => promise
  return resolve
}

test('the owner fires while its successor cannot claim yet, and it ends when it is fenced', async () => {
  const { driver, owner, successor } = await pair()
  const release = held(successor)
  const end = stopped(owner)
  const before = ticks(driver).length
  await driver.advance(4_000, 250)
  expect(end.at).toBeUndefined()
  expect(ticks(driver).length).toBeGreaterThanOrEqual(before + 3)
  release()
  await driver.advance(1_500, 250)
  expect(driver.phases(successor)).toBe('active')
  // It does not leave the group while its successors read up to their claims.
  expect(end.at).toBeUndefined()
  expect(driver.cluster.group.members.size).toBe(2)
  await driver.advance(3_500, 250)
  expect(end.at).toBeDefined()
  expect(driver.cluster.group.members.size).toBe(1)
  const seen = ticks(driver)
  expect(new Set(seen).size).toBe(seen.length)
  const [first = 0] = seen
  expect(seen).toEqual(seen.map((_, place) => first + place * 1_000))
})

test('an owner with nothing to fire learns that its successor fires', async () => {
  const { driver, owner, successor } = await pair(true)
  const end = stopped(owner)
  await driver.advance(5_000, 100)
  expect(driver.phases(successor)).toBe('active')
  expect(end.at).toBeDefined()
})

test('it stops at once if there is no other member', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  const end = stopped(owner)
  await driver.settle()
  expect(end.at).toBe(driver.time.nowMs)
  expect(driver.cluster.group.members.size).toBe(0)
})

test('it stops after a limit if nobody takes over', async () => {
  const { driver, owner, successor } = await pair()
  held(successor)
  const end = stopped(owner)
  await driver.advance(handOverMsMax - 500, 250)
  expect(end.at).toBeUndefined()
  await driver.advance(1_000, 250)
  expect(end.at).toBeDefined()
})
