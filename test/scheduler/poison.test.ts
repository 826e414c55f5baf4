/** Content that no record can hold: it never reaches a transaction, and the neighbors of its job fire on time. */
import { describe, expect, it } from 'vitest'
import { checkSizes } from '../../src/log/kafka/client/produce.ts'
import { definitionKey } from '../../streams/state/keys.ts'
import { partitionOf } from '../../streams/topics/topics.ts'
import { codecs, names } from '../model/world.ts'
import { beginMs, SchedulerDriver } from '../tools/scheduler-driver.ts'

const secondsOf = (driver: SchedulerDriver, jobId: string): number[] =>
  driver
    .executions()
    .filter((execution) => execution.jobId === jobId)
    .map(({ scheduledFor, dispatchedAt }) => Math.max(0, dispatchedAt - scheduledFor))

/** A log that refuses the same records as the transactional writer and a broker; `refused` counts them. */
function strict(driver: SchedulerDriver): { refused: number } {
  const counts = { refused: 0 }
  const append = driver.log.append.bind(driver.log)
  driver.log.append = (records, transaction) => {
    try {
      if (transaction !== undefined) checkSizes([...records])
    } catch (error) {
      counts.refused++
      throw error
    }
    return append(records, transaction)
  }
  return counts
}

/** A job id of this partition; there are two partitions. */
const neighborIn = (partition: number): string =>
  ['one', 'two', 'three', 'four', 'five'].find((id) => partitionOf(id, 2) === partition) ?? expect.fail()

async function withNeighbor(): Promise<{ driver: SchedulerDriver; counts: { refused: number } }> {
  const driver = new SchedulerDriver()
  const counts = strict(driver)
  driver.boot('A')
  await driver.settle()
  driver.define('neighbor', {
    schedule: { everyMs: 1_000 },
    target: { handler: 'x' },
    maxConcurrentRuns: 100,
    startDeadlineMs: 1_000,
  })
  return { driver, counts }
}

/** Asserts that it fired every second up to now, by any owner, and never late. */
function expectOnTime(driver: SchedulerDriver, counts: { refused: number }): void {
  const late = secondsOf(driver, 'neighbor')
  expect(late.length).toBeGreaterThanOrEqual(Math.floor(driver.nowMs / 1_000) - 1)
  expect(Math.max(...late)).toBeLessThan(1_000)
  expect(counts.refused).toBe(0)
}

