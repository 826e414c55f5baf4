/** Callers that wait for the end of a run hear of it when its owner has committed it, and of runs that cannot come. */
import { afterEach, expect, test, vi } from 'vitest'
import type { AwaitedRun, RunEnd } from '../../src/ground/ports/owner-queries.ts'
import { jobWaitsMax } from '../../src/scheduler/activity/activity.ts'
import type { Process } from '../model/cluster/process.ts'
import { names } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const target = { handler: 'x' }
const soon = (driver: SchedulerDriver, ms = 1_000) => ({ at: driver.time.nowMs + ms })

async function ownerOf(partitions = 1): Promise<{ driver: SchedulerDriver; owner: Process }> {
  const driver = new SchedulerDriver(partitions)
  const owner = driver.boot('A')
  await driver.settle()
  await driver.advance(2_000, 500)
  return { driver, owner }
}

/** What a caller has heard: undefined while it waits. */
function listen({ scheduler }: Process, id: string, awaited: AwaitedRun, timeoutMs = 3_600_000, signal?: AbortSignal) {
  const heard: { end?: RunEnd | null; error?: unknown } = {}
  const asker = signal === undefined ? undefined : { caller: 'test', signal }
  scheduler.queries.ended(0, id, awaited, timeoutMs, asker).then(
    (end) => {
      heard.end = end
    },
    (error: unknown) => {
      heard.error = error
    },
  )
  return heard
}

async function dispatched(driver: SchedulerDriver, id: string, runNo = 1) {
  await driver.advance(1_500, 100)
  const execution = driver.executions().findLast((each) => each.jobId === id && each.runNo === runNo)
  if (execution === undefined) throw new Error(`Run ${runNo} of ${id} was not dispatched.`)
  return execution
}

afterEach(() => vi.restoreAllMocks())

test('the end of the first run of a definition is told, with its result', async () => {
  const { driver, owner } = await ownerOf()
  const since = driver.define('a', { schedule: soon(driver), target })
  const heard = listen(owner, 'a', { specOffset: since })
  const run = await dispatched(driver, 'a')
  driver.report(run, 'STARTED')
  await driver.advance(500, 100)
  expect(heard).toEqual({})
  driver.report(run, 'SUCCEEDED', { result: Buffer.from('{"sent":3}') })
  await driver.settle()
  expect(heard.end?.run).toMatchObject({ runNo: 1, status: 'SUCCEEDED', result: Buffer.from('{"sent":3}'), specOffset: since })
})

test('a report whose end is awaited is committed at once, although the owner has just committed something', async () => {
  const { driver, owner } = await ownerOf()
  const runs = []
  for (const id of ['a', 'b']) {
    driver.define(id, { schedule: soon(driver), target })
    runs.push(await dispatched(driver, id))
  }
  const [awaited, other] = runs as [(typeof runs)[number], (typeof runs)[number]]
  const heard = listen(owner, 'a', { runNo: 1 })
  const status = async (): Promise<unknown> => (await owner.scheduler.queries.job(0, 'b'))?.lastRun?.status
  driver.report(other, 'STARTED')
  driver.report(awaited, 'STARTED')
  await driver.settle()
  // Nobody waits for this one: it comes with the next commit.
  driver.report(other, 'SUCCEEDED')
  await driver.settle()
  expect(await status()).toBeUndefined()
  driver.report(awaited, 'SUCCEEDED')
  await driver.settle()
  expect([heard.end?.run?.status, await status()]).toEqual(['SUCCEEDED', 'SUCCEEDED'])
})

test('a caller that asks after the end hears of it at once, by number, by command and by definition', async () => {
  const { driver, owner } = await ownerOf()
  const since = driver.define('a', { schedule: { at: driver.time.nowMs + 10_000_000 }, target })
  await driver.settle()
  driver.command('a', { type: 'TRIGGER', commandId: 'c-1' })
  const run = await dispatched(driver, 'a')
  driver.report(run, 'FAILED', { error: { type: 'Gone', message: 'no', retryable: false } })
  await driver.settle()
  for (const awaited of [{ runNo: 1 }, { commandId: 'c-1' }, { specOffset: since }]) {
    const heard = listen(owner, 'a', awaited)
    await driver.settle()
    expect(heard.end?.run).toMatchObject({ runNo: 1, status: 'DEAD', commandId: 'c-1' })
  }
})

test('a run of an older definition does not count, and the definition is waited for before it is judged', async () => {
  const { driver, owner } = await ownerOf()
  driver.define('a', { schedule: soon(driver), target })
  const old = await dispatched(driver, 'a')
  const since = driver.define('a', { schedule: { at: driver.time.nowMs + 5_000 }, target: { handler: 'y' } })
  const heard = listen(owner, 'a', { specOffset: since })
  driver.report(old, 'SUCCEEDED')
  await driver.advance(1_000, 100)
  expect(heard).toEqual({})
  await driver.advance(5_000, 100)
  const run = driver.executions().findLast(({ jobId }) => jobId === 'a')
  if (run === undefined) throw new Error('Nothing was dispatched.')
  expect(run.runNo).toBe(2)
  driver.report(run, 'SUCCEEDED')
  await driver.settle()
  expect(heard.end?.run).toMatchObject({ runNo: 2, specOffset: since })
})

