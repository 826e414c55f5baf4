/** Runs that a worker that is gone may have started: their owners know of the new start before their handlers are called. */
import { describe, expect, it } from 'vitest'
import type { Execution, ExecutionInput } from '../../../schemas/generated.ts'
import type { Pauses } from '../../../src/ground/ports/roles.ts'
import { isClosed } from '../../../src/ground/records/worker-data.ts'
import { Lane } from '../../../src/worker/executor/consume/lane.ts'
import type { Handlers, Run } from '../../../src/worker/executor/handlers/handler.ts'
import { aloneMsMax, waveRunsPerLaneMax, wavesOfOne } from '../../../src/worker/executor/run/redelivered-runs.ts'
import { agedEvery } from '../../../streams/topics/topics.ts'
import { rest } from '../../tools/manual-clock.ts'
import { Harness, type Place } from '../harness.ts'

type Wanted = Partial<ExecutionInput>

let busy: () => Promise<void>

/** A worker, and what was known when each handler was called: the reports of its run, and the offset of its lane. */
function place(options: ConstructorParameters<typeof Harness>[1] = {}, shared?: Harness) {
  const calls: { jobIds: string[]; known: string[]; reports: number; committed: number | undefined; isClosed: boolean }[] = []
  const called = (runs: readonly Run[]): void => {
    const jobIds = runs.map(({ jobId }) => jobId)
    const reports = harness.events()
    const known = reports.filter(({ jobId }) => jobIds.includes(jobId))
    calls.push({
      jobIds,
      reports: reports.length,
      known: known.map(({ type, jobId }) => `${type} ${jobId}`),
      committed: harness.committed(),
      isClosed: isClosed(harness.log.metadata.get(`test.exec.default ${harness.topic()}/0`), harness.clock.nowMs()),
    })
  }
  const handlers: Handlers = {
    busy: () => busy(),
    one: (run) => called([run]),
    many: { batch: { maxSize: 10, maxWaitMs: 0 }, run: called },
    slow: (run) => {
      called([run])
      return new Promise<never>(() => {})
    },
  }
  const harness: Harness = new Harness(handlers, { concurrency: 1_000, ...options }, shared)
  /** Records that were there before the worker, as after a crash of another one. */
  const before = (runs: Wanted[], where: Place = {}) => {
    for (const run of runs) harness.put({ handler: 'one', ...run }, where)
  }
  const start = async (): Promise<void> => {
    await harness.clock.advance(1)
    await harness.start()
    await harness.clock.advance(100)
  }
  return { harness, calls, before, start }
}

it('its start is reported and its offset committed before its handler is called; a run that came later starts at once', async () => {
  const { harness, calls, before, start } = place()
  before([{ jobId: 'a' }, { jobId: 'b' }])
  await start()
  harness.put({ jobId: 'c', handler: 'one' })
  await rest()
  expect(calls).toMatchObject([
    { jobIds: ['a'], known: ['STARTED a'], committed: 1 },
    { jobIds: ['b'], known: ['STARTED b'], committed: 2 },
    { jobIds: ['c'], known: [], committed: 2 },
  ])
  await harness.stop()
})

it('the same holds for runs of a batch handler, each a batch of its own', async () => {
  const { harness, calls, before, start } = place()
  before([
    { jobId: 'a', handler: 'many' },
    { jobId: 'b', handler: 'many' },
  ])
  await start()
  expect(calls).toMatchObject([
    { jobIds: ['a'], known: ['STARTED a'], committed: 1 },
    { jobIds: ['b'], known: ['STARTED b'], committed: 2 },
  ])
  expect(harness.events().filter(({ type }) => type === 'SUCCEEDED')).toHaveLength(2)
  await harness.stop()
})

it('nothing starts while the broker does not acknowledge the start', async () => {
  const { harness, calls, before, start } = place()
  before([{ jobId: 'a' }])
  await harness.clock.advance(1)
  let open = (): void => {}
  harness.log.gate = new Promise((resolve) => {
    open = resolve
  })
  await start()
  expect(calls).toEqual([])
  open()
  await harness.clock.advance(100)
  expect(calls).toHaveLength(1)
  await harness.stop()
})

it('a start that is acknowledged after the start deadline is given back: its owner may have expired the run', async () => {
  const { harness, calls, before, start } = place()
  before([
    { jobId: 'a', startDeadlineAt: harness.clock.nowMs() + 5_000 },
    { jobId: 'b', startDeadlineAt: 9e12 },
  ])
  await harness.clock.advance(1)
  let open = (): void => {}
  harness.log.gate = new Promise((resolve) => {
    open = resolve
  })
  await start()
  await harness.clock.advance(6_000)
  open()
  for (let step = 0; step < 30; step++) await harness.clock.advance(100)
  expect(calls.map(({ jobIds }) => jobIds)).toEqual([['b']])
  expect(harness.events().map(({ type, jobId }) => `${type} ${jobId}`)).toEqual([
    ...['STARTED a', 'RELEASED a', 'STARTED b', 'SUCCEEDED b'],
  ])
  await harness.stop()
})

