/** Logs that were truncated, made anew, or expired unread: it is noticed and said, and what stands in them counts. */
import { expect, test } from 'vitest'
import { type Disk, metrics } from '../model/cluster/process.ts'
import { names } from '../model/world.ts'
import { PartitionLog } from '../tools/memory-log.ts'
import { type Dispatched, SchedulerDriver } from '../tools/scheduler-driver.ts'

/** The topic is deleted and made anew, or an unclean election took all of it. */
function makeAnew(driver: SchedulerDriver, topic: string): void {
  const [place] = driver.log.allOf(topic)
  if (place === undefined) throw new Error(`There is no ${topic}.`)
  ;(place as { log: PartitionLog }).log = new PartitionLog()
}

async function resetsOf(topic: string, reason: string): Promise<number> {
  const { values } = await metrics.positionsReset.get()
  return values.find(({ labels }) => labels.topic === topic && labels.reason === reason)?.value ?? 0
}

const end = (driver: SchedulerDriver, run: Dispatched | undefined): void => {
  if (run === undefined) throw new Error('Nothing was dispatched.')
  driver.report(run, 'SUCCEEDED', { startedAt: driver.time.nowMs })
}

test('commands and reports count in topics that were made anew while their owner was away', async () => {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const first = driver.boot('A', disk)
  await driver.settle()
  driver.define('j', { schedule: { everyMs: 60_000 }, target: { handler: 'x' }, startDeadlineMs: 10_000 })
  for (let index = 0; index < 20; index++) driver.command('j', { type: index % 2 ? 'RESUME' : 'PAUSE', commandId: `c${index}` })
  await driver.advance(61_000, 5_000)
  end(driver, driver.executions().at(-1))
  await driver.advance(500)
  expect(driver.state(first, 'j')).toMatchObject({ status: 'ACTIVE', succeeded: 1 })
  driver.kill(first)
  const before = [await resetsOf(names.commands, 'beyond-end'), await resetsOf(names.events, 'beyond-end')]
  makeAnew(driver, names.commands)
  makeAnew(driver, names.events)
  const heir = driver.boot('B', disk)
  await driver.advance(60_000, 5_000)
  expect(await resetsOf(names.commands, 'beyond-end')).toBe((before[0] ?? 0) + 1)
  expect(await resetsOf(names.events, 'beyond-end')).toBe((before[1] ?? 0) + 1)
  end(driver, driver.executions().at(-1))
  await driver.advance(500)
  expect(driver.state(heir, 'j')).toMatchObject({ succeeded: 2, failed: 0 })
  expect(driver.command('j', { type: 'PAUSE', commandId: 'urgent' })).toBe(0)
  await driver.advance(500)
  expect(driver.state(heir, 'j')).toMatchObject({ status: 'PAUSED' })
})

test('an active owner notices that a topic was truncated as soon as something is read of it', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  driver.define('j', { schedule: { everyMs: 60_000 }, target: { handler: 'x' } })
  for (let index = 0; index < 20; index++) driver.command('j', { type: index % 2 ? 'RESUME' : 'PAUSE', commandId: `c${index}` })
  await driver.advance(1_000, 250)
  const before = await resetsOf(names.commands, 'beyond-end')
  makeAnew(driver, names.commands)
  driver.readFromBeginning(owner, names.commands)
  driver.command('j', { type: 'PAUSE', commandId: 'urgent' })
  await driver.advance(5_000, 250)
  expect(driver.phases(owner)).toBe('active')
  expect(await resetsOf(names.commands, 'beyond-end')).toBe(before + 1)
  expect(driver.state(owner, 'j')).toMatchObject({ status: 'PAUSED' })
})

test('records that expired before they were read are counted, and reading goes on behind them', async () => {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const first = driver.boot('A', disk)
  await driver.settle()
  driver.define('j', { schedule: { everyMs: 3_600_000 }, target: { handler: 'x' } })
  driver.command('j', { type: 'PAUSE', commandId: 'c0' })
  await driver.advance(1_000, 250)
  driver.kill(first)
  for (let index = 1; index < 5; index++) driver.command('j', { type: 'PAUSE', commandId: `c${index}` })
  await driver.advance(1_000)
  const expiring = driver.time.nowMs
  await driver.advance(1_000)
  driver.command('j', { type: 'RESUME', commandId: 'late' })
  driver.log.expire(driver.log.at(names.commands, 0), expiring)
  const before = await resetsOf(names.commands, 'expired')
  const heir = driver.boot('B', disk)
  await driver.advance(1_000, 250)
  expect(await resetsOf(names.commands, 'expired')).toBe(before + 1)
  expect(driver.state(heir, 'j')).toMatchObject({ status: 'ACTIVE' })
})

test.each([true, false])(
  'definitions count in jobs that were made anew; what was run of them is not forgotten (store kept: %s)',
  async (kept) => {
    const driver = new SchedulerDriver()
    const disk: Disk = new Map()
    const first = driver.boot('A', disk)
    await driver.settle()
    const job = { schedule: { everyMs: 10_000 }, target: { handler: 'x' } }
    for (let index = 0; index < 30; index++)
      driver.define(`filler-${index}`, { ...job, schedule: { at: driver.time.nowMs + 1e9 } })
    driver.define('again', job)
    driver.define('gone', job)
    await driver.advance(11_000, 1_000)
    for (const run of driver.executions()) end(driver, run)
    await driver.advance(20_000, 1_000)
    const runNo = driver.state(first, 'again')?.runNo ?? 0
    expect(runNo).toBe(3)
    driver.kill(first)
    const before = await resetsOf(names.jobs, 'beyond-end')
    makeAnew(driver, names.jobs)
    // One before the takeover, at an offset far below that of the old definition, and one after it.
    driver.define('again', { ...job, target: { handler: 'y' } })
    const heir = driver.boot('B', kept ? disk : new Map())
    await driver.advance(1_000, 250)
    driver.define('new', job)
    await driver.advance(25_000, 1_000)
    expect(driver.phases(heir)).toBe('active')
    expect(await resetsOf(names.jobs, 'beyond-end')).toBe(before + 1)
    const since = driver.executions().filter(({ handler, jobId }) => handler === 'y' || jobId === 'new')
    expect(since.filter(({ jobId }) => jobId === 'again').map((run) => run.runNo)).toEqual([runNo + 1, runNo + 2])
    expect(since.filter(({ jobId }) => jobId === 'new')).toHaveLength(2)
    // Its definition is nowhere, so it does not fire; sent again it makes up for what was missed, and goes on with its numbers.
    expect(driver.executions().filter(({ jobId }) => jobId === 'gone')).toHaveLength(3)
    driver.define('gone', job)
    await driver.advance(11_000, 1_000)
    expect(
      driver
        .executions()
        .filter(({ jobId }) => jobId === 'gone')
        .map((run) => run.runNo),
    ).toEqual([1, 2, 3, 4, 5])
  },
)
