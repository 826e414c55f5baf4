/** The guard and its questions: which answers may end a stop. */
import { expect, it } from 'vitest'
import { GuardedClock } from '../../src/ground/clock/guarded-clock.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { ManualClock } from '../tools/manual-clock.ts'

const hourMs = 3_600_000
const silent = { warn() {}, error() {}, info() {}, debug() {} }

it.each([0, hourMs])(
  'of brokers that are asked the first to answer does not speak for the others; wrong by %i ms at the start',
  async (startMs) => {
    const manual = new ManualClock()
    manual.skewMs = startMs
    const clock = new GuardedClock({
      clock: manual,
      stepMsMax: 2_000,
      needsProof: true,
      metrics: newMetrics(),
      logger: silent,
    })
    // The one on our machine has our clock.
    const skews = { 'broker 1': () => manual.skewMs, 'broker 2': () => 0, 'broker 3': () => 0 }
    const trusted: number[] = []
    let questions = 0
    clock.start(async () => {
      questions++
      for (const [source, skewMs] of Object.entries(skews)) {
        const sentMs = manual.steadyMs()
        clock.appended({ source, sentMs, receivedMs: sentMs, brokerMs: manual.nowMs() - manual.skewMs + skewMs() })
        if (manual.skewMs !== 0 && clock.trustedMs() !== undefined) trusted.push(questions)
        await null
      }
    })
    await manual.advance(1_000)
    expect(clock.trustedMs() !== undefined).toBe(startMs === 0)
    manual.skewMs = hourMs
    await manual.advance(60_000)
    expect([clock.trustedMs(), trusted]).toEqual([undefined, []])
    expect(questions).toBeGreaterThan(5)
    manual.skewMs = 0
    await manual.advance(1_000)
    expect(clock.trustedMs()).toBeDefined()
    clock.stop()
  },
)

it('a question that nobody answers keeps a clock that was set right no longer than its time', async () => {
  const manual = new ManualClock()
  const clock = new GuardedClock({ clock: manual, stepMsMax: 2_000, needsProof: true, metrics: newMetrics(), logger: silent })
  const say = (): void => {
    const sentMs = manual.steadyMs()
    clock.appended({ source: 'broker 1', sentMs, receivedMs: sentMs, brokerMs: manual.nowMs() - manual.skewMs })
  }
  let answers = true
  clock.start(() => (answers ? Promise.resolve(say()) : new Promise(() => {})))
  await manual.advance(1_000)
  expect(clock.trustedMs()).toBeDefined()
  answers = false
  manual.skewMs = hourMs
  await manual.advance(5_000)
  manual.skewMs = 0
  expect(clock.trustedMs()).toBeUndefined()
  await manual.advance(25_000)
  expect(clock.trustedMs()).toBeDefined()
  clock.stop()
})
