/** Runs that are pinned to one worker. */
import { expect, it } from 'vitest'
import type { Execution, WorkerControl } from '../../../schemas/generated.ts'
import { cancellationOf } from '../../../src/worker/executor/consume/cancellations.ts'
import { PinnedRuns, pinnedHeldBytesMax } from '../../../src/worker/executor/consume/pinned-runs.ts'
import { eventLingerMs } from '../../../src/worker/executor/report/report-sender.ts'
import { rest } from '../../tools/manual-clock.ts'
import { Harness, names } from '../harness.ts'

const instanceOf = (name: string, host = 'box', boot = 'a') => ({ instance: `${name}@${host}:1:${boot}` })

it('is run by the worker of that name, exactly when it is due, and reported like any other', async () => {
  const harness = await new Harness({}, instanceOf('gpu')).start()
  const dueAt = harness.clock.nowMs() + 90
  harness.pin({ jobId: 'a', pinTo: 'gpu', dueAt })
  await rest()
  await harness.clock.advance(89)
  expect(harness.starts).toEqual([])
  await harness.clock.advance(1 + eventLingerMs)
  expect(harness.starts).toEqual([{ jobId: 'a', atMs: dueAt }])
  expect(harness.events().map(({ type, jobId }) => [type, jobId])).toEqual([['SUCCEEDED', 'a']])
  await harness.stop()
})

it('is run by a worker on the host of that name', async () => {
  const harness = await new Harness({}, instanceOf('worker', 'box')).start()
  harness.pin({ jobId: 'a', pinTo: 'box' })
  await rest()
  expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['a'])
  await harness.stop()
})

it('is ignored by workers of other names and other pools', async () => {
  const harness = await new Harness({}, instanceOf('gpu')).start()
  for (const pinTo of ['gp', 'gpu2', 'gpu@box', '1', 'a']) harness.pin({ jobId: pinTo, pinTo })
  harness.pin({ jobId: 'pool', pinTo: 'gpu', pool: 'other' })
  await rest()
  await harness.clock.advance(2_000)
  expect(harness.starts).toEqual([])
  expect(harness.executor.current().held).toBe(0)
  await harness.stop()
})

it('is run by one of several workers of that name', async () => {
  const first = await new Harness({}, instanceOf('gpu', 'box', 'a')).start()
  const second = await new Harness({}, instanceOf('gpu', 'box', 'b'), first).start()
  for (let index = 0; index < 10; index++) first.pin({ jobId: `job-${index}`, pinTo: index % 2 ? 'gpu' : 'box' })
  await rest()
  expect([...first.starts, ...second.starts]).toHaveLength(10)
  await first.stop()
  await second.stop()
})

it('is run by the worker that has started first, and not by one that joins beside it', async () => {
  const old = await new Harness({}, instanceOf('gpu', 'box', '10000000-ffffff')).start()
  const young = new Harness({}, instanceOf('gpu', 'box', '10000001-000000'), old)
  await young.start()
  // It hears of runs before it is a member of its pool.
  young.reader.running = false
  old.pin({ jobId: 'a', pinTo: 'gpu' })
  await rest()
  young.reader.running = true
  old.pin({ jobId: 'b', pinTo: 'gpu' })
  await rest()
  expect([old, young].map(({ starts }) => starts.map(({ jobId }) => jobId))).toEqual([['a', 'b'], []])
  await old.stop()
  old.pin({ jobId: 'c', pinTo: 'gpu' })
  await rest()
  expect(young.starts.map(({ jobId }) => jobId)).toEqual(['c'])
  await young.stop()
})

it('waits while the group of the pool does not show who is in it, for 3 s', async () => {
  const old = await new Harness({}, instanceOf('gpu', 'box', '10000000-ffffff')).start()
  const young = await new Harness({}, instanceOf('gpu', 'box', '10000001-000000'), old).start()
  const startsOf = () => [old, young].map(({ starts }) => starts.map(({ jobId }) => jobId))
  old.log.areGroupsJoining = true
  old.pin({ jobId: 'a', pinTo: 'gpu' })
  await old.clock.advance(1_000)
  expect(startsOf()).toEqual([[], []])
  old.log.areGroupsJoining = false
  await old.clock.advance(100)
  expect(startsOf()).toEqual([['a'], []])
  // Two that run it are better than none.
  old.log.areGroupsJoining = true
  old.pin({ jobId: 'b', pinTo: 'gpu' })
  await rest()
  await old.clock.advance(4_000)
  expect(startsOf()).toEqual([['a', 'b'], ['b']])
  await old.stop()
  await young.stop()
})

it('goes back once its worker has left its pool, because until then others of the name leave it to that worker', async () => {
  const harness = await new Harness({}, instanceOf('gpu')).start()
  const { clock, log } = harness
  const dueAt = clock.nowMs() + 60_000
  harness.pin({ jobId: 'held', pinTo: 'gpu', dueAt })
  // It stays for its last commit.
  harness.reader.commitRefusal = new Error('The group is rebalancing.')
  harness.put({ jobId: 'keeps it' })
  await rest()
  await clock.advance(100)
  const given: [string, boolean][] = []
  log.refusalOf = (records) => {
    for (const { topic, key } of records) if (topic === names.events) given.push([String(key), harness.reader.running])
    return undefined
  }
  const stopped = harness.executor.stop()
  await rest()
  harness.pin({ jobId: 'meanwhile', pinTo: 'gpu', dueAt })
  await rest()
  expect(given).toEqual([])
  await clock.advance(20_000)
  await stopped
  expect(given).toEqual([
    ['held', false],
    ['meanwhile', false],
  ])
  expect(harness.events().map(({ type }) => type)).toEqual(['SUCCEEDED', 'RELEASED', 'RELEASED'])
})

