/** Positions pass records that no reader is shown and records without consequences: these may expire without a report. */
import { describe, expect, test } from 'vitest'
import { type Disk, metrics } from '../model/cluster/process.ts'
import { codecs, names } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

async function resetsOf(topic: string, reason: string): Promise<number> {
  const { values } = await metrics.positionsReset.get()
  return values.find(({ labels }) => labels.topic === topic && labels.reason === reason)?.value ?? 0
}

describe('a position passes hidden records and records without effect', () => {
  /** All of it has expired. */
  function expireAll({ log }: SchedulerDriver, topic: string): void {
    const all = log.at(topic, 0)
    all.entries = []
    all.earliest = all.next
  }

  /** Writes as owners of other partitions do: the end of a transaction takes an offset too. */
  function fromAnotherOwner({ log, time }: SchedulerDriver, commandId: string, isAborted = false): void {
    const epoch = log.fence('other')
    const value = codecs.command.encode({ type: 'PAUSE', commandId, at: time.nowMs })
    log.append([{ topic: names.commands, partition: 0, key: 'j', value }], log.begin('other', epoch))
    if (isAborted) log.fence('other')
    else log.commit('other', epoch)
  }

  const resets = async (): Promise<number[]> => [
    await resetsOf(names.commands, 'expired'),
    await resetsOf(names.events, 'expired'),
  ]

  test.each([
    ['the end of a transaction', [false]],
    ['a transaction that was aborted', [false, true, true]],
  ])('so a log that ends in %s loses nothing with it', async (_, transactions) => {
    const driver = new SchedulerDriver()
    const disk: Disk = new Map()
    const first = driver.boot('A', disk)
    await driver.settle()
    driver.define('j', { schedule: { everyMs: 3_600_000 }, target: { handler: 'x' } })
    await driver.advance(1_000, 250)
    for (const [index, isAborted] of transactions.entries()) fromAnotherOwner(driver, `c${index}`, isAborted)
    await driver.advance(3_000, 250)
    expect(driver.state(first, 'j')).toMatchObject({ status: 'PAUSED' })
    driver.kill(first)
    expireAll(driver, names.commands)
    const before = await resets()
    const successor = driver.boot('B', disk)
    await driver.advance(1_000, 250)
    expect(driver.phases(successor)).toBe('active')
    expect([await resets(), successor.scheduler.queries.partitions()[0]?.lastReset]).toEqual([before, null])
  })

  test('so reports without effect may expire an hour later', async () => {
    const driver = new SchedulerDriver()
    const disk: Disk = new Map()
    const first = driver.boot('A', disk)
    await driver.settle()
    driver.define('j', { schedule: { everyMs: 86_400_000 }, target: { handler: 'x' } })
    await driver.advance(1_000, 250)
    const nobodys = { jobId: 'j', runNo: 7, attempt: 1, specOffset: 0 }
    for (let minute = 0; minute < 70; minute++) {
      driver.report(nobodys, 'HEARTBEAT')
      await driver.advance(60_000, 30_000)
    }
    const commits = driver.log.at(names.state, 0).archive.filter(({ record }) => record !== undefined).length
    // The claim, its position, the position of the definition, and one position for all reports.
    expect(commits).toBeLessThanOrEqual(4)
    const events = driver.log.at(names.events, 0)
    events.entries = events.entries.slice(60)
    events.earliest = 60
    driver.kill(first)
    const before = await resets()
    const successor = driver.boot('B', disk)
    await driver.advance(1_000, 250)
    expect(driver.phases(successor)).toBe('active')
    expect([await resets(), successor.scheduler.queries.partitions()[0]?.lastReset]).toEqual([before, null])
  })

  test('and a position that was outside its log is reported once', async () => {
    const driver = new SchedulerDriver()
    const disk: Disk = new Map()
    const first = driver.boot('A', disk)
    await driver.settle()
    driver.define('j', { schedule: { everyMs: 86_400_000 }, target: { handler: 'x' } })
    driver.command('j', { type: 'PAUSE', commandId: 'taken' })
    await driver.advance(1_000, 250)
    driver.kill(first)
    for (let index = 0; index < 4; index++) driver.command('j', { type: 'PAUSE', commandId: `c${index}` })
    expireAll(driver, names.commands)
    const second = driver.boot('B', disk)
    await driver.advance(3_000, 250)
    driver.kill(second)
    const before = await resets()
    driver.boot('C', disk)
    await driver.advance(3_000, 250)
    expect(await resets()).toEqual(before)
  })

  test('but not records that came while its owner closed: the next one reads them', async () => {
    const driver = new SchedulerDriver()
    const disk: Disk = new Map()
    const first = driver.boot('A', disk)
    await driver.settle()
    driver.define('j', { schedule: { everyMs: 1_000 }, target: { handler: 'x' } })
    await driver.advance(1_500, 100)
    const [run] = driver.executions()
    if (run === undefined) throw new Error('Nothing was dispatched.')
    const gate = Promise.withResolvers<void>()
    const { io } = driver.cluster
    const { submit } = io
    // The next commit cycle has begun and reads its job.
    const begun = new Promise<void>((resolve) => {
      io.submit = async (machine, name, effect) => {
        if (name === 'reads') {
          resolve()
          await gate.promise
        }
        return submit(machine, name, effect)
      }
    })
    await driver.advance(500, 100)
    await begun
    const stopped = first.scheduler.stop()
    driver.report(run, 'SUCCEEDED', { startedAt: driver.time.nowMs })
    await driver.advance(100, 10)
    gate.resolve()
    io.submit = submit
    await driver.advance(100, 10)
    await stopped
    driver.kill(first)
    expect(driver.executions()).toHaveLength(2)
    const successor = driver.boot('B', disk)
    await driver.advance(500, 100)
    expect(driver.state(successor, 'j')).toMatchObject({ succeeded: 1 })
  })
})
