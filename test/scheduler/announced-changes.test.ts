/** Operations of which an owner knows: they hold for all their jobs at once, each job takes them once, and later operations stay. */
import { expect, test } from 'vitest'
import type { JobDefinitionInput } from '../../schemas/generated.ts'
import type { AnnounceQuery, ChangeQuery, Changes } from '../../src/ground/ports/operations.ts'
import { AnnouncedChange } from '../../src/scheduler/bulk/announced-changes.ts'
import type { Disk, Process } from '../model/cluster/process.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const secondly: JobDefinitionInput = { schedule: { everyMs: 1_000 }, target: { handler: 'x' }, maxConcurrentRuns: 100 }
const cutOff = { jobsOffset: 1_000_000, at: 9e15 }

const operation = (action: 'PAUSE' | 'CANCEL' | 'RESUME', createdAt: number) => ({
  ...{ action, filter: { idPrefix: 'job-' }, createdAt, commandId: `operation/${createdAt}/${action.toLowerCase()}` },
  cutOff,
})
type Of = ReturnType<typeof operation>

async function bed(count: number, definition = secondly) {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const owner = driver.boot('A', disk)
  await driver.settle()
  const ids = Array.from({ length: count }, (_, index) => `job-${String(index).padStart(3, '0')}`)
  for (const id of [...ids, 'other']) driver.define(id, definition)
  await driver.advance(3_500, 500)
  return { driver, disk, owner, ids }
}

const announce = ({ scheduler }: Process, of: Of, more: Partial<AnnounceQuery> = {}) =>
  scheduler.queries.announce(0, { ...of, waitMs: 0, isOver: false, ...more })

async function walked(
  driver: SchedulerDriver,
  { scheduler }: Process,
  of: Of,
  more: Partial<ChangeQuery> = {},
): Promise<Changes> {
  const { createdAt: _, ...query } = of
  const answer = scheduler.queries.change(0, { ...query, isRepeat: false, limit: 20_000, ...more })
  answer.catch(() => undefined)
  await driver.settle(5_000)
  return answer
}

/** How often each of these jobs was started since a number of executions. */
const startsSince = (driver: SchedulerDriver, seen: number, ids: readonly string[]): number =>
  driver
    .executions()
    .slice(seen)
    .filter(({ jobId }) => ids.includes(jobId)).length

const statuses = (driver: SchedulerDriver, owner: Process, ids: readonly string[]): string[] => [
  ...new Set(ids.map((id) => driver.state(owner, id)?.status ?? 'ACTIVE')),
]

for (const action of ['PAUSE', 'CANCEL'] as const) {
  test(`${action}: no job fires from the announcement on, although no walk has begun; the walk counts each once`, async () => {
    const { driver, owner, ids } = await bed(60)
    const halfly = { ...secondly, schedule: { everyMs: 3_600_000 } }
    const rare = ['job-rare-1', 'job-rare-2']
    for (const id of rare) driver.define(id, halfly)
    await driver.advance(2_000, 500)
    const seen = driver.executions().length
    const pausing = operation(action, 1)
    expect(await announce(owner, pausing)).toEqual({ cutOff, isActive: true, ahead: 0 })
    await driver.advance(10_000, 250)
    expect(startsSince(driver, seen, ids)).toBe(0)
    expect(startsSince(driver, seen, ['other'])).toBeGreaterThanOrEqual(9)
    expect(statuses(driver, owner, ids)).toEqual([action === 'PAUSE' ? 'PAUSED' : 'COMPLETED'])
    expect(statuses(driver, owner, rare)).toEqual(['ACTIVE'])
    expect((await announce(owner, pausing)).ahead).toBe(60)
    // An operator has the last word about a job that the operation has reached.
    // Also about one that comes up by his command only.
    if (action === 'PAUSE') driver.command('job-rare-2', { type: 'RESUME', commandId: 'mine' })
    driver.command('job-007', { type: action === 'PAUSE' ? 'RESUME' : 'TRIGGER', commandId: 'mine' })
    await driver.advance(3_000, 250)
    const after = driver.executions().length
    expect(startsSince(driver, seen, ['job-007'])).toBeGreaterThan(0)
    expect(await walked(driver, owner, pausing)).toEqual({ changed: 62, refused: [] })
    expect((await announce(owner, pausing)).ahead).toBe(0)
    expect(statuses(driver, owner, ['job-rare-1'])).toEqual([action === 'PAUSE' ? 'PAUSED' : 'COMPLETED'])
    if (action === 'PAUSE') expect(statuses(driver, owner, ['job-rare-2', 'job-007'])).toEqual(['ACTIVE'])
    await driver.advance(5_000, 250)
    expect(
      startsSince(
        driver,
        after,
        ids.filter((id) => id !== 'job-007'),
      ),
    ).toBe(0)
    if (action === 'PAUSE') expect(startsSince(driver, after, ['job-007'])).toBeGreaterThanOrEqual(4)
    // A job that the walk has done takes the operation no more, whatever the owner remembers.
    expect(await walked(driver, owner, pausing, { isRepeat: true })).toEqual({ changed: 62, refused: [] })
  })
}

