/** Follow-ups that wait: a thousand failures at one instant, while owners die. */
import { expect, it } from 'vitest'
import { beginMs, SchedulerDriver } from '../tools/scheduler-driver.ts'

const failures = 1_000

it('a thousand failures at one instant give a thousand alarms, each with its cause, although every owner is killed', async () => {
  const driver = new SchedulerDriver()
  driver.boot('A')
  await driver.settle()
  driver.define('alarm', { schedule: { cron: '0 0 1 1 *' }, target: { handler: 'alarm' }, maxConcurrentRuns: 16 })
  for (let at = 0; at < failures; at++)
    driver.define(`job-${at}`, {
      schedule: { at: beginMs + 2_000 },
      target: { handler: 'boom' },
      retry: { maxAttempts: 1 },
      onFailure: ['alarm'],
    })
  await driver.advance(4_000, 100)
  const failed = driver.executions().filter(({ handler }) => handler === 'boom')
  expect(failed).toHaveLength(failures)
  for (const run of failed)
    driver.report(run, 'FAILED', { startedAt: driver.time.nowMs, error: { type: 'Boom', message: `of ${run.jobId}` } })
  const reported = new Set<number>()
  let pages = 0
  for (let round = 0; reported.size < failures && round < 400; round++) {
    // All processes die with what they hold, in memory and on disk.
    if (round % 40 === 5) {
      for (const process of driver.processes) driver.kill(process)
      driver.boot(`${round}`)
    }
    await driver.advance(500, 100)
    const owner = driver.processes.at(-1)
    pages = Math.max(pages, (owner && driver.state(owner, 'alarm')?.followUps?.lastPage) ?? 0)
    for (const run of driver.executions()) {
      if (run.handler !== 'alarm' || reported.has(run.runNo)) continue
      reported.add(run.runNo)
      driver.report(run, 'SUCCEEDED', { startedAt: driver.time.nowMs })
    }
  }
  const alarms = driver.executions().filter(({ handler, attempt }) => handler === 'alarm' && attempt === 1)
  const causes = alarms.map(({ cause }) => [cause?.outcome, cause?.errorType, cause?.errorMessage])
  const wanted = failed.map(({ jobId }) => ['DEAD', 'Boom', `of ${jobId}`])
  expect(causes.map(String).sort()).toEqual(wanted.map(String).sort())
  // Each page is filled before the next one begins.
  expect(pages).toBeLessThan(6)
  const process = driver.processes.at(-1)
  expect(process && driver.state(process, 'alarm')).toMatchObject({ followUps: null, runNo: failures, decisions: [] })
})
