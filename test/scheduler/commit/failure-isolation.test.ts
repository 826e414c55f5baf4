/** Commit cycles that fail whenever they include one job: that job is found and isolated, and its neighbors continue to fire. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { DeadLetter, JobState } from '../../../schemas/generated.ts'
import { DuelogError } from '../../../src/ground/errors/errors.ts'
import { FailureIsolation } from '../../../src/scheduler/commit/failure-isolation.ts'
import { ownerKey } from '../../../src/scheduler/state/checkpoint.ts'
import { stateKey } from '../../../streams/state/keys.ts'
import type { Process } from '../../model/cluster/process.ts'
import { codecs, names, ordersTopic } from '../../model/world.ts'
import { beginMs, SchedulerDriver } from '../../tools/scheduler-driver.ts'

type Appended = Parameters<SchedulerDriver['log']['append']>[0]

const otherIds = Array.from({ length: 60 }, (_, index) => `neighbor-${index}`)

/** A log that refuses each transaction with a record that `isRefused` selects; `tries` counts them. */
function refusing(driver: SchedulerDriver, isRefused: (records: Appended) => boolean, error: () => Error): { tries: number } {
  const counts = { tries: 0 }
  const append = driver.log.append.bind(driver.log)
  driver.log.append = (records, transaction) => {
    if (transaction === undefined || !isRefused(records)) return append(records, transaction)
    counts.tries++
    throw error()
  }
  return counts
}

const tooLarge = (): Error => new DuelogError('payload-too-large', 'The broker takes no such record (MESSAGE_TOO_LARGE).')

/** Records of a transaction about the job `poison`. */
function poisonIn(records: Appended): JobState | undefined {
  const record = records.find(
    ({ topic, key }) => topic === names.state && key !== null && stateKey('poison').equals(Buffer.from(key)),
  )
  return record?.value == null
    ? undefined
    : ((codecs.state.decode(record.value) as { state: JobState | null }).state ?? undefined)
}

const text = Buffer.from('secret')

/** All committed dispatches, each with its execution. */
const deadLetters = (driver: SchedulerDriver): object[] =>
  driver.log.at(names.deadLetters, 0).archive.flatMap(({ record, transaction }) => {
    if (!record?.value || transaction?.state === 'aborted') return []
    const letter = codecs.deadLetter.decode(record.value) as DeadLetter
    return [{ ...letter, execution: codecs.execution.decode(letter.execution) }]
  })

const claimsOf = (driver: SchedulerDriver): number =>
  driver.log
    .allOf(names.state)
    .reduce((sum, { log }) => sum + log.archive.filter(({ record }) => record?.key?.equals(ownerKey)).length, 0)

async function begun(): Promise<{ driver: SchedulerDriver; first: Process }> {
  const driver = new SchedulerDriver()
  const first = driver.boot('A')
  await driver.settle()
  for (const id of otherIds) driver.define(id, { schedule: { everyMs: 1_000 }, target: { handler: 'x' }, maxConcurrentRuns: 100 })
  await driver.advance(2_500, 100)
  return { driver, first }
}

/** Asserts that each fired every second from the third to `untilMs`, and none later than `lateMs`. */
function expectNeighbors(driver: SchedulerDriver, untilMs: number, lateMs = 500): void {
  const executions = driver.executions().filter(({ jobId }) => jobId.startsWith('neighbor'))
  for (const id of otherIds) {
    const own = executions.filter(({ jobId }) => jobId === id)
    expect(own.length).toBeGreaterThanOrEqual(Math.floor(untilMs / 1_000) - 1)
    expect(new Set(own.map(({ runNo }) => runNo)).size).toBe(own.length)
  }
  const late = Math.max(...executions.map(({ scheduledFor, dispatchedAt }) => dispatchedAt - scheduledFor))
  expect(late).toBeLessThanOrEqual(lateMs)
}

/** Another process takes over, and the neighbors continue to fire there. */
async function takeOver(driver: SchedulerDriver, first: Process): Promise<Process> {
  driver.kill(first)
  const second = driver.boot('B')
  await driver.advance(5_000, 100)
  return second
}

