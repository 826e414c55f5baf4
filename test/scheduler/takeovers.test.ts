/** Duties of a new owner: earlier leases, commands that were sent meanwhile, and definitions that no owner has logged. */
import { expect, test } from 'vitest'
import { replyHeaders } from '../../streams/jobs/receipt.ts'
import { prefix } from '../../streams/state/keys.ts'
import { partitionOf } from '../../streams/topics/topics.ts'
import type { Disk } from '../model/cluster/process.ts'
import { codecs, names, repliesTopic } from '../model/world.ts'
import { beginMs, type Dispatched, SchedulerDriver } from '../tools/scheduler-driver.ts'

const minuteMs = 60_000

const runsOf = (driver: SchedulerDriver, id: string): Dispatched[] => driver.executions().filter(({ jobId }) => jobId === id)

test('a run that its worker has reported in time keeps its lease, though its new owner has not read the report yet', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  const atOnce = { at: driver.time.nowMs + 1_000 }
  driver.define('long', { schedule: atOnce, target: { handler: 'x' }, leaseMs: 30_000, attemptTimeoutMs: 60 * minuteMs })
  driver.define('neighbor', { schedule: { everyMs: 5_000 }, target: { handler: 'x' } })
  await driver.advance(1_500, 500)
  const [run] = runsOf(driver, 'long')
  if (run === undefined) throw new Error('Nothing was dispatched.')
  driver.report(run, 'STARTED', { startedAt: driver.time.nowMs })
  for (let beat = 0; beat < 12; beat++) {
    await driver.advance(10_000, 1_000)
    driver.report(run, 'HEARTBEAT')
  }
  // The neighbor's commits say that all of these were read: no owner reads them again.
  await driver.advance(6_000, 1_000)
  driver.kill(owner)
  // A rebuilt store has the timer of the lease at the time that the start of the run had set.
  const successor = driver.boot('B')
  await driver.advance(3_000, 500)
  expect(driver.phases(successor)).toBe('active')
  driver.report(run, 'HEARTBEAT')
  await driver.advance(20_000, 1_000)
  expect(runsOf(driver, 'long').map(({ attempt }) => attempt)).toEqual([1])
  expect(driver.state(successor, 'long')?.active).toMatchObject([{ runNo: 1, attempt: 1, status: 'RUNNING' }])
  // A worker that is silent from then on loses it, at the latest one lease after the takeover.
  await driver.advance(60_000, 1_000)
  expect(runsOf(driver, 'long').map(({ attempt }) => attempt)).toEqual([1, 2])
})

test('commands that were sent without an owner apply before overdue timers fire', async () => {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const owner = driver.boot('A', disk)
  await driver.settle()
  for (const id of ['paused', 'cancelled', 'free'])
    driver.define(id, { schedule: { at: driver.time.nowMs + minuteMs }, target: { handler: 'x' } })
  await driver.advance(1_000)
  driver.kill(owner)
  driver.command('paused', { type: 'PAUSE', commandId: 'c1' })
  driver.command('cancelled', { type: 'CANCEL', commandId: 'c2' })
  driver.time.nowMs += 2 * minuteMs
  const successor = driver.boot('B', disk)
  await driver.advance(5_000, 500)
  expect(driver.executions().map(({ jobId }) => jobId)).toEqual(['free'])
  expect(driver.state(successor, 'paused')).toMatchObject({ status: 'PAUSED', runNo: 0 })
  expect(driver.state(successor, 'cancelled')).toMatchObject({ status: 'COMPLETED', runNo: 0 })
})

test('jobs that were deleted or redefined without an owner do not fire as before', async () => {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const owner = driver.boot('A', disk)
  await driver.settle()
  const job = { target: { handler: 'x' } }
  for (const id of ['deleted', 'put-off', 'free']) driver.define(id, { ...job, schedule: { at: driver.time.nowMs + minuteMs } })
  await driver.advance(1_000)
  driver.kill(owner)
  driver.remove('deleted')
  driver.define('put-off', { ...job, schedule: { at: driver.time.nowMs + 60 * minuteMs } })
  driver.time.nowMs += 2 * minuteMs
  driver.boot('B', disk)
  await driver.advance(5_000, 500)
  expect(driver.executions().map(({ jobId }) => jobId)).toEqual(['free'])
})

test('a command without effect has no effect for the next owner either', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  driver.command('later', { type: 'PAUSE', commandId: 'c1' })
  await driver.advance(100, 50)
  driver.define('later', { schedule: { at: driver.time.nowMs + 10_000 }, target: { handler: 'x' } })
  await driver.advance(100, 50)
  // Before an idle owner would log its positions in any case.
  driver.kill(owner)
  driver.boot('B')
  await driver.advance(20_000, 1_000)
  expect(runsOf(driver, 'later').map(({ runNo }) => runNo)).toEqual([1])
})