test('jobs that were changed ahead of the walk, and deleted before it came to them, are counted too', async () => {
  const { driver, owner, ids } = await bed(30, { ...secondly, retainCompletedMs: 0, retainFailedMs: 0 })
  const cancelling = operation('CANCEL', 1)
  await announce(owner, cancelling)
  await driver.advance(3_000, 250)
  expect(ids.map((id) => driver.state(owner, id))).toEqual(ids.map(() => undefined))
  expect(await walked(driver, owner, cancelling)).toEqual({ changed: 30, refused: [] })
})

const deletion = { action: 'DELETE', filter: { idPrefix: 'job-' }, createdAt: 1, commandId: 'operation/1/delete' } as const

/** What the operation would delete by its own tombstones. */
const toDelete = async ({ scheduler }: Process, more = {}) =>
  scheduler.queries.targets(0, { ...deletion, commandPrefix: 'operation/1/', limit: 100, cutOff, ...more })

test('DELETE: no job fires from the announcement on; who comes up is deleted first, and the walk lists the others', async () => {
  const { driver, owner, ids } = await bed(60)
  for (const id of ['job-rare', 'job-rare-2']) driver.define(id, { ...secondly, schedule: { everyMs: 30_000 } })
  driver.define('job-again', secondly)
  await driver.advance(2_000, 500)
  const jobsOffset = driver.define('job-late', secondly)
  const seen = driver.executions().length
  const deleting = { ...deletion, waitMs: 0, isOver: false, cutOff: { ...cutOff, jobsOffset } }
  const { queries } = owner.scheduler
  expect((await toDelete(owner)).count).toBe(63)
  expect(await queries.announce(0, deleting)).toMatchObject({ isActive: true, ahead: 0 })
  // A definition that comes before the tombstone outlives it.
  driver.define('job-again', secondly)
  await driver.advance(10_000, 250)
  expect(startsSince(driver, seen, ids)).toBe(0)
  for (const id of ['other', 'job-late', 'job-again']) expect(startsSince(driver, seen, [id])).toBeGreaterThanOrEqual(8)
  expect(ids.map((id) => driver.state(owner, id))).toEqual(ids.map(() => undefined))
  expect((await toDelete(owner, { cutOff: deleting.cutOff })).targets.map(({ id }) => id)).toEqual(['job-rare', 'job-rare-2'])
  // A trigger that comes after the operation does not save the job: its run keeps the owner from deleting it, and the walk does.
  driver.command('job-rare-2', { type: 'TRIGGER', commandId: 'mine' })
  await driver.advance(1_000, 250)
  expect((await toDelete(owner, { cutOff: deleting.cutOff })).targets.map(({ id }) => id)).toEqual(['job-rare', 'job-rare-2'])
  expect((await queries.announce(0, { ...deleting, isOver: true })).ahead).toBe(61)
  expect((await queries.announce(0, { ...deleting, isOver: true })).ahead).toBe(61)
  await driver.advance(20_000, 1_000)
  expect(startsSince(driver, seen, ['job-rare'])).toBe(1)
})

