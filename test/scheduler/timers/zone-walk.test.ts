/**
 * New time zone rules, as a newer Node brings them: stores that were kept, rebuilt or copied fire alike, and each occurrence
 * once.
 */
import { describe, expect, it } from 'vitest'
import { FailureIsolation } from '../../../src/scheduler/commit/failure-isolation.ts'
import type { PartitionContext } from '../../../src/scheduler/partition/partition-context.ts'
import { ZoneChecks } from '../../../src/scheduler/partition/zone-checks.ts'
import { ZoneWalk, zoneJobsPerCheck } from '../../../src/scheduler/timers/zone-rules.ts'
import { intlRules, type ZoneRules } from '../../../streams/schedules/zone.ts'
import { definitionKey, definitionValue } from '../../../streams/state/keys.ts'
import { timersOf } from '../../../streams/state/timers.ts'
import { type Disk, metrics, type Process, type Zones } from '../../model/cluster/process.ts'
import { codecs } from '../../model/world.ts'
import { memoryStore } from '../../tools/memory-store.ts'
import { beginMs, SchedulerDriver } from '../../tools/scheduler-driver.ts'
import { putRules, rulesAs, rulesByProcess } from '../../tools/zone-rules.ts'

const timezone = 'America/Vancouver'
const minute = 60_000
const hour = 60 * minute
/**
 * The driver begins at 2027-01-15T08:00Z: midnight by the rules with winter time, and 01:00 by the rules with permanent summer
 * time.
 */
const winterRules = rulesAs({ [timezone]: 'America/Los_Angeles' })

function world(standbys = false) {
  const run = rulesByProcess()
  const zones = (version: string, rules: ZoneRules): Zones => ({ version, under: (task) => run(rules, task) })
  return {
    it: new SchedulerDriver(1, standbys ? 'standbys' : 'owners'),
    winter: zones('2025c', winterRules),
    summer: zones('2026a', intlRules),
  }
}

/** Its runs expire soon, so only the schedule decides. */
const daily = (localHour: number) => ({
  schedule: { cron: `30 ${localHour} * * *`, timezone },
  target: { handler: 'noop' },
  misfireThresholdMs: hour,
  startDeadlineMs: 1_000,
})

/** The dispatch times of each job, in hours since the driver began. */
function fires(it: SchedulerDriver): Record<string, number[]> {
  const found: Record<string, number[]> = {}
  for (const { jobId, scheduledFor, at } of it.executions()) {
    // At most one step late, unless it was due while no owner ran.
    expect((at + beginMs - scheduledFor) / minute, `${jobId} of ${(scheduledFor - beginMs) / hour}`).toBeLessThan(30)
    found[jobId] = [...(found[jobId] ?? []), (scheduledFor - beginMs) / hour]
  }
  return found
}

/** Advances in steps of ten minutes. A walk from timer to timer takes two seconds of the sweeper for each step. */
async function advance(it: SchedulerDriver, ms: number): Promise<void> {
  for (const until = it.time.nowMs + ms; it.time.nowMs < until; ) {
    it.time.nowMs = Math.min(it.time.nowMs + 10 * minute, until)
    await it.settle()
  }
}

/** Advances in small steps while jobs are checked. */
async function lookAtAll(it: SchedulerDriver): Promise<void> {
  await it.advance(1_000, 50)
}

function standing(process: Process) {
  const [view] = process.scheduler.queries.partitions()
  return view?.zoneWalk === null ? view.zoneRules : view?.zoneWalk
}