it('is not run by a worker that starts later until its owner redelivers it', async () => {
  const harness = new Harness({}, instanceOf('gpu'))
  harness.pin({ jobId: 'a', pinTo: 'gpu' })
  await harness.start()
  harness.pin({ jobId: 'b', pinTo: 'gpu' })
  await rest()
  expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['b'])
  harness.pin({ jobId: 'a', pinTo: 'gpu' })
  await rest()
  expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['b', 'a'])
  await harness.stop()
})

it('runs once when it is redelivered, whether it is prefetched, running or finished', async () => {
  const finish: (() => void)[] = []
  const slow = () => new Promise<void>((resolve) => finish.push(resolve))
  const harness = await new Harness({ slow }, { ...instanceOf('gpu'), concurrency: 1 }).start()
  const tell = async (jobId: string, attempt = 1): Promise<void> => {
    harness.pin({ jobId, attempt, handler: 'slow', pinTo: 'gpu' })
    await rest()
  }
  await tell('a')
  await tell('b')
  await tell('a')
  await tell('b')
  for (let ended = 0; ended < 2; ended++) {
    finish.shift()?.()
    await rest()
  }
  await tell('a')
  expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['a', 'b'])
  await tell('a', 2)
  await harness.clock.advance(1)
  expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['a', 'b', 'a'])
  finish.shift()?.()
  await harness.stop()
})

it('runs if worker-control was recreated, and cancellations arrive too; older records do not count', async () => {
  const harness = new Harness({}, instanceOf('gpu'))
  for (const jobId of ['a', 'b', 'c', 'd', 'e']) harness.pin({ jobId, pinTo: 'gpu' })
  await harness.start()
  await harness.clock.advance(10)
  harness.pin({ jobId: 'f', pinTo: 'gpu' })
  await rest()
  expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['f'])
  await harness.clock.advance(10)
  harness.log.recreate(names.control, 0)
  const dueAt = harness.clock.nowMs() + 500
  harness.pin({ jobId: 'g', pinTo: 'gpu', dueAt })
  harness.pin({ jobId: 'h', pinTo: 'gpu', dueAt })
  harness.control({ type: 'CANCEL', jobId: 'h', runNo: 1, attempt: 1 })
  // A repetition by the owner, which was not sure that the first message arrived.
  harness.pin({ jobId: 'f', pinTo: 'gpu' })
  await rest()
  await harness.clock.advance(1_000)
  expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['f', 'g'])
  const { values } = await harness.metrics.positionsReset.get()
  expect(values.map(({ labels }) => labels)).toEqual([{ topic: names.control, reason: 'beyond-end' }])
  await harness.stop()
})

it('has its priority among the others', async () => {
  const finish: (() => void)[] = []
  const slow = () => new Promise<void>((resolve) => finish.push(resolve))
  const harness = await new Harness({ slow }, { ...instanceOf('gpu'), concurrency: 1 }).start()
  harness.put({ jobId: 'first', handler: 'slow' })
  await rest()
  harness.put({ jobId: 'normal', handler: 'slow' })
  harness.pin({ jobId: 'pinned low', handler: 'slow', pinTo: 'gpu', priority: 'LOW' })
  harness.pin({ jobId: 'pinned high', handler: 'slow', pinTo: 'gpu', priority: 'HIGH' })
  await rest()
  for (let left = 4; left > 0; left--) {
    finish.shift()?.()
    await rest()
  }
  expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['first', 'pinned high', 'normal', 'pinned low'])
  await harness.stop()
})

it('is dropped when it is canceled before it starts', async () => {
  const harness = await new Harness({}, instanceOf('gpu')).start()
  harness.pin({ jobId: 'a', pinTo: 'gpu', dueAt: harness.clock.nowMs() + 90 })
  harness.control({ type: 'CANCEL', jobId: 'a', runNo: 1, attempt: 1 })
  await rest()
  await harness.clock.advance(200)
  expect(harness.starts).toEqual([])
  await harness.stop()
})

it('is given back when its worker stops before it has started', async () => {
  const harness = await new Harness({}, instanceOf('gpu')).start()
  harness.pin({ jobId: 'a', pinTo: 'gpu', dueAt: harness.clock.nowMs() + 60_000 })
  await rest()
  expect(harness.executor.current().held).toBe(1)
  await harness.stop()
  expect(harness.events().map(({ type, jobId }) => [type, jobId])).toEqual([['RELEASED', 'a']])
})

it('is prefetched within limits of bytes, too: the rest waits in the log', async () => {
  const pinned = new PinnedRuns()
  const large = (offset: number) => ({
    ...{ topic: 'control', partition: 0, offset, timestampMs: 0, key: null, headers: {} },
    value: Buffer.alloc(pinnedHeldBytesMax / 2),
  })
  const execution = (runNo: number) => ({ jobId: 'j', runNo, attempt: 1, priority: 'NORMAL' }) as Execution
  const first = pinned.take(large(0), execution(1))
  await pinned.room()
  pinned.take(large(1), execution(2))
  let isThere = false
  const room = pinned.room().then(() => {
    isThere = true
  })
  await rest()
  expect(isThere).toBe(false)
  first?.start()
  await room
})

it('is canceled with a reason of limited length', () => {
  const control = { jobId: 'j', runNo: 1, attempt: 1, specOffset: 0, reason: 'x'.repeat(1_000_000) } as WorkerControl
  expect(cancellationOf(control, 0).reason).toHaveLength(1_000)
})