test('DELETE: a job that comes up after it was listed counts once, wherever its list went', async () => {
  const { driver, owner, ids } = await bed(20)
  const deleting = { ...deletion, waitMs: 0, cutOff }
  const ahead = async (more = {}) => (await owner.scheduler.queries.announce(0, { ...deleting, isOver: false, ...more })).ahead
  expect(await ahead()).toBe(0)
  expect((await toDelete(owner)).targets.map(({ id }) => id)).toEqual(ids)
  await driver.advance(3_000, 250)
  expect(ids.map((id) => driver.state(owner, id))).toEqual(ids.map(() => undefined))
  // The walk counts its targets.
  expect(await ahead()).toBe(0)
  // It goes on after them.
  expect((await toDelete(owner, { after: 'job-015' })).count).toBe(0)
  expect(await ahead()).toBe(4)
  expect((await toDelete(owner)).count).toBe(0)
  expect(await ahead({ isOver: true })).toBe(4)
})

test('DELETE: an owner that takes over does not count what the one before it had listed', async () => {
  const { driver, owner } = await bed(20)
  const deleting = { ...deletion, waitMs: 0, isOver: false, cutOff, listed: 'job-009' }
  await owner.scheduler.queries.announce(0, deleting)
  await driver.advance(3_000, 250)
  expect((await owner.scheduler.queries.announce(0, deleting)).ahead).toBe(10)
})

test('DELETE: a list that did not arrive is made again, and what was deleted between the two counts', async () => {
  const { driver, owner } = await bed(20)
  const deleting = { ...deletion, waitMs: 0, isOver: false, cutOff }
  const { queries } = owner.scheduler
  await queries.announce(0, deleting)
  expect((await toDelete(owner, { limit: 12 })).count).toBe(12)
  await driver.advance(3_000, 250)
  expect((await queries.announce(0, deleting)).ahead).toBe(8)
  // With its end it is the repeat of one that was counted.
  expect((await toDelete(owner, { until: 'job-011' })).count).toBe(0)
  expect((await queries.announce(0, deleting)).ahead).toBe(8)
  expect((await toDelete(owner)).count).toBe(0)
  expect((await queries.announce(0, deleting)).ahead).toBe(20)
})

test('DELETE: a job that comes up while the targets are listed is no target', async () => {
  const change = new AnnouncedChange({ ...deletion, waitMs: 0, isOver: false }, cutOff, 0)
  const list = (ids: string[], meanwhile: () => void) =>
    change.list({}, async () => {
      meanwhile()
      return { targets: ids.map((id) => ({ id, offset: 0 })), count: ids.length, cutOff }
    })
  const first = await list(['a', 'b', 'c'], () => change.changedAhead('b'))
  expect([first.targets.map(({ id }) => id), first.count, change.ahead]).toEqual([['a', 'c'], 2, 1])
  change.changedAhead('c')
  // The owner had changed it before it was read, and says so afterwards.
  change.changedAhead('aa')
  expect(change.ahead).toBe(2)
  const closed = (): never => {
    throw new Error('the store is closed')
  }
  await expect(list(['c'], closed)).rejects.toThrow('closed')
  // c was changed after the list that had it, and comes in no later one.
  expect(change.ahead).toBe(3)
})

