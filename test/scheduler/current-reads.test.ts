/**
 * Owners that may have been replaced: they answer no query as current, also while they are idle. As a stale copy they answer
 * with an unknown age.
 */
import { expect, test } from 'vitest'
import { createOwnerDirectory } from '../../src/server/peers/owner-directory.ts'
import { sessionMs } from '../../src/testing/simulation/member.ts'
import type { Process } from '../model/cluster/process.ts'
import { names } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const far = { schedule: { everyMs: 86_400_000 } }
const old = { ...far, target: { handler: 'old' } }

const handlerAt = async ({ scheduler }: Process): Promise<string | undefined> =>
  (await scheduler.queries.job(0, 'a'))?.definition?.target?.handler ?? undefined

/** The answer of the API of the process with `stale=true`, while the group names no owner. */
function askedThere({ scheduler, clock }: Process) {
  const owners = createOwnerDirectory({
    ...{ admin: { groupMembers: async () => [] }, groupId: 'model.scheduler', topic: names.commands, partitions: 1 },
    remote: () => {
      throw new Error('There is nobody else to be asked.')
    },
    ...{ local: scheduler.queries, clock },
  })
  return owners.askAny(0, (jobs) => jobs.job(0, 'a'))
}

test.each(['is suspended', 'cannot reach the group'])(
  'an idle owner that %s for a session answers nothing as current',
  async (how) => {
    const driver = new SchedulerDriver()
    const first = driver.boot('A')
    await driver.settle()
    driver.define('a', old)
    await driver.advance(1_000, 250)
    expect(await handlerAt(first)).toBe('old')
    expect(await askedThere(first)).toMatchObject({ stale: null })
    if (how === 'is suspended') first.machine.clock.stopped = true
    else if (first.member !== undefined) first.member.isIsolated = true
    await driver.advance(sessionMs + 1_000, 500)
    const successor = driver.boot('B')
    await driver.advance(5_000, 250)
    const written = driver.define('a', { ...old, target: { handler: 'new' } })
    await driver.advance(1_000, 250)
    expect(await handlerAt(successor)).toBe('new')
    // It wakes, and is queried before it has received anything.
    first.machine.clock.stopped = false
    expect(driver.phases(first)).toBe('active')
    await expect(handlerAt(first)).rejects.toMatchObject({ code: 'not-ready' })
    const waited = first.scheduler.queries.applied(0, { jobs: written - 1 }, 1_000)
    await expect(waited).rejects.toMatchObject({ code: 'not-ready' })
    expect(await askedThere(first)).toMatchObject({
      answer: { definition: { target: { handler: 'old' } } },
      stale: { partition: 0, behindRecords: null },
    })
  },
)

test('an owner that the group removes from a partition stops answering for it, and for no other', async () => {
  const driver = new SchedulerDriver(2)
  const first = driver.boot('A')
  await driver.settle()
  const refused = expect(first.scheduler.queries.applied(1, { jobs: 7 }, 60_000)).rejects.toMatchObject({ code: 'not-ready' })
  const { promise, resolve } = Promise.withResolvers<void>()
  driver.commitGate = promise
  const successor = driver.boot('B')
  await driver.settle()
  const views = first.scheduler.queries.partitions().map(({ phase, isCurrent }) => [phase, isCurrent])
  expect(views).toEqual([
    ['active', true],
    ['active', false],
  ])
  await first.scheduler.queries.list(0, {}, 1)
  await expect(first.scheduler.queries.list(1, {}, 1)).rejects.toMatchObject({ code: 'not-ready' })
  resolve()
  await driver.advance(1_000, 250)
  await successor.scheduler.queries.list(1, {}, 1)
  await driver.advance(60_000, 5_000)
  await refused
})
