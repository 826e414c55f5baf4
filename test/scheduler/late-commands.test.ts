/** Commands that are acknowledged during a long takeover. */
import { expect, test } from 'vitest'
import type { Disk } from '../model/cluster/process.ts'
import { names } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const said = {
  command: (driver: SchedulerDriver) => driver.command('j', { type: 'PAUSE', commandId: 'c1' }),
  deletion: (driver: SchedulerDriver) => driver.remove('j'),
}

test.each(['command', 'deletion'] as const)(
  'a %s that is acknowledged while a takeover reads definitions for long is seen before a timer fires',
  async (what) => {
    const driver = new SchedulerDriver()
    const disk: Disk = new Map()
    const first = driver.boot('A', disk)
    await driver.settle()
    driver.define('j', { schedule: { everyMs: 60_000 }, target: { handler: 'x' } })
    await driver.advance(1_000)
    driver.kill(first)
    for (let index = 0; index < 10; index++)
      driver.define(`k${index}`, { schedule: { everyMs: 3_600_000 }, target: { handler: 'x' } })
    const successor = driver.boot('B', disk)
    const changelog = (): number => driver.log.allOf(names.state).reduce((sum, { log }) => sum + log.archive.length, 0)
    for (let before = changelog(), round = 0; changelog() === before && round < 500; round++) await driver.settle(1)
    // The claim is committed; later commits wait.
    const release = driver.hold(successor, 'commits')
    await driver.advance(50_000, 5_000)
    expect(driver.phases(successor)).toBe('claiming')
    said[what](driver)
    await driver.advance(20_000, 5_000)
    release()
    await driver.advance(5_000, 250)
    expect(driver.phases(successor)).toBe('active')
    expect(driver.executions()).toEqual([])
  },
)
