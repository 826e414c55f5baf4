/** A planned stop leaves nothing behind. The stops themselves are in planned-stops.test.ts. */

import { pino } from 'pino'
import { expect, it } from 'vitest'
import { HandOver, handOverMsMax } from '../../src/scheduler/hand-over.ts'
import { ManualClock, rest } from '../tools/manual-clock.ts'

it('no timer waits after it, whether the partitions were taken over at once, late or never', async () => {
  for (const takenAfterMs of [0, 3_000, undefined]) {
    const clock = new ManualClock()
    let leaving = takenAfterMs === 0 ? [] : [4]
    const handOver = new HandOver({ clock, logger: pino({ level: 'silent' }) as never }, () => leaving)
    const ended = handOver.run({ rejoin: async () => {} })
    await clock.advance(takenAfterMs ?? 0)
    if (takenAfterMs !== undefined) {
      leaving = []
      handOver.check()
      await rest()
    }
    // The time limit, or the time in which its successors read.
    if (takenAfterMs !== 0) await clock.advance(takenAfterMs === undefined ? handOverMsMax : 2_000)
    await ended
    expect(clock.armed).toBe(0)
  }
})