test('DELETE: what an owner had begun to delete when it died is deleted by the next, and by no operation', async () => {
  const { driver, disk, owner, ids } = await bed(20)
  await owner.scheduler.queries.announce(0, { ...deletion, cutOff, waitMs: 0, isOver: false })
  const seen = driver.executions().length
  driver.hold(owner, 'writes')
  await driver.advance(1_500, 250)
  expect(statuses(driver, owner, ids)).toEqual(['COMPLETED'])
  // They are counted, and get no tombstone of the operation beside that of the owner.
  expect([(await toDelete(owner)).count, (await toDelete(owner, { countOnly: true })).count]).toEqual([0, 20])
  driver.kill(owner)
  const successor = driver.boot('B', disk)
  const release = driver.hold(successor, 'commits')
  await driver.advance(30_000, 1_000)
  await successor.scheduler.queries.announce(0, { ...deletion, cutOff, waitMs: 0, isOver: false })
  release()
  await driver.advance(20_000, 250)
  expect(startsSince(driver, seen, ids)).toBe(0)
  expect(startsSince(driver, seen, ['other'])).toBeGreaterThan(5)
  expect(ids.map((id) => driver.state(successor, id))).toEqual(ids.map(() => undefined))
  expect((await toDelete(successor)).count).toBe(0)
})

test('DELETE: of jobs with another status, and after its early end, nothing is deleted ahead', async () => {
  const { driver, owner, ids } = await bed(10)
  const of = { ...deletion, cutOff, waitMs: 0 }
  await owner.scheduler.queries.announce(0, { ...of, filter: { status: 'PAUSED' }, isOver: false })
  await owner.scheduler.queries.announce(0, { ...of, commandId: 'operation/2/delete', isOver: true })
  const seen = driver.executions().length
  await driver.advance(3_000, 250)
  for (const id of ids) expect(startsSince(driver, seen, [id])).toBeGreaterThanOrEqual(2)
  expect((await toDelete(owner)).count).toBe(10)
})

test('an operation that ends early counts what it changed ahead of its walk, and changes nothing more', async () => {
  const { driver, owner, ids } = await bed(20)
  const pausing = operation('PAUSE', 1)
  await announce(owner, pausing)
  await driver.advance(1_500, 250)
  expect(await announce(owner, pausing, { isOver: true })).toMatchObject({ ahead: 20 })
  for (const id of ids) driver.command(id, { type: 'RESUME', commandId: `r-${id}` })
  driver.define('job-new', secondly)
  const seen = driver.executions().length
  await driver.advance(3_000, 250)
  for (const id of ids) expect(startsSince(driver, seen, [id])).toBeGreaterThanOrEqual(2)
})

test('jobs that the walk has passed, that were defined after the cut-off, or that do not match, fire on', async () => {
  const { driver, owner } = await bed(3)
  const jobsOffset = driver.define('job-late', secondly)
  await driver.advance(500)
  const seen = driver.executions().length
  await announce(owner, operation('PAUSE', 1), { cutOff: { ...cutOff, jobsOffset }, after: 'job-000' })
  await announce(owner, operation('PAUSE', 2), { filter: { status: 'INVALID' } })
  await announce(owner, operation('PAUSE', 3), { filter: { tag: 'eu' } })
  await announce(owner, operation('RESUME', 4))
  await driver.advance(3_000, 250)
  for (const id of ['job-000', 'job-late', 'other']) expect(startsSince(driver, seen, [id])).toBeGreaterThanOrEqual(2)
  expect(startsSince(driver, seen, ['job-001', 'job-002'])).toBe(0)
})

test('operations that overlap leave each job as the later one says, whichever walk comes first', async () => {
  for (const [first, second, begin, end] of [
    ['PAUSE', 'RESUME', 'ACTIVE', 'ACTIVE'],
    ['RESUME', 'PAUSE', 'PAUSED', 'PAUSED'],
    ['RESUME', 'PAUSE', 'ACTIVE', 'PAUSED'],
  ] as const) {
    for (const laterWalksFirst of [true, false]) {
      const { driver, owner, ids } = await bed(30, { ...secondly, schedule: { everyMs: 3_600_000 } })
      if (begin === 'PAUSED') for (const id of ids) driver.command(id, { type: 'PAUSE', commandId: `p-${id}` })
      await driver.advance(1_000)
      const [earlier, later] = [operation(first, 1), operation(second, 2)]
      // The later one is heard of first.
      await announce(owner, later)
      await announce(owner, earlier)
      for (const of of laterWalksFirst ? [later, earlier] : [earlier, later]) await walked(driver, owner, of)
      await driver.advance(1_000)
      expect([first, begin, laterWalksFirst, statuses(driver, owner, ids)]).toEqual([first, begin, laterWalksFirst, [end]])
    }
  }
})