test('a member that the group has removed claims nothing, however far it has restored', async () => {
  const driver = new SchedulerDriver()
  const { io } = driver.cluster
  const submit = io.submit.bind(io)
  const restored = Promise.withResolvers<void>()
  let isHeld = false
  driver.cluster.io.submit = (machine, name, effect) => {
    if (machine.name !== 'A' || name !== `asks for the offsets of ${names.state}`) return submit(machine, name, effect)
    isHeld = true
    return restored.promise.then(() => submit(machine, name, effect))
  }
  const slow = driver.boot('A')
  await driver.settle()
  expect(isHeld).toBe(true)
  if (slow.member === undefined) throw new Error('The process has not joined.')
  slow.member.isIsolated = true
  const successor = driver.boot('B')
  driver.define('j', { schedule: { everyMs: 10_000 }, target: { handler: 'x' }, overlap: 'ALLOW' })
  await driver.advance(5_000, 500)
  expect(driver.phases(successor)).toBe('active')
  restored.resolve()
  await driver.advance(30_000, 500)
  const { archive } = driver.log.at(names.state, 0)
  const entries = await Promise.all(archive.map(({ record }) => (record?.value ? codecs.state.decode(record.value) : undefined)))
  expect(entries.flatMap((entry) => entry?.owner?.instance ?? [])).toEqual(['B'])
  expect(driver.phases(successor)).toBe('active')
  expect(runsOf(driver, 'j').map(({ at }) => Math.round(at / 10_000))).toEqual([1, 2, 3])
})

test('a standby has the definitions of its owner, and only the timers that follow from them', async () => {
  const driver = new SchedulerDriver(1, 'standbys')
  const processes = [driver.boot('A'), driver.boot('B')]
  await driver.settle()
  const storesHave = (what: number): number[] =>
    processes.map(
      ({ disk }) =>
        disk
          .get(0)
          ?.dump()
          .filter(([key]) => Buffer.from(key, 'hex')[0] === what).length ?? 0,
    )
  const job = { target: { handler: 'x' } }
  for (const id of ['a', 'b', 'c']) driver.define(id, { ...job, schedule: { at: driver.time.nowMs + 5_000 } })
  await driver.advance(3_000, 500)
  expect(storesHave(prefix.definition)).toEqual([3, 3])
  expect(storesHave(prefix.timer)).toEqual([3, 3])
  driver.define('a', { ...job, schedule: { at: driver.time.nowMs + 60 * minuteMs } })
  await driver.advance(3_000, 500)
  for (const run of driver.executions()) driver.report(run, 'STARTED', { startedAt: driver.time.nowMs })
  await driver.advance(1_000, 500)
  // Each running one has the timers of its lease and of its timeout.
  expect(storesHave(prefix.timer)).toEqual([5, 5])
  for (const run of driver.executions()) driver.report(run, 'SUCCEEDED', { startedAt: driver.time.nowMs })
  await driver.advance(1_000, 500)
  expect(storesHave(prefix.timer)).toEqual([3, 3])
  // A search finds no job there by what it was, and each by what it is.
  const found = () =>
    processes.map(({ disk }) =>
      disk
        .get(0)
        ?.dump()
        .map(([key]) => key)
        .filter((key) => Buffer.from(key, 'hex')[0] === prefix.index),
    )
  driver.command('a', { type: 'PAUSE', commandId: 'pause' })
  await driver.advance(1_000, 500)
  const [paused = [], followed] = found()
  expect(paused.length).toBeGreaterThan(0)
  expect(followed).toEqual(paused)
  driver.command('a', { type: 'RESUME', commandId: 'resume' })
  await driver.advance(1_000, 500)
  const [resumed, after] = found()
  expect(resumed).not.toEqual(paused)
  expect(after).toEqual(resumed)
})

test('a new owner knows what the ahead topics hold: it puts nothing there that is due before', async () => {
  const driver = new SchedulerDriver(1, 'owners', { leadMsMax: 10_000 })
  const owner = driver.boot('A')
  await driver.settle()
  const dueAt = driver.time.nowMs + 5_000
  const burst = (name: string, size: number, at: number): void => {
    for (let index = 0; index < size; index++) driver.define(`${name}-${index}`, { schedule: { at }, target: { handler: 'x' } })
  }
  const aheadMs = (name: string): number[] => runsOf(driver, name).map((run) => Math.round((run.dueAt - beginMs - run.at) / 100))
  // This many start half a second earlier than others.
  burst('late', 2_000, dueAt)
  await driver.advance(4_450, 50)
  expect(runsOf(driver, 'late-0')).toHaveLength(1)
  driver.kill(owner)
  driver.boot('B')
  burst('early', 300, dueAt - 200)
  await driver.advance(1_000, 10)
  expect(aheadMs('early-0')).toEqual([1])
})

