/** A `job-state` that was truncated, or deleted and recreated: it is noticed, and nothing is done before somebody has acted. */
import { expect, test } from 'vitest'
import { replyHeaders } from '../../streams/jobs/receipt.ts'
import { markHeader, markKey } from '../../streams/topics/log-records.ts'
import { type Disk, metrics, type Process } from '../model/cluster/process.ts'
import { names, repliesTopic } from '../model/world.ts'
import { type Dispatched, SchedulerDriver } from '../tools/scheduler-driver.ts'

const job = { schedule: { everyMs: 10_000 }, target: { handler: 'x' } }

async function resets(reason: string): Promise<number> {
  const { values } = await metrics.positionsReset.get()
  return values.find(({ labels }) => labels.topic === names.state && labels.reason === reason)?.value ?? 0
}

/** One run every 10 s; each ends at once. */
async function run(driver: SchedulerDriver, forMs: number): Promise<void> {
  const nameOf = ({ jobId, runNo, life }: Dispatched): string => `${jobId}/${runNo}@${life}`
  const seen = new Set(driver.executions().map(nameOf))
  for (let passed = 0; passed < forMs; passed += 500) {
    await driver.advance(500)
    for (const each of driver.executions()) if (!seen.has(nameOf(each))) end(driver, each)
    for (const each of driver.executions()) seen.add(nameOf(each))
  }
}

function end(driver: SchedulerDriver, run: Dispatched): void {
  driver.report(run, 'SUCCEEDED', { startedAt: driver.time.nowMs })
}

function loseState(driver: SchedulerDriver, how: 'recreated' | 'truncated'): void {
  const log = driver.log.at(names.state, 0)
  if (how === 'recreated') driver.log.recreate(log)
  else driver.log.truncate(log, Math.floor(log.next / 2))
  driver.cluster.group.moved(names.state, 0)
}

const runNumbers = (driver: SchedulerDriver, id = 'j'): number[] =>
  driver
    .executions()
    .filter(({ jobId }) => jobId === id)
    .map(({ runNo }) => runNo)

const oneAfterAnother = (numbers: readonly number[]): number[] => numbers.map((_, at) => at + 1)

const lastReset = (process: Process) => process.scheduler.queries.partitions()[0]?.lastReset

async function begun(): Promise<{ driver: SchedulerDriver; disk: Disk; owner: Process }> {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const owner = driver.boot('A', disk)
  await driver.settle()
  driver.define('j', job)
  driver.define('paused', job)
  driver.define('gone', { ...job, target: { handler: 'y' } })
  await run(driver, 21_000)
  driver.command('paused', { type: 'PAUSE', commandId: 'p' })
  driver.command('j', { type: 'TRIGGER', commandId: 't' })
  driver.remove('gone')
  await run(driver, 2_000)
  return { driver, disk, owner }
}

const viewOf = (process: Process, partition = 0) =>
  process.scheduler.queries.partitions().find((view) => view.partition === partition)

/** What happened, where, and what to do. */
const refusal =
  /^model\.job-state\/0 has lost records before \d+, which the local store has read: .* duelog restore FILE --topic-prefix NEW; duelog carry --from model\. --topic-prefix NEW; .* delete scheduler\/partition-0 in the data folder of each/

/** What the refusal says, if there is no backup: all schedulers are stopped, and their stores of this partition deleted. */
async function actedUpon(driver: SchedulerDriver, owner: Process): Promise<Process> {
  driver.kill(owner)
  const successor = driver.boot('without the store', new Map())
  await run(driver, 30_000)
  return successor
}

