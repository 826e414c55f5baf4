/** Changes of many jobs that an owner makes itself: slice by slice beside its timers, and each once, whatever is repeated. */
import { expect, test } from 'vitest'
import type { JobDefinitionInput } from '../../schemas/generated.ts'
import type { ChangeQuery, Changes } from '../../src/ground/ports/operations.ts'
import type { Disk, Process } from '../model/cluster/process.ts'
import { jobsOf } from '../model/cluster/settled.ts'
import type { MemoryStore } from '../tools/memory-store.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const minutely: JobDefinitionInput = { schedule: { everyMs: 60_000 }, target: { handler: 'x' } }
const pad = (index: number): string => String(index).padStart(5, '0')

async function bed(count: number, definition = minutely) {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const owner = driver.boot('A', disk)
  await driver.settle()
  for (let index = 0; index < count; index++) driver.define(`job-${pad(index)}`, definition)
  await driver.advance(1_000)
  const ids = Array.from({ length: count }, (_, index) => `job-${pad(index)}`)
  const inStatus = (process: Process, status: string): string[] => {
    const jobs = jobsOf(process.disk.get(0) as MemoryStore)
    return ids.filter((id) => jobs.get(id)?.state?.status === status)
  }
  return { driver, disk, owner, ids, inStatus }
}

const cutOff = { jobsOffset: 1_000_000, at: 9e15 }
const pausing: ChangeQuery = {
  ...{ action: 'PAUSE', filter: { idPrefix: 'job-' }, commandId: 'operation/o/pause' },
  ...{ cutOff, isRepeat: false, limit: 20_000 },
}

async function asked(driver: SchedulerDriver, { scheduler }: Process, query: ChangeQuery): Promise<Changes> {
  const answer = scheduler.queries.change(0, query)
  answer.catch(() => undefined)
  await driver.settle(5_000)
  return answer
}

test('1,800 jobs are paused in slices, a job of others fires between them, and jobs that came after the cut-off are left alone', async () => {
  const { driver, owner, inStatus } = await bed(1_800)
  const every = { maxConcurrentRuns: 100, catchUp: 'ALL', catchUpMax: 100 } as const
  driver.define('neighbour', { schedule: { everyMs: 1_000 }, target: { handler: 'x' }, ...every })
  await driver.advance(1_500)
  const cut = driver.define('job-late', minutely)
  await driver.advance(1_000)
  // Each commit takes 400 ms.
  const hold = (): (() => void) => driver.hold(owner, 'commits')
  let release = hold()
  // An answer comes after about a second: the next call goes on where it ended.
  let changed = 0
  let isOver = false
  const ask = (after?: string): void => {
    const query = { ...pausing, cutOff: { ...cutOff, jobsOffset: cut }, ...(after !== undefined && { after }) }
    void owner.scheduler.queries.change(0, query).then((found) => {
      changed += found.changed
      if (found.next === undefined) isOver = true
      else ask(found.next)
    })
  }
  ask()
  const paused: number[] = []
  for (let round = 0; round < 40 && !isOver; round++) {
    await driver.advance(400)
    release()
    release = hold()
    await driver.settle()
    paused.push(inStatus(owner, 'PAUSED').length)
  }
  release()
  expect([isOver, changed]).toEqual([true, 1_800])
  // More than one slice, and no commit has all.
  expect(new Set(paused).size).toBeGreaterThan(3)
  expect(inStatus(owner, 'PAUSED')).toHaveLength(1_800)
  expect(driver.state(owner, 'job-late')?.status ?? 'ACTIVE').toBe('ACTIVE')
  await driver.advance(60_000)
  const fired = driver.executions()
  expect(fired.filter(({ jobId }) => jobId === 'job-late').length).toBeGreaterThan(0)
  expect(fired.filter(({ jobId }) => jobId !== 'neighbour' && jobId !== 'job-late')).toEqual([])
  const times = fired.filter(({ jobId }) => jobId === 'neighbour').map(({ scheduledFor }) => scheduledFor)
  expect(new Set(times).size).toBe(times.length)
  expect(Math.max(...times) - Math.min(...times)).toBe((times.length - 1) * 1_000)
}, 60_000)

test('an owner is killed after a commit whose answer nobody got: its successor changes the rest, counts all, and undoes no command that came between', async () => {
  const { driver, disk, owner, ids, inStatus } = await bed(1_300)
  const release = driver.hold(owner, 'applies')
  const lost = owner.scheduler.queries.change(0, pausing)
  lost.catch(() => undefined)
  await driver.settle()
  // One slice is in the log, and not in the store.
  driver.kill(owner)
  release()
  const successor = driver.boot('B', disk)
  await driver.advance(60_000, 1_000)
  expect(driver.phases(successor)).toBe('active')
  const before = inStatus(successor, 'PAUSED').length
  expect([before > 0, before < 1_300]).toEqual([true, true])
  driver.command(ids[0] as string, { type: 'RESUME', commandId: 'mine' })
  await driver.advance(1_000)
  const found = await asked(driver, successor, { ...pausing, isRepeat: true })
  expect(found).toEqual({ changed: 1_300, refused: [] })
  expect(inStatus(successor, 'PAUSED')).toHaveLength(1_299)
  expect(driver.state(successor, ids[0] as string)?.status).toBe('ACTIVE')
}, 60_000)