describe('after an upgrade', () => {
  /** Three kinds of jobs: `ran` has run before, `fresh` has not, and `gone` falls due before the upgrade by the new rules. */
  async function upgraded(keepsStore: boolean) {
    const { it: driver, winter, summer } = world()
    const disk: Disk = new Map()
    const old = driver.boot('old', disk, winter)
    await driver.settle()
    driver.define('ran', daily(0))
    await advance(driver, hour)
    driver.define('fresh', daily(3))
    driver.define('gone', daily(2))
    await advance(driver, 45 * minute)
    driver.kill(old)
    const fresh = driver.boot('new', keepsStore ? disk : new Map(), summer)
    await lookAtAll(driver)
    await advance(driver, 50 * hour)
    return { fires: fires(driver), standing: standing(fresh) }
  }
  // By the old rules: ran at 0.5, fresh at 3.5, gone at 2.5. By the new rules each is due an hour earlier.
  const expected = { ran: [0.5, 23.5, 47.5], fresh: [2.5, 26.5, 50.5], gone: [1.5, 25.5, 49.5] }

  it('a kept store fires by the new rules', async () => {
    expect(await upgraded(true)).toEqual({ fires: expected, standing: '2026a' })
  })
  it('and so does a rebuilt store', async () => {
    expect(await upgraded(false)).toEqual({ fires: expected, standing: '2026a' })
  })
  it('and so does a standby that takes over, also one that had the new rules before its owner', async () => {
    const { it: driver, winter, summer } = world(true)
    const old = driver.boot('old', new Map(), winter)
    await driver.settle()
    const next = driver.boot('new', new Map(), summer)
    await driver.settle()
    const owner = driver.phases(old) === 'active' ? old : next
    expect(owner).toBe(old)
    expect(driver.phases(next)).toBe('following')
    driver.define('ran', daily(0))
    await advance(driver, hour)
    driver.define('fresh', daily(3))
    driver.define('gone', daily(2))
    await advance(driver, 45 * minute)
    const differ = async () => (await metrics.zoneRulesDiffer.get()).values.find(({ labels }) => labels.partition === 0)?.value
    expect(await differ()).toBe(1)
    driver.kill(old)
    await advance(driver, 50 * hour)
    expect(fires(driver)).toEqual(expected)
    expect(await differ()).toBe(0)
  })
})

describe('a standby of another version', () => {
  it('copies the decisions of its owner, and sets its own timers again when its rules change', async () => {
    const { it: driver, winter, summer } = world(true)
    const owner = driver.boot('owner', new Map(), winter)
    await driver.settle()
    const disk: Disk = new Map()
    const first = driver.boot('standby', disk, winter)
    await driver.settle()
    driver.define('ran', daily(0))
    driver.define('fresh', daily(3))
    await advance(driver, hour)
    driver.kill(first)
    await driver.settle()
    const second = driver.boot('standby again', disk, summer)
    await advance(driver, 30 * minute)
    expect([driver.phases(owner), driver.phases(second), standing(second)]).toEqual(['active', 'following', '2026a'])
    expect(driver.state(second, 'ran')).toEqual(driver.state(owner, 'ran'))
    await advance(driver, 30 * minute)
    driver.kill(owner)
    await advance(driver, 30 * hour)
    expect(fires(driver)).toEqual({ ran: [0.5, 23.5], fresh: [2.5, 26.5] })
  })
})

describe('a crash during the walk', () => {
  it('begins the walk again, and each occurrence fires once', async () => {
    const { it: driver, winter, summer } = world()
    const disk: Disk = new Map()
    const old = driver.boot('old', disk, winter)
    await driver.settle()
    const ids = Array.from({ length: 3 * zoneJobsPerCheck }, (_, index) => `job-${String(index).padStart(3, '0')}`)
    for (const id of ids) driver.define(id, daily(0))
    await advance(driver, 2 * hour)
    driver.kill(old)
    const crashed = driver.boot('crashes', disk, summer)
    await driver.advance(1, 1)
    for (let moved = 0; moved === 0; ) {
      await driver.advance(10, 10)
      moved = (crashed.scheduler.queries.partitions()[0]?.zoneWalk?.moved ?? 0) as number
    }
    expect(crashed.scheduler.queries.partitions()[0]?.zoneWalk?.checked).toBeLessThan(ids.length)
    driver.kill(crashed)
    // Back to the old rules, and then to the new ones again.
    const back = driver.boot('back', disk, winter)
    await driver.advance(60, 10)
    driver.kill(back)
    const last = driver.boot('last', disk, summer)
    await advance(driver, 24 * hour)
    expect(standing(last)).toBe('2026a')
    const found = fires(driver)
    for (const id of ids) expect([id, found[id]]).toEqual([id, [0.5, 23.5]])
  })
  it('does not repeat a finished walk for the same rules', async () => {
    const { it: driver, winter, summer } = world()
    const disk: Disk = new Map()
    const old = driver.boot('old', disk, winter)
    await driver.settle()
    driver.define('ran', daily(0))
    await advance(driver, hour)
    driver.kill(old)
    const fresh = driver.boot('new', disk, summer)
    await advance(driver, hour)
    driver.kill(fresh)
    const checked = async () => (await metrics.zoneChecked.get()).values[0]?.value ?? 0
    const before = await checked()
    const again = driver.boot('again', disk, summer)
    await advance(driver, hour)
    expect([standing(again), await checked()]).toEqual(['2026a', before])
  })
})

