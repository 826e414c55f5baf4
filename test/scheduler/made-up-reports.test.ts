/** Reports about runs that were never dispatched: they take no memory of an owner, and displace no other entry. */
import { expect, test } from 'vitest'
import { Leases } from '../../src/scheduler/activity/activity.ts'
import { AppliedWaits, appliedWaitsMax } from '../../src/scheduler/input/applied-waits.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

test('heartbeats of runs that do not exist are forgotten, and those of existing runs keep their leases', async () => {
  const noted: string[] = []
  const { note } = Leases.prototype
  Leases.prototype.note = function (jobId, attempt, heartbeat) {
    noted.push(`${jobId}/${attempt.runNo}`)
    note.call(this, jobId, attempt, heartbeat)
  }
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  driver.define('j', { schedule: { at: driver.time.nowMs + 1_000 }, target: { handler: 'x' }, leaseMs: 10_000 })
  await driver.advance(2_000, 500)
  const [run] = driver.executions()
  if (run === undefined) throw new Error('Nothing was dispatched.')
  driver.report(run, 'STARTED', { startedAt: driver.time.nowMs })
  for (let second = 0; second < 40; second += 4) {
    for (let index = 0; index < 200; index++) {
      driver.report({ ...run, jobId: `made-up-${second}-${index}` }, 'HEARTBEAT', { worker: `w${index}@nowhere:1:a` })
      driver.report({ ...run, runNo: 1_000 + index }, 'STARTED', { worker: `w${index}@nowhere:1:a` })
    }
    driver.report(run, 'HEARTBEAT', { progress: second / 100 })
    await driver.advance(4_000, 1_000)
  }
  Leases.prototype.note = note
  // Only once: it is known after that.
  expect(noted).toEqual(['j/1'])
  expect(await owner.scheduler.queries.workers(0)).toEqual([
    { worker: 'w@h:1:a', heardAt: expect.any(Number), running: 1, runIds: ['j/1'] },
  ])
  expect(driver.executions()).toHaveLength(1)
  expect((await owner.scheduler.queries.job(0, 'j'))?.active[0]?.heartbeat?.progress).toBeCloseTo(0.36)
})

test('a caller that stops waiting for its write is forgotten, also while nothing is applied', async () => {
  const waits = new AppliedWaits(() => ({ jobs: 5, commands: 0, events: 0 }))
  expect(await waits.until('jobs', 4).done).toBe(true)
  const waiting = Array.from({ length: appliedWaitsMax }, () => waits.until('jobs', 5))
  expect(() => waits.until('jobs', 5)).toThrow(/wait for this partition/)
  for (const { end } of waiting) end()
  expect(waits.size).toBe(0)
  expect(await Promise.all(waiting.map(({ done }) => done))).not.toContain(true)
})

test('an owner that applies nothing releases callers whose time is over', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  let waiting = 0
  const { until } = AppliedWaits.prototype
  AppliedWaits.prototype.until = function (source, offset) {
    const wait = until.call(this, source, offset)
    waiting = this.size
    return wait
  }
  const asked = owner.scheduler.queries.applied(0, { jobs: 1_000 }, 1_000)
  expect(waiting).toBe(1)
  await driver.advance(1_500, 500)
  expect(await asked).toBe(false)
  void owner.scheduler.queries.applied(0, { jobs: 1_000 }, 1_000)
  expect(waiting).toBe(1)
  AppliedWaits.prototype.until = until
})
