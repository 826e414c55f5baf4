/** Positions that owners commit to their group, for tools that read consumer groups. No owner reads them. */
import { expect, test } from 'vitest'
import type { Position } from '../../src/ground/ports/log.ts'
import { commitEveryMs } from '../../src/scheduler/group-positions.ts'
import { metrics } from '../model/cluster/process.ts'
import { codecs, names } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const inputs = [names.jobs, names.commands, names.events]

/** A coordinator that stores the committed positions. It answers a member that names no position with them, or with a lie. */
function coordinatorOf({ cluster: { group } }: SchedulerDriver, positionOf?: () => number) {
  const told: (readonly Position[])[] = []
  const committed = new Map<string, number>()
  const keep = (_: unknown, positions: readonly Position[]): void => {
    told.push(positions)
    for (const { topic, offset } of positions) committed.set(topic, offset)
  }
  Object.assign(group, { keep, ...(positionOf && { positionOf }) })
  return { told, committed }
}

const ends = ({ log }: SchedulerDriver): [string, number][] => inputs.map((topic) => [topic, log.at(topic, 0).next])
const lags = async (): Promise<Record<string, number>> => {
  const { values } = await metrics.inputLag.get()
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels.topic), value]))
}

test('an idle owner has no lag, also after the ends of transactions, and commits nothing more', async () => {
  const driver = new SchedulerDriver()
  const { told, committed } = coordinatorOf(driver)
  driver.boot('A')
  await driver.settle()
  driver.define('j', { schedule: { everyMs: 86_400_000 }, target: { handler: 'x' } })
  const epoch = driver.log.fence('other')
  const value = codecs.command.encode({ type: 'PAUSE', commandId: 'c', at: 0 })
  driver.log.append([{ topic: names.commands, partition: 0, key: 'j', value }], driver.log.begin('other', epoch))
  driver.log.commit('other', epoch)
  await driver.advance(2 * commitEveryMs, 500)
  expect([...committed]).toEqual(expect.arrayContaining(ends(driver)))
  expect(driver.log.at(names.commands, 0).next).toBe(2)
  expect(await lags()).toEqual(Object.fromEntries(inputs.map((topic) => [topic, 0])))
  const before = told.length
  await driver.advance(20 * commitEveryMs, commitEveryMs)
  expect(told.length).toBe(before)
})

test('records that are read and not applied are the lag of an owner, and a closed owner shows none', async () => {
  const driver = new SchedulerDriver()
  const { committed } = coordinatorOf(driver)
  const owner = driver.boot('A')
  await driver.settle()
  const gate = Promise.withResolvers<void>()
  driver.commitGate = gate.promise
  for (let index = 0; index < 5; index++) driver.command(`j${index}`, { type: 'PAUSE', commandId: `c${index}` })
  await driver.advance(2 * commitEveryMs, 500)
  expect(committed.get(names.commands)).toBe(0)
  expect((await lags())[names.commands]).toBe(5)
  gate.resolve()
  driver.commitGate = undefined
  await driver.advance(2 * commitEveryMs, 500)
  expect(committed.get(names.commands)).toBe(5)
  expect((await lags())[names.commands]).toBe(0)
  const stopped = owner.scheduler.stop()
  // It announces to the group that it leaves, and learns that there is no other member.
  await driver.settle()
  await stopped
})

test('an owner does not use the offsets of the group: it begins at the committed position in its own log', async () => {
  const driver = new SchedulerDriver()
  coordinatorOf(driver, () => 1_000_000)
  const first = driver.boot('A')
  await driver.settle()
  driver.define('j', { schedule: { everyMs: 1_000 }, target: { handler: 'x' } })
  await driver.advance(3_000, 250)
  driver.kill(first)
  driver.define('k', { schedule: { everyMs: 1_000 }, target: { handler: 'x' } })
  const successor = driver.boot('B')
  await driver.advance(5_000, 250)
  expect(driver.state(successor, 'j')).toMatchObject({ status: 'ACTIVE' })
  expect(driver.executions().some(({ jobId }) => jobId === 'k')).toBe(true)
})