it('the first ones start alone, the oldest first, whatever their lane; later waves are larger', async () => {
  const { harness, calls, before, start } = place()
  for (let n = 0; n < waveRunsPerLaneMax; n++) {
    before([{ jobId: `p0-${n}`, handler: 'slow' }], { partition: 0 })
    before([{ jobId: `p1-${n}`, handler: 'slow' }], { partition: 1 })
    await harness.clock.advance(1)
  }
  await start()
  expect(calls.slice(0, 4).flatMap(({ jobIds }) => jobIds)).toEqual(['p0-0', 'p1-0', 'p0-1', 'p1-1'])
  // Runs of one wave were called when the same number had been reported.
  const waves = Map.groupBy(calls, ({ reports }) => reports)
  const alone = new Array<number>(wavesOfOne).fill(1)
  expect([...waves.values()].map(({ length }) => length)).toEqual([...alone, 2, 4, 8, 16, 32, 64, 66])
  await harness.stop()
})

it('the second one begins when its own start is reported, although the first still runs', async () => {
  const { harness, calls, before, start } = place()
  before([
    { jobId: 'a', handler: 'slow' },
    { jobId: 'b', handler: 'slow' },
  ])
  await start()
  expect(calls).toMatchObject([
    { jobIds: ['a'], known: ['STARTED a'], reports: 1 },
    { jobIds: ['b'], known: ['STARTED b'], reports: 2 },
  ])
  await harness.stop()
})

it('after another attempt than the first, the next one waits a second for its end: it would lose attempt after attempt', async () => {
  const { harness, calls, before, start } = place()
  before([
    { jobId: 'a', handler: 'slow', attempt: 2 },
    { jobId: 'b', handler: 'one', attempt: 2 },
    { jobId: 'c', handler: 'one', attempt: 2 },
  ])
  await start()
  expect(calls).toHaveLength(1)
  await harness.clock.advance(aloneMsMax)
  expect(calls).toHaveLength(3)
  await harness.stop()
})

describe('priorities', () => {
  const orderOf = (calls: readonly { jobIds: string[] }[]): string => calls.flatMap(({ jobIds }) => jobIds).join(' ')

  it('the best one starts first, and the oldest of each', async () => {
    const { harness, calls, before, start } = place({ concurrency: 1 })
    for (const priority of ['LOW', 'NORMAL', 'HIGH'] as const) {
      for (const partition of [0, 1]) {
        before([{ jobId: `${priority}-${partition}`, priority }], { priority, partition })
        await harness.clock.advance(1)
      }
    }
    await start()
    expect(orderOf(calls)).toBe('HIGH-0 HIGH-1 NORMAL-0 NORMAL-1 LOW-0 LOW-1')
    await harness.stop()
  })

  it('a wave that waits for a slot gives its turn to a better one, and is not open beside it', async () => {
    const { harness, calls, start } = place({ concurrency: 2 })
    const ends: (() => void)[] = []
    busy = () => new Promise<void>((resolve) => ends.push(resolve))
    const dueAt = harness.clock.nowMs()
    await start()
    for (const jobId of ['busy', 'busy-too']) harness.put({ jobId, handler: 'busy' })
    await rest()
    harness.log.nowMs = () => dueAt
    const run = { handler: 'slow', dueAt, dispatchedAt: dueAt }
    harness.put({ ...run, jobId: 'low', priorityLevel: 3 }, { partition: 0 })
    harness.put({ ...run, jobId: 'high', priorityLevel: 6 }, { partition: 1 })
    await harness.clock.advance(100)
    expect(ends).toHaveLength(2)
    for (const end of ends) end()
    for (let n = 0; n < 5; n++) await harness.clock.advance(100)
    expect(orderOf(calls)).toBe('high low')
    expect((calls[1]?.reports ?? 0) - (calls[0]?.reports ?? 0)).toBe(1)
    await harness.stop()
  })

  it('those of a better one that came later go before the next wave; every sixteenth start is one of a wave', async () => {
    const ends: (() => void)[] = []
    const step = () => new Promise<void>((resolve) => ends.push(resolve))
    const harness = new Harness({ step }, { concurrency: 4 })
    for (let n = 0; n < 40; n++) harness.put({ jobId: `low-${n}`, handler: 'step', priority: 'LOW' }, { priority: 'LOW' })
    await harness.clock.advance(1)
    await harness.start()
    await harness.clock.advance(100)
    for (let n = 0; n < 300; n++) harness.put({ jobId: `high-${n}`, handler: 'step', priority: 'HIGH' }, { priority: 'HIGH' })
    await rest()
    while (harness.starts.length < 240) {
      for (const end of ends.splice(0)) end()
      await harness.clock.advance(100)
    }
    const lows = harness.starts.flatMap(({ jobId }, at) => (jobId.startsWith('low') ? [at] : []))
    const apart = lows.map((at, index) => at - (lows[index - 1] ?? 0)).slice(5)
    expect(lows.length).toBeGreaterThan(wavesOfOne + 2)
    // A handler of a wave is called a little later than it has its slot.
    for (const starts of apart) expect(Math.abs(starts - agedEvery)).toBeLessThanOrEqual(4)
    await harness.stop()
  })
})