describe('a record that the log always refuses', () => {
  it.each<[string, () => Error]>([
    ['for its size', tooLarge],
    ['for a reason of its own', () => new DuelogError('record-refused', 'INVALID_RECORD')],
    ['with an error that nobody knows', () => new Error('something odd')],
  ])('%s: the job that fires is INVALID, with any owner, and other jobs fire on time', async (_, error) => {
    const { driver, first } = await begun()
    const isPoison = (records: Appended): boolean =>
      records.some(({ topic, key }) => topic.startsWith('model.executions') && String(key) === 'poison')
    const counts = refusing(driver, isPoison, error)
    driver.define('poison', { schedule: { everyMs: 1_000 }, target: { handler: 'x' } })
    await driver.advance(10_000, 50)
    expect(driver.state(first, 'poison')).toMatchObject({
      status: 'INVALID',
      reason: expect.stringContaining(error().message),
      active: [],
    })
    const { tries } = counts
    expect(tries).toBeLessThan(20)
    const second = await takeOver(driver, first)
    expect(driver.state(second, 'poison')?.status).toBe('INVALID')
    expect(counts.tries).toBe(tries)
    expectNeighbors(driver, driver.nowMs - 1_000)
  })

  it.each<[string, () => Error]>([
    ['for its size', tooLarge],
    ['with an error that nobody knows', () => new Error('something odd')],
  ])('%s, when a slot is freed: the waiting run ends, and the next one gets the slot', async (_, error) => {
    const { driver, first } = await begun()
    const isPoison = (records: Appended): boolean =>
      records.some(({ topic, key }) => topic.startsWith('model.executions') && String(key) === 'poison')
    const counts = refusing(driver, isPoison, error)
    for (const [index, id] of ['holder', 'poison', 'next'].entries()) {
      const schedule = { at: driver.time.nowMs + 100 * (index + 1) }
      driver.define(id, { schedule, target: { handler: 'x' }, concurrencyKey: 'k' })
    }
    await driver.advance(1_000, 50)
    const holder = driver.executions().find(({ jobId }) => jobId === 'holder')
    if (holder === undefined) throw new Error('It has not fired.')
    expect(driver.state(first, 'poison')?.active).toMatchObject([{ status: 'WAITING' }])
    driver.report(holder, 'SUCCEEDED', { startedAt: driver.time.nowMs })
    await driver.advance(10_000, 50)
    expect(driver.state(first, 'poison')).toMatchObject({ status: 'INVALID', active: [], lastRun: { status: 'DEAD' } })
    expect(driver.executions().filter(({ jobId }) => jobId === 'next')).toHaveLength(1)
    expect(counts.tries).toBeLessThan(30)
    const second = await takeOver(driver, first)
    expect(driver.state(second, 'poison')?.status).toBe('INVALID')
    expectNeighbors(driver, driver.nowMs - 1_000)
  })

  it('when a report is applied: the run ends as DEAD with the reason, and its report is passed over', async () => {
    const { driver, first } = await begun()
    const counts = refusing(driver, (records) => poisonIn(records)?.lastRun?.status === 'SUCCEEDED', tooLarge)
    driver.define('poison', { ...{ schedule: { delayMs: 500 }, target: { handler: 'x' } }, payload: text, headers: { a: text } })
    await driver.advance(1_000, 50)
    const run = driver.executions().find(({ jobId }) => jobId === 'poison')
    if (run === undefined) throw new Error('It has not fired.')
    driver.report(run, 'SUCCEEDED', { startedAt: driver.time.nowMs })
    for (const other of driver.executions().filter(({ jobId }) => jobId !== 'poison')) driver.report(other, 'SUCCEEDED')
    await driver.advance(5_000, 50)
    const state = driver.state(first, 'poison')
    expect(state).toMatchObject({ status: 'INVALID', active: [], lastRun: { status: 'DEAD' } })
    expect(state?.lastRun?.errors.at(-1)).toMatchObject({ type: 'Unrecordable' })
    // The dead letter says which attempt it was, but has no payload.
    expect(deadLetters(driver)).toMatchObject([
      {
        ...{ jobId: 'poison', runNo: run.runNo, attempts: 1, errors: [{ type: 'Unrecordable', message: tooLarge().message }] },
        execution: { jobId: 'poison', attempt: 1, specOffset: run.specOffset, handler: 'x', payload: null, headers: {} },
      },
    ])
    expect(counts.tries).toBeLessThan(20)
    expect(driver.state(first, 'neighbor-0')?.succeeded).toBeGreaterThan(0)
    await takeOver(driver, first)
    expectNeighbors(driver, driver.nowMs - 1_000)
  })

  it('its dead letter too: the run ends anyway, and shows the reason', async () => {
    const { driver, first } = await begun()
    const isLetter = ({ topic }: Appended[number]): boolean => topic === names.deadLetters
    const counts = refusing(
      driver,
      (records) => poisonIn(records)?.lastRun?.status === 'SUCCEEDED' || records.some(isLetter),
      tooLarge,
    )
    driver.define('poison', { schedule: { delayMs: 500 }, target: { handler: 'x' } })
    await driver.advance(1_000, 50)
    const run = driver.executions().find(({ jobId }) => jobId === 'poison')
    if (run === undefined) throw new Error('It has not fired.')
    driver.report(run, 'SUCCEEDED', { startedAt: driver.time.nowMs })
    await driver.advance(5_000, 50)
    expect(driver.state(first, 'poison')).toMatchObject({ status: 'INVALID', active: [], lastRun: { status: 'DEAD' } })
    expect(deadLetters(driver)).toEqual([])
    expect(counts.tries).toBeLessThan(20)
    expectNeighbors(driver, driver.nowMs - 1_000)
  })

  it('when a command is applied: the command is passed over, and other jobs fire on time', async () => {
    const { driver, first } = await begun()
    driver.define('poison', { schedule: { cron: '0 0 1 1 *' }, target: { handler: 'x' } })
    const counts = refusing(driver, (records) => (poisonIn(records)?.active.length ?? 0) > 0, tooLarge)
    await driver.advance(1_000, 50)
    driver.command('poison', { type: 'TRIGGER', commandId: 'one' })
    driver.command('neighbor-1', { type: 'PAUSE', commandId: 'two' })
    driver.command('neighbor-1', { type: 'RESUME', commandId: 'three' })
    await driver.advance(5_000, 50)
    expect(driver.state(first, 'poison')).toMatchObject({ status: 'INVALID', active: [] })
    expect(driver.state(first, 'neighbor-1')).toMatchObject({
      status: 'ACTIVE',
      recentCommands: [expect.any(Number), expect.any(Number)],
    })
    expect(counts.tries).toBeLessThan(20)
    await takeOver(driver, first)
    expectNeighbors(driver, driver.nowMs - 1_000)
  })

  it('the INVALID state too: the record is passed over, and claims do not flood the changelog', async () => {
    const { driver, first } = await begun()
    const counts = refusing(driver, (records) => poisonIn(records) !== undefined, tooLarge)
    driver.define('poison', { schedule: { everyMs: 1_000 }, target: { handler: 'x' } })
    await driver.advance(20_000, 50)
    expect(driver.state(first, 'poison')).toBeUndefined()
    expect(counts.tries).toBeLessThan(30)
    expect(claimsOf(driver)).toBeLessThan(40)
    expectNeighbors(driver, driver.nowMs - 1_000)
  })

  it('is found in a few cycles though other timers are due in each of them, and they fire meanwhile', async () => {
    const driver = new SchedulerDriver()
    const first = driver.boot('A')
    await driver.settle()
    const shifts = otherIds.map((id, index) => ({ id, anchor: beginMs + index * 16 }))
    for (const { id, anchor } of shifts)
      driver.define(id, { schedule: { everyMs: 1_000, anchor }, target: { handler: 'x' }, maxConcurrentRuns: 100 })
    await driver.advance(2_500, 100)
    const isPoison = (records: Appended): boolean =>
      records.some(({ topic, key }) => topic.startsWith('model.executions') && String(key) === 'poison')
    const counts = refusing(driver, isPoison, tooLarge)
    driver.define('poison', { schedule: { delayMs: 500 }, target: { handler: 'x' }, payload: Buffer.alloc(100_000) })
    // One commit in 50 ms: three or more neighbors are due in each commit cycle.
    for (let step = 0; step < 160; step++) {
      const gate = Promise.withResolvers<void>()
      driver.commitGate = gate.promise
      await driver.advance(50)
      gate.resolve()
    }
    expect(driver.state(first, 'poison')).toMatchObject({ status: 'INVALID', active: [] })
    expect(counts.tries).toBeLessThan(16)
    driver.commitGate = undefined
    await driver.advance(3_000, 50)
    expectNeighbors(driver, driver.nowMs - 1_000, 3_000)
  })
})