test('an owner that was replaced without knowing it rebuilds its store, and its input is judged by the decisions of its successor', async () => {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const owner = driver.boot('A', disk)
  await driver.settle()
  const job = { target: { handler: 'x' } }
  driver.define('j', { ...job, schedule: { everyMs: 10_000 }, payload: Buffer.from('old') })
  // All that it has read is logged: it has nothing to commit.
  await driver.advance(5_000, 500)
  if (owner.member === undefined) throw new Error('The process has not joined.')
  owner.member.isIsolated = true
  const successor = driver.boot('B')
  await driver.settle()
  // Timers fall due at its successor, not here.
  owner.machine.clock.skewMs = -20_000
  await driver.advance(12_000, 1_000)
  expect(runsOf(driver, 'j')).toHaveLength(1)
  // The old owner reads on before the group tells it anything.
  owner.member.isIsolated = false
  owner.member.fetching = true
  driver.cluster.group.members.add(owner.member)
  // Its successor has a run of the job, so it must log the definition, and dies before that.
  driver.hold(successor, 'commits')
  const offset = driver.define('j', { ...job, schedule: { everyMs: 2 * minuteMs }, payload: Buffer.from('new') })
  await driver.advance(500, 100)
  // It gets the partition back before it has committed anything, and so before it learns that it is fenced.
  driver.kill(successor)
  await driver.advance(500, 100)
  expect(driver.phases(owner)).toBe('active')
  driver.command('nobody', { type: 'PAUSE', commandId: 'c1' })
  await driver.advance(10_000, 500)
  owner.machine.clock.skewMs = 0
  expect(driver.phases(owner)).toBe('active')
  expect(driver.state(owner, 'j')).toMatchObject({ specOffset: offset, runNo: 1 })
  await driver.advance(2 * minuteMs, 1_000)
  expect(runsOf(driver, 'j').map(({ runNo, payload, specOffset }) => [runNo, String(payload), specOffset])).toEqual([
    [1, 'old', 0],
    [2, 'new', offset],
  ])
})

test('an owner that ended before it knew whether its state was lost: the next one decides no definition again', async () => {
  const driver = new SchedulerDriver(2)
  const idsOf = (partition: number) =>
    Array.from({ length: 600 }, (_, index) => `job-${index}`).filter((id) => partitionOf(id, 2) === partition)
  const [ids, elsewhere] = [idsOf(0), idsOf(1)[0] ?? '']
  // Reports without a position say that the state may be lost. These are of another partition, and to send one on takes a commit.
  const misplaced = (): void => {
    const { at, ...report } = {
      at: driver.time.nowMs,
      jobId: elsewhere,
      runNo: 1,
      attempt: 1,
      specOffset: 0,
      type: 'SUCCEEDED' as const,
    }
    const value = codecs.event.encode({ ...report, at, worker: 'w@h:1:a' })
    driver.log.append([{ topic: names.events, partition: 0, key: elsewhere, value }])
  }
  for (let index = 0; index < 400; index++) misplaced()
  for (const id of ids) {
    const value = codecs.definition.encode({ schedule: { delayMs: 60_000 }, target: { handler: 'x' } })
    const headers = { [replyHeaders.topic]: repliesTopic, [replyHeaders.correlationId]: id }
    driver.log.append([{ topic: names.jobs, partition: 0, key: id, value, headers }])
  }
  const answered = () =>
    driver.log
      .allOf(repliesTopic)
      .flatMap(({ log }) => log.archive.flatMap(({ record }) => record?.headers[replyHeaders.correlationId] ?? []))
  const commit = driver.log.commit.bind(driver.log)
  driver.log.commit = (id, epoch) => {
    // The owner ends when all definitions are decided, and before it has read all reports.
    if (answered().length >= ids.length) driver.answerGate = new Promise(() => {})
    commit(id, epoch)
  }
  const first = driver.boot('A')
  await driver.settle()
  driver.kill(first)
  driver.log.commit = commit
  driver.answerGate = undefined
  misplaced()
  driver.boot('B')
  await driver.advance(5_000, 500)
  expect(new Set(answered()).size).toBe(ids.length)
  expect(answered()).toHaveLength(ids.length)
})
