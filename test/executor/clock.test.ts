/** Workers with a wrong clock: nothing starts early, nothing is ended, and no heartbeat is delayed. */
import { describe, expect, it } from 'vitest'
import type { GuardedClock } from '../../src/ground/clock/guarded-clock.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { processClock } from '../../src/log/cluster/process-clock.ts'
import { misdatedMsMin } from '../../src/worker/executor/consume/lane.ts'
import { LoopbackLog } from '../tools/loopback-log.ts'
import { ManualClock, rest } from '../tools/manual-clock.ts'
import { Harness, silent } from './harness.ts'

const hourMs = 3_600_000
const never = new Promise<void>(() => {})

/** A worker with a clock guard, and a broker that answers each request for the time. */
function worker(handlers: ConstructorParameters<typeof Harness>[0] = {}, log = new LoopbackLog()) {
  const manual = new ManualClock()
  const clock: GuardedClock = processClock({
    ...{ clock: manual, stepMsMax: 2_000, needsProof: false },
    ...{ metrics: newMetrics(), logger: silent },
  })
  const tell = (): void => {
    const sentMs = manual.steadyMs()
    clock.appended({ source: 'broker 1', sentMs, receivedMs: sentMs, brokerMs: manual.nowMs() - manual.skewMs })
  }
  tell()
  clock.start(async () => tell())
  return { manual, clock, harness: new Harness(handlers, { clock }, { clock: manual, log }) }
}

it('no prefetched run starts early when the clock steps ahead, and all start on time when it is right again', async () => {
  const { manual, harness } = worker()
  await harness.start()
  harness.put({ dueAt: manual.nowMs() + 60_000, startDeadlineAt: manual.nowMs() + 120_000 })
  await manual.advance(5_000)
  manual.skewMs = hourMs
  harness.put({ jobId: 'late', dueAt: manual.nowMs() - hourMs, startDeadlineAt: manual.nowMs() - hourMs + 60_000 })
  await rest()
  await manual.advance(20_000)
  expect(harness.starts).toEqual([])
  manual.skewMs = 0
  await manual.advance(1_000)
  expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['late'])
  await manual.advance(33_000)
  expect(harness.starts).toHaveLength(1)
  await manual.advance(1_000)
  expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['late', 'job'])
  await harness.stop()
})

it('a run that comes while the clock is ahead, and was due by it, waits for its time when the clock is right again', async () => {
  const { manual, harness } = worker({ batch: { batch: { maxSize: 1, maxWaitMs: 100 }, run: () => undefined } })
  await harness.start()
  await manual.advance(5_000)
  const dueAt = manual.nowMs() + 60_000
  manual.skewMs = hourMs
  harness.put({ jobId: 'one', dueAt })
  harness.put({ jobId: 'gathered', dueAt, handler: 'batch' }, { partition: 1 })
  await rest()
  await manual.advance(20_000)
  manual.skewMs = 0
  await manual.advance(39_000)
  expect(harness.events()).toEqual([])
  await manual.advance(2_000)
  expect(
    harness
      .events()
      .map(({ jobId, type, startedAt }) => [jobId, type, (startedAt ?? 0) >= dueAt])
      .sort(),
  ).toEqual([
    ['gathered', 'SUCCEEDED', true],
    ['one', 'SUCCEEDED', true],
  ])
  await harness.stop()
})

it('what waits for its time while the clock is behind starts when it is right again, and not a minute later', async () => {
  const log = new LoopbackLog()
  const { manual, harness } = worker({ batch: { batch: { maxSize: 10, maxWaitMs: 2_000 }, run: () => undefined } }, log)
  // The brokers stamp the records, and their clock is right.
  log.nowMs = () => manual.nowMs() - manual.skewMs
  await harness.start()
  const dueAt = manual.nowMs() + 2_000
  harness.put({ jobId: 'held', dueAt })
  harness.put({ jobId: 'gathered', handler: 'batch' }, { partition: 1 })
  await rest()
  manual.skewMs = -hourMs
  harness.put({ jobId: 'taken', dueAt })
  harness.put({ jobId: 'ahead', dueAt }, { ahead: true })
  await rest()
  await manual.advance(5_000)
  expect(harness.events()).toEqual([])
  manual.skewMs = 0
  await manual.advance(3_000)
  expect(
    harness
      .events()
      .map(({ jobId }) => jobId)
      .sort(),
  ).toEqual(['ahead', 'gathered', 'held', 'taken'])
  await harness.stop()
})

