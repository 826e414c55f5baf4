/**
 * The watermark of reports moves in bounded time wherever reports can be read, asks only the necessary questions, and never
 * covers a report that was not read.
 */
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { Range } from '../../../src/scheduler/input/end-offsets.ts'
import { EventsWatermark } from '../../../src/scheduler/input/events-watermark.ts'
import type { Timer } from '../../../streams/state/keys.ts'
import { timerKind } from '../../../streams/state/keys.ts'

const beganAt = 1_800_000_000_000

/** A watermark of a partition that has read and applied its reports up to `appliedThen`. The test answers its questions. */
function site(appliedThen: number) {
  const now = { wallMs: beganAt, steadyMs: 0 }
  let appliedTo = appliedThen
  const asked: PromiseWithResolvers<Range>[] = []
  let nudges = 0
  const watermark = new EventsWatermark({
    partition: 0,
    shared: {
      clock: { nowMs: () => now.wallMs, steadyMs: () => now.steadyMs, at: () => () => undefined },
      logger: pino({ level: 'silent' }),
      names: { events: 'execution-events' },
    },
    resources: {
      ends: {
        events: {
          ask: () => {
            const question = Promise.withResolvers<Range>()
            asked.push(question)
            return question.promise
          },
        },
      },
    },
    partitionReader: { nudge: () => void nudges++, next: () => appliedTo },
    signal: { wake: () => undefined },
    positions: { hasApplied: (_, end) => appliedTo >= end },
  })
  const pass = (ms: number): void => {
    now.wallMs += ms
    now.steadyMs += ms
  }
  const answer = async (range: Range): Promise<void> => {
    asked.at(-1)?.resolve(range)
    await new Promise(setImmediate)
  }
  const fail = async (): Promise<void> => {
    asked.at(-1)?.reject(new Error('no answer'))
    await new Promise(setImmediate)
  }
  const applyBatch = (end: number): void => {
    appliedTo = end
  }
  return { watermark, now, asked, pass, answer, fail, applyBatch, nudges: () => nudges }
}

const lease: Timer = { dueAt: beganAt, kind: timerKind.lease, jobId: 'j', runNo: 1 }

test('reports that expired before they were read keep no attempt alive', async () => {
  const { watermark, answer, pass } = site(300)
  watermark.hold([{ timer: lease, untilMs: beganAt }])
  expect(watermark.released()).toEqual([])
  await answer({ earliest: 500, next: 500 })
  pass(1)
  expect(watermark.released()).toEqual([lease])
})

test('a log that ends before the read position covers nothing: it is another one', async () => {
  const { watermark, answer, pass } = site(300)
  watermark.hold([{ timer: lease, untilMs: beganAt }])
  watermark.released()
  await answer({ earliest: 0, next: 3 })
  pass(1)
  expect(() => watermark.released()).toThrow(/ends at 3 and was read up to 300/)
  expect(watermark.readUntil).toBe(0)
})

test('the brokers are not asked for a future time', async () => {
  const { watermark, asked, pass } = site(300)
  // Held before the clock was set back.
  watermark.hold([{ timer: lease, untilMs: beganAt + 60_000 }])
  for (let times = 0; times < 10; times++) {
    expect(watermark.released()).toEqual([])
    pass(1)
  }
  expect(asked).toHaveLength(0)
  expect(watermark.wakeAtMs).toBe(beganAt + 60_000)
  pass(60_000)
  watermark.released()
  expect(asked).toHaveLength(1)
})

test('a failed answer, or one during a wrong clock, is requested again a second later, and then two seconds later', async () => {
  const { watermark, now, asked, pass, fail, answer, nudges } = site(300)
  watermark.hold([{ timer: lease, untilMs: beganAt }])
  watermark.released()
  now.wallMs += 86_400_000
  await fail()
  now.wallMs -= 86_400_000
  pass(1_000)
  expect(watermark.wakeAtMs).toBeLessThanOrEqual(now.wallMs)
  watermark.released()
  expect(asked).toHaveLength(2)
  now.wallMs += 86_400_000
  await answer({ earliest: 0, next: 400 })
  now.wallMs -= 86_400_000
  pass(2_000)
  expect(watermark.wakeAtMs).toBeLessThanOrEqual(now.wallMs)
  watermark.released()
  expect(nudges()).toBe(1)
})

test('an answer covers what was durable when it was requested, after all of it is applied', async () => {
  const { watermark, asked, answer, pass, applyBatch } = site(300)
  const later: Timer = { ...lease, runNo: 2 }
  watermark.hold([
    { timer: lease, untilMs: beganAt },
    { timer: later, untilMs: beganAt + 500 },
  ])
  watermark.released()
  pass(1_000)
  await answer({ earliest: 0, next: 310 })
  applyBatch(309)
  expect(watermark.released()).toEqual([])
  applyBatch(310)
  expect(watermark.released()).toEqual([lease])
  expect(watermark.readUntil).toBe(beganAt)
  // A new question asks for the reports since then.
  expect(asked).toHaveLength(2)
  await answer({ earliest: 0, next: 310 })
  expect(watermark.released()).toEqual([later])
  expect(watermark.readUntil).toBe(beganAt + 1_000)
  expect(watermark.depth).toBe(0)
})

test('a reading of a clock that was ahead covers nothing of the present', async () => {
  const { watermark, now, asked, answer, pass } = site(300)
  now.wallMs += 3_600_000
  watermark.hold([{ timer: lease, untilMs: beganAt }])
  watermark.released()
  await answer({ earliest: 0, next: 300 })
  expect(watermark.released()).toEqual([lease])
  now.wallMs -= 3_600_000
  pass(60_000)
  const next: Timer = { ...lease, runNo: 2 }
  watermark.hold([{ timer: next, untilMs: beganAt + 30_000 }])
  expect(watermark.released()).toEqual([])
  expect(asked).toHaveLength(2)
  await answer({ earliest: 0, next: 300 })
  expect(watermark.released()).toEqual([next])
})