test('a repeat finds the jobs that it changed although they no longer have the status that was asked for', async () => {
  const { driver, owner, inStatus } = await bed(30, { ...minutely, paused: true })
  const resuming: ChangeQuery = { ...pausing, action: 'RESUME', filter: { status: 'PAUSED' }, commandId: 'operation/o/resume' }
  expect(await asked(driver, owner, { ...resuming, limit: 10 })).toEqual({ changed: 30, refused: [] })
  expect(inStatus(owner, 'ACTIVE')).toHaveLength(30)
  expect(await asked(driver, owner, resuming)).toEqual({ changed: 0, refused: [] })
  expect(await asked(driver, owner, { ...resuming, isRepeat: true })).toEqual({ changed: 30, refused: [] })
  expect(await asked(driver, owner, { ...pausing, commandId: 'operation/p/pause', after: 'job-00020' })).toMatchObject({
    changed: 9,
  })
})

test('jobs are triggered once each, also by a repeat, and refusals are counted by their reasons', async () => {
  const { driver, owner, ids } = await bed(20)
  driver.define('job-over', { ...minutely, expireAt: 1 })
  await driver.advance(1_000)
  const triggering: ChangeQuery = { ...pausing, action: 'TRIGGER', commandId: 'operation/o/trigger' }
  const expired = { code: 'expired', count: 1, example: 'job-over', reason: expect.stringContaining('expireAt') }
  for (const isRepeat of [false, true])
    expect(await asked(driver, owner, { ...triggering, isRepeat })).toEqual({ changed: 20, refused: [expired] })
  expect(driver.executions().map(({ jobId, runNo }) => `${jobId}/${runNo}`)).toEqual(ids.map((id) => `${id}/1`))
})

test('active runs are found by their state, and runs that began after the cut-off are not', async () => {
  const { driver, owner, ids } = await bed(3)
  for (const id of ids) driver.command(id, { type: 'TRIGGER', commandId: `t-${id}` })
  await driver.advance(1_000)
  const [failed] = driver.executions()
  if (failed !== undefined) driver.report(failed, 'FAILED', { error: { type: 'Error', message: 'x', retryable: true } as never })
  await driver.advance(1_000)
  const at = driver.time.nowMs
  driver.command(ids[1] as string, { type: 'TRIGGER', commandId: 'late' })
  await driver.advance(500)
  const found = async (runStatus?: 'RETRY_WAIT') => {
    const filter = { idPrefix: 'job-', ...(runStatus && { runStatus }) }
    const query = { action: 'CANCEL_RUN', commandPrefix: 'operation/o/', filter, cutOff: { ...cutOff, at }, limit: 10 } as const
    const { targets, count } = await owner.scheduler.queries.targets(0, query)
    return [count, targets.map(({ id, runs }) => `${id}/${runs?.join()}`)]
  }
  expect(await found()).toEqual([3, ids.map((id) => `${id}/1`)])
  expect(await found('RETRY_WAIT')).toEqual([1, [`${failed?.jobId}/1`]])
})

test('a partition that ends, a caller that goes and a commit that hangs end the wait', async () => {
  const { driver, owner, inStatus } = await bed(5)
  const release = driver.hold(owner, 'commits')
  const gone = new AbortController()
  const left = owner.scheduler.queries.change(0, pausing, { caller: 'x', signal: gone.signal })
  const stuck = owner.scheduler.queries.change(0, pausing)
  for (const promise of [left, stuck]) promise.catch(() => undefined)
  await driver.settle()
  gone.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  await driver.advance(11_000, 1_000)
  await expect(stuck).rejects.toMatchObject({ code: 'not-ready' })
  release()
  await driver.advance(30_000, 1_000)
  expect(inStatus(owner, 'PAUSED')).toHaveLength(5)
  const late = owner.scheduler.queries.change(0, { ...pausing, action: 'RESUME', commandId: 'operation/o/resume' })
  late.catch(() => undefined)
  void owner.scheduler.stop()
  await driver.advance(15_000, 500)
  expect(await late.catch((error) => error.code)).toEqual(expect.anything())
  await expect(owner.scheduler.queries.change(0, pausing)).rejects.toMatchObject({ code: 'not-ready' })
})