describe('a failure that no job causes', () => {
  it('one failure of a batch with a single job: the batch is retried and succeeds', async () => {
    const driver = new SchedulerDriver()
    const first = driver.boot('A')
    await driver.settle()
    const accident = refusing(
      driver,
      (records) => accident.tries === 0 && poisonIn(records) !== undefined,
      () => new Error('An accident.'),
    )
    driver.define('poison', { schedule: { at: beginMs + 1_000 }, target: { handler: 'x' } })
    await driver.advance(10_000, 100)
    expect(accident.tries).toBe(1)
    expect(driver.executions().map(({ jobId, runNo }) => [jobId, runNo])).toEqual([['poison', 1]])
    expect(driver.state(first, 'poison')).toMatchObject({ reason: null, active: [{ status: 'DISPATCHED' }] })
  })

  it('a broker that is unreachable for a minute makes no job INVALID; then all continue within a second', async () => {
    const { driver, first } = await begun()
    const away = { until: driver.nowMs + 60_000 }
    refusing(
      driver,
      (records) => driver.nowMs < away.until && records.some(({ topic }) => topic.startsWith('model.executions')),
      () => new DuelogError('broker-unavailable', 'No broker.'),
    )
    await driver.advance(75_000, 250)
    for (const id of otherIds) expect(driver.state(first, id)).toMatchObject({ status: 'ACTIVE' })
    const later = driver.executions().filter(({ at }) => at > away.until)
    expect(later.length).toBeGreaterThan(otherIds.length * 5)
    // By the clock of the simulation: nothing waits for seconds once the broker is back.
    expect(Math.min(...later.map(({ at }) => at)) - away.until).toBeLessThanOrEqual(1_000)
  })

  it('a store that cannot be written: the partition is reopened less and less often, and no job is INVALID', async () => {
    const { driver, first } = await begun()
    const disk = first.disk.get(0)
    if (disk === undefined) throw new Error('No store.')
    const claims = claimsOf(driver)
    const { applyNow } = disk
    let failures = 0
    disk.applyNow = (ops) => {
      if (!ops.some(({ key }) => key.equals(stateKey('neighbor-7')))) return applyNow(ops)
      failures++
      throw new Error('No space left on device.')
    }
    await driver.advance(60_000, 250)
    expect(failures).toBeGreaterThan(2)
    expect(claimsOf(driver) - claims).toBeLessThan(60)
    disk.applyNow = applyNow
    await driver.advance(10_000, 250)
    for (const id of otherIds) expect(driver.state(first, id)).toMatchObject({ status: 'ACTIVE' })
  })
})