it('what a worker that has left did not start, starts in the next one like any other run, once its mark is taken back', async () => {
  const first = place()
  await first.start()
  first.harness.put({ jobId: 'done', handler: 'one' })
  first.harness.put({ jobId: 'a', handler: 'one', dueAt: first.harness.clock.nowMs() + 50 })
  await rest()
  await first.harness.stop()
  const second = place({}, first.harness)
  await second.start()
  // Another worker that reads it after a death of this one must not rely on the mark.
  expect(second.calls).toMatchObject([{ jobIds: ['a'], known: [], isClosed: false }])
  await second.harness.stop()
})

it('those after many of a lane start after them, like any other run', async () => {
  const { harness, calls, before, start } = place()
  before(Array.from({ length: waveRunsPerLaneMax + 30 }, (_, n) => ({ jobId: `${n}`, handler: 'slow' })))
  await start()
  expect(calls.map(({ jobIds }) => jobIds[0])).toEqual(Array.from({ length: waveRunsPerLaneMax + 30 }, (_, n) => `${n}`))
  expect(calls.map(({ known }) => known.length).lastIndexOf(1)).toBeLessThan(calls.length - 1)
  expect(calls.at(-1)?.known).toEqual([])
  await harness.stop()
})

it('a run that waits for its start is given back by a worker that stops', async () => {
  const { harness, calls, before, start } = place()
  before([{ jobId: 'a' }])
  let open = (): void => {}
  harness.log.gate = new Promise((resolve) => {
    open = resolve
  })
  await start()
  harness.executor.giveBack()
  open()
  await harness.clock.advance(100)
  expect(harness.events().map(({ type }) => type)).toEqual(['STARTED', 'RELEASED'])
  expect(calls).toEqual([])
  await harness.stop()
})

it('a run that waits for its start is given back when its pool is paused', async () => {
  let pause: ReturnType<Pauses['ofPool']>
  const pauses = { version: 0, ofPool: () => pause, isWorkerPaused: () => false, onChange: () => () => {} }
  const { harness, calls, before, start } = place({ pauses })
  before([{ jobId: 'a' }])
  const { promise, resolve } = Promise.withResolvers<void>()
  harness.log.gate = promise
  await start()
  pause = { by: 'ada', at: 0, reason: null, isDrained: false } as ReturnType<Pauses['ofPool']>
  resolve()
  await harness.clock.advance(100)
  await harness.clock.advance(100)
  expect(harness.events().map(({ type }) => type)).toEqual(['STARTED', 'RELEASED'])
  expect(calls).toEqual([])
  await harness.stop()
})

it('starts when it is known whether its last reader has left: a look-up that fails is repeated', async () => {
  const { harness, calls, before, start } = place()
  before([{ jobId: 'a', handler: 'one' }])
  const { admin } = harness.log
  let lookups = 0
  let isLost = true
  harness.log.admin = async () => {
    const whole = await admin.call(harness.log)
    const committedOf: typeof whole.committedOf = (...of) => {
      lookups++
      return isLost ? Promise.reject(new Error('no coordinator')) : whole.committedOf(...of)
    }
    return { ...whole, committedOf }
  }
  await start()
  for (let seconds = 0; seconds < 5; seconds++) await harness.clock.advance(1_000)
  expect([lookups, calls]).toEqual([3, []])
  isLost = false
  await harness.clock.advance(2_000)
  expect(calls.map(({ jobIds }) => jobIds)).toEqual([['a']])
  await harness.stop()
})

it('a lane that leaves before its runs have started is not closed if its last reader may have died, and says nothing before that is known', () => {
  const lane = new Lane({ topic: 'runs', partition: 0, level: 0, ahead: false }, { onReleased: () => {}, onAdvanced: () => {} })
  lane.gain(1)
  const record = { topic: 'runs', partition: 0, key: null, value: null, headers: {}, timestampMs: 0, offset: 5 }
  lane.take(record, { jobId: 'a' } as Execution)
  lane.close()
  expect(lane.committable(1)).toBeUndefined()
  lane.isOrphaned = true
  expect(lane.committable(1)).toEqual({ topic: 'runs', partition: 0, offset: 5 })
  lane.isOrphaned = false
  expect(isClosed(lane.committable(1)?.metadata, 1)).toBe(true)
})

it('a pinned run that its owner has sent again, or as another attempt, is reported first too', async () => {
  const { harness, calls } = place()
  await harness.start()
  const run = { handler: 'one', pinTo: 'worker', leaseMs: 2_000 }
  harness.pin({ ...run, jobId: 'first' })
  harness.pin({ ...run, jobId: 'again', dispatchedAt: harness.clock.nowMs() - 2_000, dueAt: harness.clock.nowMs() - 2_000 })
  harness.pin({ ...run, jobId: 'second', attempt: 2 })
  await rest()
  await harness.clock.advance(100)
  expect(calls.map(({ jobIds, known }) => [...jobIds, ...known])).toEqual([
    ['first'],
    ['again', 'STARTED again'],
    ['second', 'STARTED second'],
  ])
  await harness.stop()
})
