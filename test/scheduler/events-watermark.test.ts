/** When the end of execution-events is asked for, and when not. */
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { EventsWatermark } from '../../src/scheduler/events-watermark.ts'
import { timerKind } from '../../streams/keys.ts'
import { rest } from '../tools/manual-clock.ts'

test('a clock that was set back behind what waits makes no question until it is there again', async () => {
  let nowMs = 5_000
  let asked = 0
  const reports = new EventsWatermark({
    partition: 0,
    shared: {
      clock: { nowMs: () => nowMs, steadyMs: () => nowMs, at: () => () => undefined },
      logger: pino({ level: 'silent' }),
    },
    shares: {
      eventEnds: {
        ask: async () => {
          asked++
          return { earliest: 0, next: 0 }
        },
      },
    },
    feed: { nudge: () => undefined },
    signal: { wake: () => undefined },
    hasFolded: () => true,
  })
  const timer = { dueAt: 5_000, kind: timerKind.lease, jobId: 'j', runNo: 1 }
  reports.hold([
    { timer, untilMs: 5_000 },
    { timer: { ...timer, runNo: 2 }, untilMs: 6_000 },
  ])
  nowMs = 1_000
  for (let look = 0; look < 5; look++) {
    expect(reports.look()).toEqual([])
    await rest()
  }
  expect(asked).toBe(0)
  expect(reports.wakeAtMs).toBe(5_000)
  nowMs = 5_000
  expect(reports.look()).toEqual([])
  await rest()
  expect(reports.look()).toEqual([timer])
  expect(asked).toBe(1)
  expect(reports.wakeAtMs).toBe(6_000)
})