test.each(['recreated', 'truncated'] as const)('an owner that comes back refuses until somebody has acted (%s)', async (how) => {
  const { driver, disk, owner } = await begun()
  driver.kill(owner)
  loseState(driver, how)
  const [ran, end] = [driver.executions().length, driver.log.at(names.state, 0).next]
  const successor = driver.boot('B', disk)
  await run(driver, 30_000)
  expect(viewOf(successor)).toMatchObject({ phase: 'restoring', problem: expect.stringMatching(refusal), lastReset: null })
  expect(successor.scheduler.active).toBe(false)
  await expect(successor.scheduler.queries.why(0, 'j')).rejects.toThrow('duelog restore FILE')
  // It wrote nothing, and deleted nothing.
  expect([driver.executions().length, driver.log.at(names.state, 0).next]).toEqual([ran, end])
  expect(disk.get(0)?.dump().length).toBeGreaterThan(0)
  const third = await actedUpon(driver, successor)
  expect(viewOf(third)).toMatchObject({ phase: 'active', problem: null })
  expect(driver.state(third, 'paused')).toMatchObject({ status: 'PAUSED' })
  expect(driver.executions().length).toBeGreaterThan(ran + 2)
})

test.each(['recreated', 'truncated'] as const)('an active owner notices it by the answer to its commit (%s)', async (how) => {
  const { driver, disk, owner } = await begun()
  const reached = driver.log.at(names.state, 0).next
  loseState(driver, how)
  await run(driver, 40_000)
  expect(viewOf(owner)).toMatchObject({ phase: 'restoring', problem: expect.stringMatching(refusal) })
  // The store remembers it, also when others have written more to the log.
  driver.kill(owner)
  for (const log = driver.log.at(names.state, 0); log.next <= reached; )
    driver.log.append([{ topic: names.state, partition: 0, key: 'foreign', value: null }])
  const again = driver.boot('B', disk)
  await run(driver, 20_000)
  expect(viewOf(again)).toMatchObject({ phase: 'restoring', problem: expect.stringMatching(refusal) })
  expect(viewOf(await actedUpon(driver, again))).toMatchObject({ phase: 'active' })
})

test('other partitions go on beside one that refuses, also if its store is older than deletions are kept', async () => {
  const driver = new SchedulerDriver(2)
  const disk: Disk = new Map()
  const owner = driver.boot('A', disk)
  await driver.settle()
  for (const id of ['a', 'b', 'c', 'd', 'e']) driver.define(id, job)
  await run(driver, 11_000)
  driver.kill(owner)
  loseState(driver, 'recreated')
  driver.time.nowMs += 30 * 86_400_000
  const before = driver.executions().length
  const successor = driver.boot('B', disk)
  await run(driver, 21_000)
  expect(viewOf(successor, 1)).toMatchObject({ phase: 'active', problem: null })
  expect(viewOf(successor)).toMatchObject({ phase: 'restoring', problem: expect.stringMatching(refusal) })
  const ran = new Set(
    driver
      .executions()
      .slice(before)
      .map(({ jobId }) => jobId),
  )
  expect(ran.size).toBeGreaterThan(0)
  expect(ran.size).toBeLessThan(5)
})

test('a store is rebuilt if another owner has continued in a recreated log, which has grown longer', async () => {
  const { driver, disk, owner } = await begun()
  driver.kill(owner)
  const log = driver.log.at(names.state, 0)
  const reached = log.next
  loseState(driver, 'recreated')
  const other = driver.boot('B', new Map())
  while (log.next <= reached) await run(driver, 10_000)
  const state = driver.state(other, 'j')
  driver.kill(other)
  const third = driver.boot('C', disk)
  await driver.advance(2_500, 250)
  expect(viewOf(third)).toMatchObject({ phase: 'active', problem: null })
  expect(driver.state(third, 'j')).toEqual(state)
})

test('a store that is older than deletions are kept is rebuilt if the log is there', async () => {
  const { driver, disk, owner } = await begun()
  const state = driver.state(owner, 'paused')
  driver.kill(owner)
  const store = disk.get(0)
  driver.time.nowMs += 30 * 86_400_000
  const successor = driver.boot('B', disk)
  await driver.advance(1_000, 500)
  expect(disk.get(0)).not.toBe(store)
  expect(driver.state(successor, 'paused')).toEqual(state)
  expect(lastReset(successor)).toBeNull()
})