test('a definition that another one replaces has no result of that one', async () => {
  const { driver, owner } = await ownerOf()
  const first = driver.define('a', { schedule: { delayMs: 60_000 }, target })
  const replaced = listen(owner, 'a', { specOffset: first })
  await driver.advance(2_000, 500)
  const second = driver.define('a', { schedule: soon(driver), target })
  const heard = listen(owner, 'a', { specOffset: second })
  await driver.settle()
  expect(replaced.end).toEqual({ run: null, reason: expect.stringContaining('The definition was replaced by a later one') })
  await driver.advance(5_000, 500)
  expect(heard.end ?? {}).not.toMatchObject({ reason: expect.stringContaining('replaced') })
  const late = listen(owner, 'a', { specOffset: first })
  await driver.settle()
  expect(late.end).toEqual(replaced.end)
})

test('a job that is deleted ends the wait with a reason', async () => {
  const { driver, owner } = await ownerOf()
  const since = driver.define('a', { schedule: { delayMs: 60_000 }, target })
  const heard = listen(owner, 'a', { specOffset: since })
  await driver.advance(2_000, 500)
  expect(heard).toEqual({})
  driver.remove('a')
  await driver.settle()
  expect(heard.end).toEqual({ run: null, reason: 'The job does not exist, or was deleted.' })
})

test('a job that is INVALID ends the wait with the reason for that', async () => {
  const { driver, owner } = await ownerOf()
  const since = driver.append(names.jobs, 'a', Buffer.from('no definition'))
  const heard = listen(owner, 'a', { specOffset: since })
  await driver.advance(2_000, 500)
  expect(heard.end?.run).toBeNull()
  expect(heard.end?.reason).toMatch(/^The job is invalid: ./)
})

test('a job that is COMPLETED without a run ends the wait when that is decided', async () => {
  const { driver, owner } = await ownerOf()
  const expireAt = driver.time.nowMs + 1_000
  const since = driver.define('a', { schedule: { delayMs: 3_000 }, target, expireAt })
  const heard = listen(owner, 'a', { specOffset: since })
  await driver.advance(6_000, 500)
  expect(heard.end?.run).toBeNull()
  expect(heard.end?.reason).toMatch(/is completed without a run/)
})

test('a definition that is dropped, a refused command and a run that does not exist end the wait with a reason', async () => {
  const { driver, owner } = await ownerOf()
  driver.define('a', { schedule: { delayMs: 60_000 }, target, version: 7, maxConcurrentRuns: 1 })
  await driver.settle()
  const since = driver.define('a', { schedule: { delayMs: 60_000 }, target, version: 6 })
  driver.command('a', { type: 'TRIGGER', commandId: 'first' })
  driver.command('a', { type: 'TRIGGER', commandId: 'second' })
  await driver.advance(1_000, 100)
  const [dropped, refused, unknown, missing] = [
    listen(owner, 'a', { specOffset: since }),
    listen(owner, 'a', { commandId: 'second' }),
    listen(owner, 'a', { commandId: 'third' }),
    listen(owner, 'a', { runNo: 9 }),
  ]
  await driver.settle()
  expect(dropped.end?.reason).toMatch(/dropped: its version is lower/)
  expect(refused.end?.reason).toMatch(/made no run: the job had reached its maxConcurrentRuns/)
  expect(unknown.end?.reason).toMatch(/made no run/)
  expect(missing.end?.reason).toBe('There is no run 9 yet; the last one is 1.')
})

test('a caller that asks before its definition or command is applied hears of the run, and others at once that there is none', async () => {
  const { driver, owner } = await ownerOf()
  driver.define('a', { schedule: soon(driver, 0), target })
  driver.define('b', { schedule: { at: driver.time.nowMs + 10_000_000 }, target })
  driver.command('b', { type: 'TRIGGER', commandId: 'c-1' })
  const [first, triggered, none] = [
    listen(owner, 'a', { runNo: 1 }),
    listen(owner, 'b', { commandId: 'c-1' }),
    listen(owner, 'c', { runNo: 1 }),
  ]
  await driver.settle()
  expect(none.end).toEqual({ run: null, reason: 'The job does not exist, or was deleted.' })
  expect([first, triggered]).toEqual([{}, {}])
  driver.report(await dispatched(driver, 'a'), 'SUCCEEDED')
  driver.report(await dispatched(driver, 'b'), 'SUCCEEDED')
  await driver.settle()
  expect([first.end?.run, triggered.end?.run]).toMatchObject([{ runNo: 1 }, { runNo: 1, commandId: 'c-1' }])
})

