/** Many rules that each need a search: their owner defines and fires them in pieces, so that its process does other work in between. */
import { expect, it } from 'vitest'
import { stepsSpent } from '../../streams/schedules/steps.ts'
import { definitionKey } from '../../streams/state/keys.ts'
import { beginMs, SchedulerDriver } from '../tools/scheduler-driver.ts'

const jobs = 60
/** Half a century between two times: each search takes about ten thousand steps. */
const rule = (index: number) => ({
  schedule: {
    rrule: `FREQ=HOURLY;INTERVAL=1000;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU,SA;BYMINUTE=${index % 60}`,
    timezone: 'UTC',
    dtstart: 0,
  },
  target: { handler: 'x' },
})

it('definitions with expensive rules leave the event loop to others after a few of them', async () => {
  const driver = new SchedulerDriver()
  const process = driver.boot('A')
  await driver.settle()
  const ids = Array.from({ length: jobs }, (_, index) => `rare-${index}`)
  const before = stepsSpent()
  for (const [index, id] of ids.entries()) driver.define(id, rule(index))
  let [last, most, goesOn] = [stepsSpent(), 0, true]
  const look = (): void => {
    most = Math.max(most, stepsSpent() - last)
    last = stepsSpent()
    if (goesOn) setImmediate(look)
  }
  setImmediate(look)
  await driver.settle()
  goesOn = false
  expect(ids.map((id) => driver.state(process, id)?.status ?? 'ACTIVE')).toEqual(ids.map(() => 'ACTIVE'))
  const spent = stepsSpent() - before
  // Each is searched twice: when it is read, and when it is decided. Its timer needs no further search.
  expect(spent).toBeGreaterThan(3_000_000)
  expect(spent).toBeLessThan(6_500_000)
  expect(most).toBeLessThan(1_000_000)
})

it('they are read with pauses while the partition fires, and everything else is read meanwhile', async () => {
  const driver = new SchedulerDriver()
  // Each rest takes longer than reading waits for one topic.
  let rests = 0
  driver.cluster.spare = {
    async rest() {
      rests++
      driver.time.nowMs += 60
    },
  }
  const process = driver.boot('A')
  await driver.settle()
  const ids = Array.from({ length: jobs }, (_, index) => `rare-${index}`)
  driver.define('other', { schedule: { at: beginMs + 86_400_000 }, target: { handler: 'x' } })
  await driver.settle()
  for (const [index, id] of ids.entries()) driver.define(id, rule(index))
  driver.command('other', { type: 'TRIGGER', commandId: 'c' })
  await driver.settle()
  const isThere = (id: string): boolean => process.disk.get(0)?.getNow([definitionKey(id)])[0] != null
  expect(rests).toBeGreaterThan(0)
  expect(driver.executions().map(({ jobId }) => jobId)).toEqual(['other'])
  expect(ids.filter(isThere).length).toBeLessThan(jobs)
  await driver.advance(60_000, 1_000)
  expect(ids.filter(isThere)).toEqual(ids)
})

it('they pause as long as others pause before them, and everything else is read meanwhile', async () => {
  const driver = new SchedulerDriver()
  const resting: (() => void)[] = []
  driver.cluster.spare = { rest: () => new Promise<void>((rested) => resting.push(rested)) }
  const process = driver.boot('A')
  await driver.settle()
  driver.define('other', { schedule: { at: beginMs + 86_400_000 }, target: { handler: 'x' } })
  await driver.settle()
  const ids = Array.from({ length: jobs }, (_, index) => `rare-${index}`)
  for (const [index, id] of ids.entries()) driver.define(id, rule(index))
  await driver.advance(1_000, 50)
  driver.command('other', { type: 'TRIGGER', commandId: 'c' })
  await driver.advance(1_000, 50)
  expect(resting).toHaveLength(1)
  expect(driver.executions().map(({ jobId }) => jobId)).toEqual(['other'])
  const isThere = (id: string): boolean => process.disk.get(0)?.getNow([definitionKey(id)])[0] != null
  expect(ids.every(isThere)).toBe(false)
  while (!ids.every(isThere)) {
    const [rested, ...more] = resting.splice(0)
    expect([rested, more]).toEqual([expect.any(Function), []])
    rested?.()
    await driver.advance(1_000, 50)
  }
})
