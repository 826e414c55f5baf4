/**
 * Attempts that run again, because an executions topic lost its end or was recreated: the committed position of the group does not
 * help then. The owner ignores reports of attempts that have ended: nothing is counted twice, and nothing follows again.
 */
import { expect, test } from 'vitest'
import { names } from '../model/world.ts'
import { type Dispatched, SchedulerDriver } from '../tools/scheduler-driver.ts'

const no = { error: { type: 'Error', message: 'no' } }

/** All reports that a worker may send about an attempt, in a bad order. */
function runAgain(driver: SchedulerDriver, run: Dispatched): void {
  const again = { startedAt: driver.time.nowMs, worker: 'other@h:2:b' }
  driver.report(run, 'STARTED', again)
  driver.report(run, 'HEARTBEAT', again)
  driver.report(run, 'FAILED', { ...again, ...no })
  driver.report(run, 'SUCCEEDED', again)
  driver.report(run, 'RELEASED', again)
}

test('a repeated attempt of a worker changes nothing at its owner, whatever its first outcome', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  const once = { schedule: { at: driver.time.nowMs + 1_000 }, target: { handler: 'x' } }
  const later = { backoff: { fixed: { delayMs: 60_000 } } }
  driver.define('succeeded', { ...once, onSuccess: ['follower'] })
  driver.define('follower', { ...once, schedule: { at: driver.time.nowMs + 1e9 } })
  driver.define('dead', { ...once, retry: { maxAttempts: 1 }, onFailure: ['follower'] })
  driver.define('retried', { ...once, retry: later })
  driver.define('running', { ...once, retry: { ...later, maxAttempts: 2 } })
  driver.define('cancelled', once)
  driver.define('deleted', once)
  await driver.advance(1_500, 250)
  const first = driver.executions().filter(({ jobId }) => jobId !== 'follower')
  const of = (id: string): Dispatched => first.find(({ jobId }) => jobId === id) as Dispatched
  driver.report(of('succeeded'), 'SUCCEEDED')
  driver.report(of('dead'), 'FAILED', no)
  driver.report(of('retried'), 'FAILED', no)
  driver.report(of('running'), 'FAILED', { error: { ...no.error, retryAfterMs: 0 } })
  driver.command('cancelled', { type: 'CANCEL', commandId: 'c' })
  driver.remove('deleted')
  await driver.advance(2_000, 250)
  const second = driver.executions().find(({ jobId, attempt }) => jobId === 'running' && attempt === 2) as Dispatched
  driver.report(second, 'STARTED', { startedAt: driver.time.nowMs })
  await driver.advance(2_000, 250)
  const ids = ['succeeded', 'follower', 'dead', 'retried', 'running', 'cancelled', 'deleted']
  const seen = () => ({
    states: ids.map((id) => driver.state(owner, id)),
    executions: driver.executions().length,
    deadLetters: driver.log.at(names.deadLetters, 0).next,
    decided: driver.log.at(names.state, 0).next,
  })
  const before = seen()
  expect(before.states.map((state) => state?.lastRun?.status ?? state?.active[0]?.status)).toEqual([
    'SUCCEEDED',
    'DISPATCHED',
    'DEAD',
    'RETRY_WAIT',
    'RUNNING',
    'CANCELLED',
    undefined,
  ])
  for (const run of first) runAgain(driver, run)
  await driver.advance(3_000, 250)
  expect(seen()).toEqual(before)
})