test('a wait ends after its time, and when the caller leaves', async () => {
  const { driver, owner } = await ownerOf()
  const since = driver.define('a', { schedule: { delayMs: 60_000 }, target })
  const unread = listen(owner, 'a', { specOffset: since + 100 }, 5_000)
  const gone = new AbortController()
  const [late, left] = [
    listen(owner, 'a', { specOffset: since }, 5_000),
    listen(owner, 'a', { specOffset: since }, 3_600_000, gone.signal),
  ]
  await driver.advance(4_000, 500)
  expect([late, left, unread]).toEqual([{}, {}, {}])
  gone.abort()
  await driver.settle()
  expect(left).toEqual({ end: null })
  await driver.advance(2_000, 500)
  expect([late, unread]).toEqual([{ end: null }, { end: null }])
})

test('a partition that moves ends the wait with an error that may be retried', async () => {
  const { driver, owner } = await ownerOf()
  const since = driver.define('a', { schedule: { delayMs: 60_000 }, target })
  await driver.settle()
  const heard = listen(owner, 'a', { specOffset: since })
  await driver.settle()
  void owner.scheduler.stop()
  await driver.advance(30_000, 1_000)
  expect(heard.error).toMatchObject({ code: 'not-ready', retriable: true })
})

test('a run that ended in a commit whose answer was lost is told after the reopen', async () => {
  const { driver, owner } = await ownerOf()
  const since = driver.define('a', { schedule: soon(driver), target })
  const run = await dispatched(driver, 'a')
  const heard = listen(owner, 'a', { specOffset: since })
  await driver.settle()
  const { promise, reject } = Promise.withResolvers<void>()
  promise.catch(() => undefined)
  driver.answerGate = promise
  driver.report(run, 'SUCCEEDED')
  await driver.settle()
  expect(heard).toEqual({})
  driver.answerGate = undefined
  reject(new Error('The answer was lost.'))
  await driver.advance(20_000, 500)
  expect(driver.phases(owner)).toBe('active')
  expect(heard.end?.run).toMatchObject({ runNo: 1, status: 'SUCCEEDED' })
})

test('more than the maximum of waits is refused, and a wait that ended makes room', async () => {
  const { driver, owner } = await ownerOf()
  driver.define('a', { schedule: soon(driver), target })
  const run = await dispatched(driver, 'a')
  const gone = new AbortController()
  const first = listen(owner, 'a', { runNo: 1 }, 3_600_000, gone.signal)
  const others = Array.from({ length: jobWaitsMax - 1 }, () => listen(owner, 'a', { runNo: 1 }))
  await driver.settle()
  const refused = listen(owner, 'a', { runNo: 1 })
  await driver.settle()
  expect(refused.error).toMatchObject({ code: 'overloaded' })
  gone.abort()
  await driver.settle()
  expect(first).toEqual({ end: null })
  const taken = listen(owner, 'a', { runNo: 1 })
  driver.report(run, 'SUCCEEDED')
  await driver.settle()
  for (const each of [taken, ...others]) expect(each.end?.run).toMatchObject({ runNo: 1 })
})

test.for([4_000, 8_000, 40_000])(
  'a command that waits for a commit of %i ms may still make its run, and the caller waits',
  async (commitMs) => {
    const { driver, owner } = await ownerOf()
    driver.define('a', { schedule: { delayMs: 3_600_000 }, target })
    await driver.advance(1_000, 100)
    const { promise, resolve } = Promise.withResolvers<void>()
    driver.commitGate = promise
    driver.command('a', { type: 'TRIGGER', commandId: 't' })
    await driver.advance(100, 10)
    const heard = [{ commandId: 't' }, { runNo: 1 }].map((awaited) => listen(owner, 'a', awaited, 45_000))
    await driver.advance(commitMs, 200)
    expect(heard).toEqual([{}, {}])
    driver.commitGate = undefined
    resolve()
    driver.report(await dispatched(driver, 'a'), 'SUCCEEDED')
    await driver.settle()
    for (const { end } of heard) expect(end?.run).toMatchObject({ runNo: 1, status: 'SUCCEEDED' })
  },
)

test('a caller whose time is over while the command waits hears that nothing is known', async () => {
  const { driver, owner } = await ownerOf()
  driver.define('a', { schedule: { delayMs: 3_600_000 }, target })
  await driver.advance(1_000, 100)
  driver.commitGate = new Promise(() => undefined)
  driver.command('a', { type: 'TRIGGER', commandId: 't' })
  await driver.advance(100, 10)
  const heard = listen(owner, 'a', { commandId: 't' }, 6_000)
  await driver.advance(7_000, 200)
  expect(heard).toEqual({ end: null })
})
