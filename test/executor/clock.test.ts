/** Workers whose clock is wrong: nothing starts early, nothing is ended, and no heartbeat is kept back. */
import { expect, it } from 'vitest'
import { ASTRAY_MS_MIN } from '../../src/executor/astray.ts'
import type { GuardedClock } from '../../src/guarded-clock.ts'
import { createMetrics } from '../../src/metrics.ts'
import { processClock } from '../../src/process-clock.ts'
import { ManualClock, rest } from '../tools/manual-clock.ts'
import { Harness, silent } from './harness.ts'

const hourMs = 3_600_000
const never = new Promise<void>(() => {})

/** A worker with a guard, and a broker that says the time whenever it is asked to. */
function worker(handlers: ConstructorParameters<typeof Harness>[0] = {}) {
  const manual = new ManualClock()
  const clock: GuardedClock = processClock({
    ...{ clock: manual, stepMsMax: 2_000, needsProof: false },
    ...{ metrics: createMetrics(), logger: silent },
  })
  const tell = (): void => {
    const sentMs = manual.steadyMs()
    clock.appended({ source: 'broker 1', sentMs, heardMs: sentMs, brokerMs: manual.nowMs() - manual.skewMs })
  }
  tell()
  clock.start(async () => tell())
  return { manual, clock, harness: new Harness(handlers, { clock }, { clock: manual }) }
}

it('nothing that is held starts early when the clock steps ahead, and all of it on time when it is right again', async () => {
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

it.each([hourMs, -hourMs])('a handler is not ended by a step of %i ms, and its heartbeats go on', async (skewMs) => {
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

it('what an owner dispatched long before its time is given back, so that what stands behind it is committed', async () => {
  const { manual, harness } = worker()
  await harness.start()
  harness.put({ jobId: 'astray', dueAt: manual.nowMs() + ASTRAY_MS_MIN + 1 })
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

it('a run that is not tracked stays with its worker however early it came: its owner knows of it no more', async () => {
  const { manual, harness } = worker()
  await harness.start()
  harness.put({ tracked: false, dueAt: manual.nowMs() + hourMs })
  await rest()
  await manual.advance(hourMs - 1)
  expect([harness.events(), harness.starts]).toEqual([[], []])
  await manual.advance(1)
  expect(harness.starts).toHaveLength(1)
  await harness.stop()
})

it.each([hourMs, -hourMs])(
  'a worker that stops waits for its handlers as long as ever when the clock steps by %i ms',
  async (skewMs) => {
    const short = Promise.withResolvers<void>()
    const { manual, harness } = worker({ slow: () => never, short: () => short.promise })
    await harness.start()
    harness.put({ handler: 'slow' })
    harness.put({ handler: 'short', tracked: false }, { partition: 1 })
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