test('a job that comes up does not take an operation that the owner hears of after a later one has changed the job', async () => {
  const { driver, owner, ids } = await bed(10)
  for (const id of ids) driver.command(id, { type: 'PAUSE', commandId: `p-${id}` })
  await driver.advance(1_000, 250)
  const [earlier, later] = [operation('PAUSE', 1), operation('RESUME', 2)]
  await announce(owner, later)
  expect(await walked(driver, owner, later)).toEqual({ changed: 10, refused: [] })
  await announce(owner, earlier)
  const seen = driver.executions().length
  await driver.advance(3_000, 250)
  for (const id of ids) expect(startsSince(driver, seen, [id])).toBeGreaterThanOrEqual(2)
  expect(statuses(driver, owner, ids)).toEqual(['ACTIVE'])
})

test('the next owner hears of it while it takes over, and no job fires there', async () => {
  const { driver, disk, owner, ids } = await bed(40)
  const pausing = operation('PAUSE', 1)
  await announce(owner, pausing)
  await driver.advance(300, 100)
  const waiting = announce(owner, pausing, { waitMs: 10_000 })
  waiting.catch(() => undefined)
  const seen = driver.executions().length
  driver.kill(owner)
  const successor = driver.boot('B', disk)
  const release = driver.hold(successor, 'commits')
  await driver.advance(30_000, 1_000)
  expect(driver.phases(successor)).not.toBe('active')
  expect(await announce(successor, pausing)).toMatchObject({ isActive: false })
  await expect(announce(successor, { ...pausing, cutOff: undefined as never, commandId: 'new' })).rejects.toMatchObject({
    code: 'not-ready',
  })
  release()
  await driver.advance(20_000, 250)
  expect(startsSince(driver, seen, ids)).toBe(0)
  expect(startsSince(driver, seen, ['other'])).toBeGreaterThan(5)
  expect(driver.phases(successor)).toBe('active')
  expect(await walked(driver, successor, pausing, { isRepeat: true })).toEqual({ changed: 40, refused: [] })
})

test('it is forgotten a minute after it was last heard of, and who waits is told when the partition leaves', async () => {
  const { driver, owner, ids } = await bed(5, { ...secondly, schedule: { everyMs: 90_000 } })
  await announce(owner, operation('PAUSE', 1))
  const answered = announce(owner, operation('PAUSE', 1), { waitMs: 5_000 })
  await driver.advance(6_000, 1_000)
  expect(await answered).toMatchObject({ isActive: true })
  await driver.advance(61_000, 1_000)
  const seen = driver.executions().length
  await driver.advance(90_000, 1_000)
  expect(startsSince(driver, seen, ids)).toBe(5)
  const gone = new AbortController()
  const query = { ...operation('PAUSE', 2), waitMs: 30_000, isOver: false }
  const left = owner.scheduler.queries.announce(0, query, { caller: 'x', signal: gone.signal })
  left.catch(() => undefined)
  gone.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  const moved = owner.scheduler.queries.announce(0, query)
  moved.catch(() => undefined)
  void owner.scheduler.stop()
  await driver.advance(15_000, 500)
  await expect(moved).rejects.toMatchObject({ code: 'not-ready' })
  await expect(owner.scheduler.queries.announce(0, query)).rejects.toMatchObject({ code: 'not-ready' })
})