test('if no copy is left jobs begin again, which is logged; no command that asks for a run is applied again', async () => {
  const { driver, owner } = await begun()
  driver.kill(owner)
  loseState(driver, 'recreated')
  const before = await resets('lost')
  const successor = driver.boot('B', new Map())
  await driver.advance(2_000, 250)
  expect(await resets('lost')).toBe(before + 1)
  expect(lastReset(successor)).toMatchObject({ topic: names.state, reason: 'lost' })
  expect(driver.state(successor, 'paused')).toMatchObject({ status: 'PAUSED' })
  expect(driver.executions().filter(({ trigger }) => trigger === 'MANUAL')).toHaveLength(1)
  driver.command('j', { type: 'TRIGGER', commandId: 't2' })
  await run(driver, 1_000)
  expect(driver.executions().filter(({ trigger }) => trigger === 'MANUAL')).toHaveLength(2)
})

test('a record in execution-events that is no report does not mark the commands of a new partition as applied', async () => {
  const driver = new SchedulerDriver()
  // A worker that started before any owner has asked for the time, and a client has left a record.
  const headers = { [markHeader]: 'worker' }
  driver.log.append([{ topic: names.events, partition: 0, key: markKey, value: null, headers }])
  driver.log.append([{ topic: names.events, partition: 0, key: 'j', value: Buffer.from('no report') }])
  driver.define('j', job)
  driver.command('j', { type: 'TRIGGER', commandId: 't' })
  const before = await resets('lost')
  const owner = driver.boot('A', new Map())
  await driver.advance(2_000, 250)
  expect(driver.phases(owner)).toBe('active')
  expect(await resets('lost')).toBe(before)
  expect(driver.executions().filter(({ trigger }) => trigger === 'MANUAL')).toHaveLength(1)
})

const asking = { [replyHeaders.topic]: repliesTopic, [replyHeaders.correlationId]: '1' }

const manualRuns = (driver: SchedulerDriver): number => driver.executions().filter(({ trigger }) => trigger === 'MANUAL').length

/** One history for each point of a takeover at which an owner may be killed. The next owner runs until all is quiet. */
async function killedAnywhere(begin: () => Promise<SchedulerDriver>): Promise<SchedulerDriver[]> {
  const ends: SchedulerDriver[] = []
  for (let rounds = 1, isActive = false; !isActive; rounds++) {
    const driver = await begin()
    // Several fetches.
    for (let record = 0; record < 4; record++) driver.append(names.events, 'j', Buffer.alloc(800_000))
    const first = driver.boot('B', new Map())
    for (let round = 0; round < rounds; round++) {
      // Its answer takes a commit: a position is logged while the owner reads reports of workers.
      driver.log.append([{ topic: names.jobs, key: 'odd', value: Buffer.from('garbage'), headers: asking }])
      await driver.settle(1)
    }
    isActive = driver.phases(first) === 'active'
    driver.kill(first)
    driver.boot('C', new Map())
    await driver.advance(3_000, 250)
    ends.push(driver)
  }
  return ends
}

test('if a first owner is killed before it knows whether all is lost, that stays open: no command of a new partition is lost', async () => {
  const ends = await killedAnywhere(async () => {
    const driver = new SchedulerDriver()
    driver.define('j', job)
    driver.command('j', { type: 'TRIGGER', commandId: 't' })
    return driver
  })
  expect(ends.map(manualRuns)).toEqual(ends.map(() => 1))
  // Some were killed during the takeover: after their claim, and before they were active.
  expect(ends.length).toBeGreaterThan(5)
})

test('if all is lost the successor of a killed owner knows it too, and applies no command again', async () => {
  const ends = await killedAnywhere(async () => {
    const { driver, owner } = await begun()
    driver.kill(owner)
    loseState(driver, 'recreated')
    return driver
  })
  expect(ends.map(manualRuns)).toEqual(ends.map(() => 1))
})