describe('a partition', () => {
  it('continues after a result of a megabyte, and so does its next owner; the run has succeeded without it', async () => {
    const { driver, counts } = await withNeighbor()
    driver.define('one', { schedule: { at: beginMs + 1_000 }, target: { handler: 'x' } })
    await driver.advance(2_000, 100)
    const run = driver.executions().find(({ jobId }) => jobId === 'one')
    if (run === undefined) throw new Error('It has not fired.')
    driver.report(run, 'SUCCEEDED', { startedAt: driver.time.nowMs, result: Buffer.alloc(1_000_200, 'x') })
    await driver.advance(20_000, 500)
    const [first] = driver.processes
    if (first === undefined) throw new Error('No process.')
    expect(driver.state(first, 'one')?.lastRun).toMatchObject({ status: 'SUCCEEDED', result: null })
    expect(driver.state(first, 'one')?.lastRun?.note).toContain('1000200 bytes')
    driver.kill(first)
    driver.boot('B')
    await driver.advance(20_000, 500)
    expectOnTime(driver, counts)
  })

  it('continues when a job is triggered 3,000 times without workers; triggers over the limit are refused and counted', async () => {
    const { driver, counts } = await withNeighbor()
    driver.define('slow', { schedule: { cron: '0 0 1 1 *' }, target: { handler: 'x' } })
    await driver.advance(1_000, 100)
    for (let index = 0; index < 3_000; index++) {
      driver.command('slow', { type: 'TRIGGER', commandId: `${index}`, trigger: index % 2 === 0 ? 'FOLLOW_UP' : 'MANUAL' })
    }
    await driver.advance(10_000, 500)
    const [process] = driver.processes
    if (process === undefined) throw new Error('No process.')
    const state = driver.state(process, 'slow')
    expect(state?.active).toHaveLength(16)
    expect(state?.decisions.at(-1)).toMatchObject({ what: 'DROPPED', reason: 'max-concurrent-runs' })
    expectOnTime(driver, counts)
  })

  it('continues when a hundred runs fail five times each with messages of three bytes a character', async () => {
    const { driver, counts } = await withNeighbor()
    driver.define('many', {
      schedule: { cron: '0 0 1 1 *' },
      target: { handler: 'x' },
      maxConcurrentRuns: 100,
      retry: { maxAttempts: 1_000, backoff: { fixed: { delayMs: 1 } } },
    })
    await driver.advance(1_000, 100)
    for (let index = 0; index < 100; index++) driver.command('many', { type: 'TRIGGER', commandId: `${index}` })
    for (let attempt = 1; attempt <= 6; attempt++) {
      await driver.advance(1_000, 100)
      const error = { type: 'E', message: '数'.repeat(1_000) }
      for (const run of driver.executions().filter((each) => each.jobId === 'many' && each.attempt === attempt))
        driver.report(run, 'FAILED', { startedAt: driver.time.nowMs, error })
    }
    await driver.advance(3_000, 100)
    const [process] = driver.processes
    if (process === undefined) throw new Error('No process.')
    expect(driver.state(process, 'many')?.active.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 100 }, () => 7))
    expectOnTime(driver, counts)
  })

  it('keeps only the length of a definition that is too long, and reports it, also after a restart', async () => {
    const { driver, counts } = await withNeighbor()
    const value = codecs.definition.encode({
      schedule: { everyMs: 1_000 },
      target: { handler: 'x' },
      payload: Buffer.alloc(40_000_000),
    })
    // Like one that was compressed.
    driver.log.recordBytesMax = Number.POSITIVE_INFINITY
    driver.append(names.jobs, 'huge', value)
    await driver.advance(5_000, 500)
    for (const name of ['B', 'C']) {
      const process = driver.processes.at(-1)
      if (process === undefined) throw new Error('No process.')
      const [stored] = (await process.disk.get(0)?.get([definitionKey('huge')])) ?? []
      expect(stored?.length).toBeLessThan(64)
      expect(await process.scheduler.queries.job(0, 'huge')).toMatchObject({
        status: 'INVALID',
        reason: expect.stringContaining(`has ${value.length} bytes; at most`),
      })
      driver.kill(process)
      driver.boot(name)
      await driver.advance(5_000, 500)
    }
    expectOnTime(driver, counts)
  })

  it('passes over a report with the key of another job', async () => {
    const { driver } = await withNeighbor()
    const [owner] = driver.processes
    if (owner === undefined) throw new Error('No owner.')
    driver.define('one', { schedule: { at: beginMs + 1_000 }, target: { handler: 'x' } })
    await driver.advance(2_000, 100)
    const run = driver.executions().find(({ jobId }) => jobId === 'one')
    if (run === undefined) throw new Error('It has not fired.')
    const { jobId, runNo, attempt, specOffset } = run
    const report = { jobId, runNo, attempt, specOffset, worker: 'w@h:1:a', at: driver.time.nowMs, startedAt: driver.time.nowMs }
    driver.append(names.events, 'neighbor', codecs.event.encode({ ...report, type: 'SUCCEEDED' }))
    driver.append(names.events, 'one', codecs.event.encode({ ...report, jobId: 'neighbor', runNo: 1, type: 'SUCCEEDED' }))
    await driver.advance(1_000, 100)
    expect(driver.state(owner, 'one')).toMatchObject({ succeeded: 0, active: [{ status: 'DISPATCHED' }] })
    expect(driver.state(owner, 'neighbor')).toMatchObject({ succeeded: 0 })
  })
  it('passes over commands and reports with too large headers, and sends no receipt that is too large', async () => {
    const { driver, counts } = await withNeighbor()
    driver.define('quiet', { schedule: { cron: '0 0 1 1 *' }, target: { handler: 'x' } })
    await driver.advance(1_000, 100)
    const [process] = driver.processes
    if (process === undefined) throw new Error('No process.')
    const trigger = (commandId: string, headers: Record<string, Buffer | string>) => {
      const value = codecs.command.encode({ type: 'TRIGGER', commandId, trigger: 'MANUAL', at: driver.time.nowMs })
      driver.log.append([{ topic: names.commands, partition: 0, key: 'quiet', value, headers }])
    }
    trigger('1', { junk: Buffer.alloc(3_000_000) })
    trigger('2', { 'duelog-reply-topic': 'orders', 'duelog-correlation-id': Buffer.alloc(5_000) })
    trigger('3', { 'duelog-reply-topic': 'o'.repeat(100_000) })
    await driver.advance(5_000, 500)
    expect(driver.state(process, 'quiet')?.active.map(({ commandId }) => commandId)).toEqual(['2', '3'])
    expectOnTime(driver, counts)
  })

  it('moves records of a wrong partition, or passes them over if no record can hold them', async () => {
    const driver = new SchedulerDriver(2)
    const counts = strict(driver)
    driver.boot('A')
    const wrong = 1 - partitionOf('elsewhere', 2)
    const id = neighborIn(wrong)
    driver.define(id, { schedule: { everyMs: 1_000 }, target: { handler: 'x' }, maxConcurrentRuns: 100 })
    await driver.advance(1_000, 500)
    const sizes = Array.from({ length: 16 }, (_, index) => 890_000 + 10_000 * index)
    for (const bytes of sizes) {
      const [half, value] = [Buffer.alloc(bytes / 2, 'h'), Buffer.alloc(bytes / 2, 'v')]
      driver.log.append([{ topic: names.commands, partition: wrong, key: 'elsewhere', value, headers: { half } }])
      await driver.advance(1_000, 500)
    }
    const moved = driver.log
      .allOf(names.commands)
      .flatMap(({ log }) =>
        log.archive.flatMap(({ record }) => (record !== undefined && record.partition !== wrong ? [record] : [])),
      )
    expect(moved.map(({ value, headers }) => [value?.length, headers.half?.length])).toContainEqual([445_000, 445_000])
    expect(driver.executions().filter(({ jobId }) => jobId === id).length).toBeGreaterThanOrEqual(sizes.length)
    expect(counts.refused).toBe(0)
  })
})