describe('a rule that throws', () => {
  it('makes its job INVALID in the same cycle, ends its run, and is not tried repeatedly', async () => {
    const { driver, first } = await begun()
    let asked = 0
    Object.defineProperty(first, 'ordersSeen', {
      get: () => {
        if (++asked > 2) throw new Error('A fault.')
        return true
      },
    })
    driver.define('poison', { schedule: { everyMs: 1_000 }, target: { topic: { name: ordersTopic } } })
    await driver.advance(20_000, 100)
    expect(driver.state(first, 'poison')).toMatchObject({ status: 'INVALID', active: [] })
    expect(asked).toBeLessThan(10)
    expectNeighbors(driver, driver.nowMs - 1_000)
  })
})

it('the room of a batch is checked once for each run that waits for a slot', async () => {
  let asked = 0
  vi.spyOn(FailureIsolation.prototype, 'isForWaiters').mockImplementation(() => asked++ % 2 === 0)
  onTestFinished(() => void vi.restoreAllMocks())
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  driver.define('timer', { schedule: { at: beginMs + 1_000 }, target: { handler: 'x' } })
  driver.define('mail', { schedule: { at: beginMs + 100_000 }, target: { handler: 'x' } })
  driver.command('mail', { type: 'PAUSE', commandId: 'p' })
  await driver.advance(3_000, 250)
  expect(driver.executions().map(({ jobId }) => jobId)).toEqual(['timer'])
  expect(driver.state(owner, 'mail')).toMatchObject({ status: 'PAUSED' })
})

describe('batch sizes after a failed cycle', () => {
  const away = new DuelogError('broker-unavailable', 'A transaction was not done in 15000 ms.')
  const names = Array.from({ length: 64 }, (_, index) => `timer-${index}`)
  const turnsUntilWhole = (failureIsolation: FailureIsolation): number => {
    for (let runCommitCycle = 0; runCommitCycle < 10_000; runCommitCycle++) {
      if (failureIsolation.max === 2_000) return runCommitCycle
      failureIsolation.succeeded([`later-${runCommitCycle}`])
    }
    return Number.POSITIVE_INFINITY
  }

  it('unreachable brokers shrink batches to an eighth at most, so the backlog is applied at once', () => {
    for (const inputs of [names, names.slice(0, 3), names.slice(0, 1)]) {
      const failureIsolation = new FailureIsolation(2_000)
      for (const _ of names) failureIsolation.failed(inputs, away)
      expect(failureIsolation.max).toBe(250)
      expect(turnsUntilWhole(failureIsolation)).toBe(3)
    }
  })

  it('unreachable brokers do not enlarge batches while the failing record is searched', () => {
    const failureIsolation = new FailureIsolation(2_000)
    failureIsolation.failed(names.slice(0, 8), new DuelogError('record-refused', 'INVALID_RECORD'))
    failureIsolation.failed(names.slice(0, 4), away)
    expect(failureIsolation.max).toBe(4)
  })

  it('a suspect that never comes again is forgotten, and batches grow again', () => {
    const failureIsolation = new FailureIsolation(2_000)
    failureIsolation.failed(names, tooLarge())
    expect(failureIsolation.max).toBe(32)
    expect(turnsUntilWhole(failureIsolation)).toBeLessThan(1_000)
  })
})