test.each(['recreated', 'truncated'] as const)(
  'no command is applied again, and none is lost, if job-commands loses its end (%s)',
  async (how) => {
    const { driver, disk, owner } = await begun()
    const triggers = (): number => driver.executions().filter(({ trigger }) => trigger === 'MANUAL').length
    // More runs than a job remembers, one after another.
    const schedule = { at: driver.time.nowMs + 1e9 }
    driver.define('often', { schedule, target: { handler: 'x' }, overlap: 'ALLOW', maxConcurrentRuns: 100 })
    for (let index = 0; index < 50; index++) driver.command('often', { type: 'TRIGGER', commandId: `often-${index}` })
    await run(driver, 20_000)
    const before = triggers()
    expect(before).toBe(51)
    driver.kill(owner)
    const log = driver.log.at(names.commands, 0)
    if (how === 'recreated') driver.log.recreate(log)
    else driver.log.truncate(log, log.next - 5)
    driver.cluster.group.moved(names.commands, 0)
    driver.command('often', { type: 'TRIGGER', commandId: 'new' })
    const successor = driver.boot('B', disk)
    await driver.advance(1_000, 250)
    // A crash before anything else is reported.
    driver.kill(successor)
    const third = driver.boot('C', disk)
    await driver.advance(1_000, 250)
    driver.command('often', { type: 'TRIGGER', commandId: 'newer' })
    await driver.advance(1_000, 250)
    expect(driver.phases(third)).toBe('active')
    expect(triggers()).toBe(before + 2)
  },
)

test('a standby that read nothing while the log lost its end, and another owner continued beyond that, rebuilds its copy', async () => {
  const driver = new SchedulerDriver(1, 'standbys')
  const owner = driver.boot('A')
  await driver.settle()
  driver.define('a', job)
  for (let index = 0; index < 30; index++) driver.define(`z${index}`, job)
  await run(driver, 5_000)
  const standby = driver.boot('B')
  await run(driver, 16_000)
  expect(driver.phases(standby)).toBe('following')
  const log = driver.log.at(names.state, 0)
  const reached = log.next
  if (standby.member !== undefined) standby.member.isIsolated = true
  driver.command('a', { type: 'PAUSE', commandId: 'p' })
  await run(driver, 40_000)
  driver.kill(owner)
  // The next owner decides the pause again within these records, which the standby never reads.
  driver.log.truncate(log, reached - 60)
  const other = driver.boot('C', new Map())
  await run(driver, 50_000)
  expect(log.next).toBeGreaterThan(reached + 10)
  if (standby.member !== undefined) standby.member.isIsolated = false
  await driver.advance(3_000, 250)
  expect(driver.state(other, 'a')).toMatchObject({ status: 'PAUSED' })
  expect(driver.state(standby, 'a')).toEqual(driver.state(other, 'a'))
  driver.kill(other)
  const ran = new Map(['a', 'z0', 'z29'].map((id) => [id, runNumbers(driver, id).length]))
  const last = new Map([...ran.keys()].map((id) => [id, driver.state(standby, id)?.runNo ?? 0]))
  await run(driver, 30_000)
  expect(driver.phases(standby)).toBe('active')
  for (const [id, count] of ran) {
    const numbers = runNumbers(driver, id).slice(count)
    expect(numbers).toEqual(numbers.map((_, at) => (last.get(id) ?? 0) + 1 + at))
  }
})

test('a log whose last transaction has not ended everywhere has lost nothing', async () => {
  const { driver, disk, owner } = await begun()
  driver.cluster.showsHighWatermarks = true
  driver.kill(owner)
  const log = driver.log.at(names.state, 0)
  const before = { end: log.next, resets: await resets('beyond-end') }
  const end = log.withoutLastEnd()
  const successor = driver.boot('B', disk)
  await driver.advance(5_000, 500)
  // It waits, and asks nobody to act.
  expect(viewOf(successor)).toMatchObject({ problem: null })
  expect(driver.phases(successor)).not.toBe('active')
  end()
  await run(driver, 20_000)
  expect(driver.phases(successor)).toBe('active')
  expect(await resets('beyond-end')).toBe(before.resets)
  expect(lastReset(successor)).toBeNull()
  expect(runNumbers(driver)).toEqual(oneAfterAnother(runNumbers(driver)))
})