it.each([hourMs, -hourMs])('a step of %i ms ends no handler, and its heartbeats continue', async (skewMs) => {
  const { manual, harness } = worker({ slow: () => never })
  await harness.start()
  harness.put({ handler: 'slow', attemptTimeoutMs: 300_000, leaseMs: 30_000 })
  await rest()
  await manual.advance(5_000)
  manual.skewMs = skewMs
  await manual.advance(60_000)
  expect(harness.events().map(({ type }) => type)).toEqual(['STARTED', ...Array(6).fill('HEARTBEAT')])
  manual.skewMs = 0
  await manual.advance(240_000)
  expect(harness.events().at(-1)).toMatchObject({ type: 'FAILED', error: { type: 'AttemptTimeout' } })
  await harness.stop()
})

it('runs that came long before their time are given back, so that later offsets are committed', async () => {
  const { manual, harness } = worker()
  await harness.start()
  harness.put({ jobId: 'astray', dueAt: manual.nowMs() + misdatedMsMin + 1 })
  harness.put({ jobId: 'astray', runNo: 2, dueAt: manual.nowMs() + hourMs }, { ahead: true })
  harness.put({ jobId: 'held', dueAt: manual.nowMs() + 60_000 }, { partition: 1 })
  harness.put({ jobId: 'now' })
  harness.put({ jobId: 'herd' }, { ahead: true })
  await rest()
  await manual.advance(2_000)
  expect(
    harness
      .events(0)
      .map(({ jobId, type }) => `${jobId} ${type}`)
      .sort(),
  ).toEqual(['astray RELEASED', 'astray RELEASED', 'herd SUCCEEDED', 'now SUCCEEDED'])
  expect([harness.committed(), harness.committed({ ahead: true })]).toEqual([2, 2])
  await harness.stop()
})

it.each([hourMs, -hourMs])(
  'a worker that stops waits for its handlers for the full time when the clock steps by %i ms',
  async (skewMs) => {
    const short = Promise.withResolvers<void>()
    const { manual, harness } = worker({ slow: () => never, short: () => short.promise })
    await harness.start()
    harness.put({ handler: 'slow' })
    harness.put({ handler: 'short' }, { partition: 1 })
    await rest()
    let stopped = false
    void harness.executor.stop().then(() => {
      stopped = true
    })
    await manual.advance(500)
    manual.skewMs = skewMs
    short.resolve()
    await rest()
    await manual.advance(400)
    expect(stopped).toBe(false)
    await manual.advance(200)
    expect(stopped).toBe(true)
  },
)

const startedJobs = ({ starts }: Harness): string[] => starts.map(({ jobId }) => jobId)

