/** Where a lane of foreign schedules begins to read when the position of its group is not one of its log. */
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { IntakeOptions } from '../../src/intake/options.ts'
import { SourceLane } from '../../src/intake/source-lane.ts'
import { createMetrics } from '../../src/metrics.ts'
import type { GroupReader } from '../../src/ports.ts'
import { topicNames } from '../../streams/topics.ts'
import { ManualClock } from '../tools/manual-clock.ts'

test.each([
  ['lies in the log', 5, 5, undefined],
  ['lies beyond its end', 50, 2, 'beyond-end'],
  ['was overtaken by retention', 1, 2, 'expired'],
] as const)('a position that %s', async (_, committed, begins, reason) => {
  const metrics = createMetrics()
  const sought: number[] = []
  const reader = {
    nextHeartbeat: async () => {},
    isMember: true,
    seek: ({ offset }: { offset: number }) => sought.push(offset),
    resume: () => {},
    pause: () => {},
  } as unknown as GroupReader
  const log = {
    transactionalWriter: async () => ({ commit: async () => new Map(), close: async () => {} }),
    admin: async () => ({
      committed: async () => [{ partition: 0, offset: committed }],
      offsets: async () => [{ partition: 0, earliest: 2, next: 9 }],
      close: async () => {},
    }),
  }
  const shared = {
    log,
    names: topicNames('t.'),
    prefix: 't.',
    metrics,
    clock: new ManualClock(),
    logger: pino({ level: 'silent' }),
  }
  const lane = new SourceLane(shared as unknown as IntakeOptions, reader, 'etf1', 'schedules', 0)
  await lane.claim()
  expect(sought).toEqual([begins])
  const { values } = await metrics.positionsReset.get()
  expect(values.map(({ labels }) => labels)).toEqual(reason === undefined ? [] : [{ topic: 'schedules', reason }])
  await lane.end()
})
