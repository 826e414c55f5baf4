/** A client's open transaction on the inputs of a partition: it holds back the records after it, and nothing else. */
import { expect, test, vi } from 'vitest'
import { logger, metrics } from '../../model/cluster/process.ts'
import { codecs, names } from '../../model/world.ts'
import { SchedulerDriver } from '../../tools/scheduler-driver.ts'

const definition = codecs.definition.encode({ schedule: { everyMs: 60_000 }, target: { handler: 'x' } })

test.each([
  ['jobs', definition],
  ['commands', codecs.command.encode({ type: 'PAUSE', commandId: 'c', at: 0 })],
] as const)('a takeover fires while a transaction on %s is open, and applies its records when it ends', async (source, value) => {
  const driver = new SchedulerDriver()
  const first = driver.boot('A')
  await driver.settle()
  driver.define('neighbor', { schedule: { everyMs: 1_000 }, target: { handler: 'x' } })
  driver.define('deleted', { schedule: { everyMs: 1_000 }, target: { handler: 'x' } })
  await driver.advance(3_000, 250)
  driver.kill(first)
  // Acknowledged before the takeover, and before the transaction: it does not fire any more.
  driver.remove('deleted')
  const epoch = driver.log.fence('theirs')
  const record = { topic: names[source], partition: 0, key: 'theirs', value }
  // The end of a committed transaction is a record that no reader is shown.
  driver.log.append([record], driver.log.begin('theirs', epoch))
  driver.log.commit('theirs', epoch)
  driver.log.append([{ ...record, key: 'open' }], driver.log.begin('theirs', epoch))
  const before = driver.executions().length
  const successor = driver.boot('B')
  await driver.advance(10_000, 500)
  expect(driver.phases(successor)).toBe('active')
  const fired = driver.executions().slice(before)
  expect(fired.filter(({ jobId }) => jobId === 'neighbor').length).toBeGreaterThanOrEqual(9)
  expect(fired.filter(({ jobId }) => jobId === 'deleted')).toEqual([])
  driver.log.commit('theirs', epoch)
  await driver.advance(61_000, 5_000)
  if (source === 'jobs') expect(driver.executions().some(({ jobId }) => jobId === 'open')).toBe(true)
  const [view] = successor.scheduler.queries.partitions()
  expect(source === 'jobs' ? view?.jobsOffset : view?.commandsOffset).toBeGreaterThanOrEqual(3)
})

test.each([
  ['jobs', definition],
  ['commands', codecs.command.encode({ type: 'PAUSE', commandId: 'c', at: 0 })],
  ['events', Buffer.from('no event')],
] as const)('the owner of the partition names an open transaction on %s once, until it ends', async (source, value) => {
  const driver = new SchedulerDriver()
  driver.cluster.showsHighWatermarks = true
  const warned: unknown[][] = []
  vi.spyOn(logger, 'child').mockReturnValue({ ...logger, warn: (...said: unknown[]) => warned.push(said) } as never)
  const owner = driver.boot('A')
  await driver.settle()
  driver.define('j', { schedule: { everyMs: 60_000 }, target: { handler: 'x' } })
  await driver.advance(1_000)
  const topic = names[source]
  const opened = driver.log.at(topic, 0).next
  const epoch = driver.log.fence('theirs')
  const record = { topic, partition: 0, key: 'open', value }
  driver.log.append([record], driver.log.begin('theirs', epoch))
  driver.log.append([{ ...record, key: 'behind' }])
  const view = () => owner.scheduler.queries.partitions()[0]?.openTransaction
  const said = (): unknown[][] => warned.filter(([facts]) => (facts as { ageMs?: number }).ageMs !== undefined)
  await driver.advance(60_000, 10_000)
  expect(view()).toBeNull()
  expect(said()).toEqual([])
  await driver.advance(120_000, 10_000)
  const place = { topic, offset: opened, records: 2 }
  expect(view()).toEqual({ ...place, since: expect.any(Number) })
  expect(said()).toEqual([
    [expect.objectContaining({ partition: 0, ...place }), expect.stringMatching(/kafka-transactions\.sh .*abort --topic/)],
  ])
  const { values } = await metrics.openTransaction.get()
  expect(values.find(({ labels }) => labels.topic === topic)?.value).toBeGreaterThan(60)
  driver.log.commit('theirs', epoch)
  await driver.advance(31_000, 10_000)
  expect(view()).toBeNull()
  expect((await metrics.openTransaction.get()).values).toEqual([])
  if (source === 'jobs')
    expect(driver.state(owner, 'behind') ?? driver.executions().some(({ jobId }) => jobId === 'behind')).toBeTruthy()
})