describe('a worker whose clock stays wrong', () => {
  it('leaves unstarted runs to others, and comes back when its clock is right', async () => {
    const log = new LoopbackLog()
    const { manual, harness } = worker({}, log)
    await harness.start()
    harness.put({ jobId: 'before' })
    await rest()
    const dueAt = manual.nowMs() + 20_000
    harness.put({ jobId: 'held', dueAt })
    harness.put({ jobId: 'behind' })
    harness.put({ jobId: 'elsewhere', dueAt }, { partition: 1 })
    await rest()
    expect(startedJobs(harness)).toEqual(['before', 'behind'])
    manual.skewMs = -hourMs
    await manual.advance(34_000)
    expect([harness.reader.running, harness.executor.current().held]).toEqual([true, 2])
    await manual.advance(10_000)
    expect([harness.reader.running, harness.executor.current().held]).toEqual([false, 0])
    // An entry before a started one is given back explicitly, so that the started one does not run twice.
    expect(harness.events().map(({ jobId, type }) => `${jobId} ${type}`)).toEqual([
      'before SUCCEEDED',
      'behind SUCCEEDED',
      'held RELEASED',
    ])
    expect(harness.committed()).toBe(3)
    const other = new Harness({}, {}, { log })
    await other.start()
    await other.clock.advance(25_000)
    expect(startedJobs(other)).toEqual(['elsewhere'])
    await other.stop()
    harness.put({ jobId: 'later' })
    await manual.advance(60_000)
    expect(startedJobs(harness)).toEqual(['before', 'behind'])
    manual.skewMs = 0
    await manual.advance(6_000)
    expect(harness.reader.running).toBe(true)
    expect(startedJobs(harness)).toEqual(['before', 'behind', 'later'])
    await harness.stop()
  })

  it('stays if its clock is right again soon, however often that happens', async () => {
    const { manual, harness } = worker()
    await harness.start()
    const { reader } = harness
    for (let time = 0; time < 4; time++) {
      manual.skewMs = hourMs
      await manual.advance(25_000)
      manual.skewMs = 0
      await manual.advance(6_000)
    }
    expect([reader.running, harness.reader === reader]).toEqual([true, true])
    await harness.stop()
  })

  it('lets its handlers end, and runs nothing twice that it reads again', async () => {
    const end = Promise.withResolvers<void>()
    const { manual, harness } = worker({ slow: () => end.promise })
    await harness.start()
    harness.put({ jobId: 'slow', handler: 'slow', leaseMs: 30_000 })
    harness.put({ jobId: 'floods', handler: 'slow' }, { partition: 1 })
    await rest()
    // Nothing is committed, so both are read again.
    harness.reader.commitRefusal = new Error('The group is rebalancing.')
    manual.skewMs = hourMs
    await manual.advance(60_000)
    expect(harness.reader.running).toBe(false)
    expect(harness.events().at(-1)?.type).toBe('HEARTBEAT')
    harness.reader.commitRefusal = undefined
    manual.skewMs = 0
    await manual.advance(6_000)
    expect([harness.reader.running, startedJobs(harness)]).toEqual([true, ['slow', 'floods']])
    end.resolve()
    await manual.advance(2_000)
    expect(harness.events(0).at(-1)).toMatchObject({ jobId: 'slow', type: 'SUCCEEDED' })
    expect([startedJobs(harness).length, harness.committed(), harness.committed({ partition: 1 })]).toEqual([2, 1, 1])
    await harness.stop()
  })

  it('gives pinned runs back once, and accepts none until it has come back', async () => {
    const { manual, harness } = worker()
    await harness.start()
    const run = { pinTo: 'worker', runNo: 1, attempt: 1, dueAt: manual.nowMs() + 30_000 }
    harness.pin(run)
    await rest()
    manual.skewMs = hourMs
    await manual.advance(40_000)
    harness.pin({ ...run, attempt: 2 })
    await manual.advance(20_000)
    expect(harness.events().map(({ type, attempt }) => `${attempt} ${type}`)).toEqual(['1 RELEASED'])
    manual.skewMs = 0
    await manual.advance(6_000)
    expect(startedJobs(harness)).toEqual([])
    // Its owner sends it again until a worker has started it.
    harness.pin({ ...run, attempt: 2 })
    await rest()
    await manual.advance(1)
    expect(startedJobs(harness)).toEqual(['job'])
    await harness.stop()
  })

  it('can be stopped while it is away, and does not come back', async () => {
    const { manual, harness } = worker()
    await harness.start()
    manual.skewMs = hourMs
    await manual.advance(40_000)
    await harness.stop()
    manual.skewMs = 0
    await manual.advance(60_000)
    expect(harness.reader.running).toBe(false)
  })

  it('joins again until it succeeds', async () => {
    const log = new LoopbackLog()
    const { manual, harness } = worker({}, log)
    await harness.start()
    manual.skewMs = hourMs
    await manual.advance(40_000)
    log.readerRefusal = new Error('no coordinator')
    manual.skewMs = 0
    await manual.advance(10_000)
    expect(harness.reader.running).toBe(false)
    log.readerRefusal = undefined
    await manual.advance(10_000)
    expect(harness.reader.running).toBe(true)
    await harness.stop()
  })
})