describe('a walk over many jobs', () => {
  it('reads each job once, a limited number at a time, and writes only jobs whose times change', async () => {
    const store = memoryStore()
    const count = 5_000
    const definition = (zoned: boolean) =>
      codecs.definition.encode({ schedule: { cron: '30 2 * * *', ...(zoned && { timezone }) }, target: { handler: 'noop' } })
    const [bytes, utc] = [definition(true), definition(false)]
    for (let index = 0; index < count; index++) {
      const value = definitionValue({ offset: index, appendedAt: beginMs, bytes: index % 2 === 0 ? bytes : utc })
      store.applyNow([{ key: definitionKey(`job-${index}`), value }])
    }
    const asked = { scans: 0, largest: 0, writes: 0 }
    const watched = {
      ...store,
      get: async (keys: Buffer[]) => store.getNow(keys),
      scan: async (options: Parameters<typeof store.scanNow>[0]) => {
        const entries = store.scanNow(options)
        asked.scans++
        asked.largest = Math.max(asked.largest, entries.length)
        return entries
      },
      apply: async (ops: Parameters<typeof store.applyNow>[0]) => {
        asked.writes += ops.length
        store.applyNow(ops)
      },
      compact: async () => undefined,
      bytes: async () => 0,
      close: async () => undefined,
    }
    putRules(winterRules)
    const shared = { codecs, metrics, clock: { nowMs: () => beginMs, steadyMs: () => 0, at: () => () => undefined } }
    for (const lacking of [count / 2, 0]) {
      asked.writes = 0
      const walk = new ZoneWalk(0, watched, shared)
      for (let looks = 0; !walk.isDone; looks++) {
        expect(looks).toBeLessThanOrEqual(count / zoneJobsPerCheck)
        expect(await walk.checkNext(() => undefined)).toEqual([])
      }
      expect(walk.view).toEqual({ checked: count, moved: lacking })
      expect(asked.writes).toBe(lacking)
      expect(asked.largest).toBe(zoneJobsPerCheck)
    }
    expect(timersOf({ id: 'x' })).toEqual([])
  })
})

it('the walk continues with reduced batches, within their limits, also without other work', async () => {
  const store = memoryStore()
  const bytes = codecs.definition.encode(daily(3))
  const ids = Array.from({ length: 7 }, (_, at) => `job-${at}`)
  await store.apply(
    ids.map((id, at) => ({ key: definitionKey(id), value: definitionValue({ offset: at, appendedAt: beginMs, bytes }) })),
  )
  let steadyMs = 0
  const clock = { nowMs: () => beginMs, steadyMs: () => steadyMs, at: () => () => undefined }
  const logger = { info: () => undefined }
  const failureIsolation = new FailureIsolation(4)
  failureIsolation.failed(['one', 'two', 'three', 'four'], new Error('One of them fails.'))
  const zones = { isStale: true, logged: 'old', store: 'old', own: 'new', walk: undefined as ZoneWalk | undefined }
  const own = {
    partition: 0,
    shared: { codecs, clock, metrics, logger },
    local: { zones, store },
    failureIsolation,
  } as unknown as PartitionContext
  const looks = new ZoneChecks(own, () => undefined)
  const seen: number[] = []
  for (; seen.length < 10 && !looks.areDone; steadyMs += 50) {
    await looks.timers(seen.length === 1 ? 2 : 1)
    seen.push(zones.walk?.view.checked ?? -1)
  }
  expect(seen).toEqual([1, 1, 2, 3, 4, 5, 6, 7, 7])
})
