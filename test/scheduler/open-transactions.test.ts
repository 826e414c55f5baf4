/** A client's open transaction on the inputs of a partition holds back what stands behind it, and nothing else. */
import { expect, test } from 'vitest'
import { codecs, names } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const definition = codecs.definition.encode({ schedule: { everyMs: 60_000 }, target: { handler: 'x' } })

test.each([
  ['jobs', definition],
  ['commands', codecs.command.encode({ type: 'PAUSE', commandId: 'c', at: 0 })],
] as const)(
  'a takeover fires while a transaction on %s is open, and folds what it brought when it ends',
  async (source, value) => {
    const driver = new SchedulerDriver()
    const first = driver.boot('A')
    await driver.settle()
    driver.define('neighbour', { schedule: { everyMs: 1_000 }, target: { handler: 'x' } })
    driver.define('deleted', { schedule: { everyMs: 1_000 }, target: { handler: 'x' } })
    await driver.advance(3_000, 250)
    driver.kill(first)
    // Acknowledged before the takeover, and before the transaction: nobody fires it any more.
    driver.remove('deleted')
    const epoch = driver.log.fence('theirs')
    const record = { topic: names[source], partition: 0, key: 'theirs', value }
    // The end of one that was committed is a record that nobody is shown.
    driver.log.append([record], driver.log.begin('theirs', epoch))
    driver.log.commit('theirs', epoch)
    driver.log.append([{ ...record, key: 'open' }], driver.log.begin('theirs', epoch))
    const before = driver.executions().length
    const heir = driver.boot('B')
    await driver.advance(10_000, 500)
    expect(driver.phases(heir)).toBe('active')
    const fired = driver.executions().slice(before)
    expect(fired.filter(({ jobId }) => jobId === 'neighbour').length).toBeGreaterThanOrEqual(9)
    expect(fired.filter(({ jobId }) => jobId === 'deleted')).toEqual([])
    driver.log.commit('theirs', epoch)
    await driver.advance(61_000, 5_000)
    if (source === 'jobs') expect(driver.executions().some(({ jobId }) => jobId === 'open')).toBe(true)
    const [view] = heir.scheduler.queries.partitions()
    expect(source === 'jobs' ? view?.jobsOffset : view?.commandsOffset).toBeGreaterThanOrEqual(3)
  },
)
