/**
 * Where a lane of foreign schedules starts to read when the group's position is not in the log, and what an ended lane leaves
 * alone.
 */
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import type { FenceOptions, GroupReader } from '../../src/ground/ports/log.ts'
import type { IntakeOptions } from '../../src/worker/intake/options.ts'
import { SourceLane } from '../../src/worker/intake/source-lane.ts'
import { topicNames } from '../../streams/topics/topics.ts'
import { ManualClock, rest } from '../tools/manual-clock.ts'

test('a lane that has ended does not pause the partition of the lane that replaced it', async () => {
  const paused = new Set<string>()
  const reader = {
    nextHeartbeat: async () => {},
    isMember: true,
    seek: () => {},
    resume: () => paused.clear(),
    pause: () => paused.add('schedules/0'),
  } as unknown as GroupReader
  const commits: PromiseWithResolvers<Map<string, number>>[] = []
  const log = {
    transactionalWriter: async () => ({
      commit: () => {
        commits.push(Promise.withResolvers())
        return commits.at(-1)?.promise
      },
      close: async () => {},
    }),
    admin: async () => ({ committed: async () => [], offsets: async () => [], close: async () => {} }),
  }
  const clock = new ManualClock()
  const shared = {
    log,
    names: topicNames('t.'),
    prefix: 't.',
    metrics: newMetrics(),
    clock,
    logger: pino({ level: 'silent' }),
  }
  const laneOf = () => new SourceLane(shared as unknown as IntakeOptions, reader, 'etf1', 'schedules', 0)
  const nonsense = { topic: 'schedules', partition: 0, offset: 0, timestampMs: 0, key: null, value: null, headers: {} }
  const batch = { topic: 'schedules', partition: 0, records: [nonsense], highWatermark: 1 }
  const former = laneOf()
  await former.claim()
  const taken = former.receive(batch)
  await rest()
  // The group revokes the partition and assigns it again during a commit.
  const ended = former.end()
  const next = laneOf()
  await next.claim()
  commits[0]?.reject(new Error('fenced'))
  await Promise.all([taken, ended])
  expect([...paused]).toEqual([])
  await next.end()
})

test.each([
  ['lies in the log', 5, 5, undefined],
  ['lies beyond its end', 50, 2, 'beyond-end'],
  ['was overtaken by retention', 1, 2, 'expired'],
] as const)('a position that %s', async (_, committed, begins, reason) => {
  const metrics = newMetrics()
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

test('each transaction contains the position it has translated up to, and at most 500 records and 4 MB', async () => {
  const commits: { groupId: string; positions: { offset: number }[] }[] = []
  const reader = {
    ...{ nextHeartbeat: async () => {}, isMember: true, seek: () => {}, resume: () => {}, pause: () => {} },
  } as unknown as GroupReader
  const log = {
    transactionalWriter: async () => ({
      commit: async (_: unknown, ends: { groupId: string; positions: { offset: number }[] }) => {
        commits.push(ends)
        return new Map()
      },
      close: async () => {},
    }),
    admin: async () => ({ committed: async () => [], offsets: async () => [], close: async () => {} }),
  }
  const logger = pino({ level: 'silent' })
  const names = topicNames('t.')
  const shared = { log, names, prefix: 't.', metrics: newMetrics(), clock: new ManualClock(), logger }
  const lane = new SourceLane(shared as unknown as IntakeOptions, reader, 'etf1', 'schedules', 0)
  await lane.claim()
  const nonsense = (from: number, count: number, bytes: number) =>
    Array.from({ length: count }, (_, index) => {
      const place = { topic: 'schedules', partition: 0, offset: from + index, timestampMs: 0 }
      return { ...place, key: null, value: Buffer.alloc(bytes), headers: {} }
    })
  const batch = (records: ReturnType<typeof nonsense>) => ({ topic: 'schedules', partition: 0, records, highWatermark: 2_000 })
  await lane.receive(batch(nonsense(0, 10, 1024 * 1024)))
  await lane.receive(batch(nonsense(10, 1_001, 10)))
  expect(commits.map(({ positions }) => positions)).toEqual(
    [4, 8, 10, 510, 1_010, 1_011].map((offset) => [{ topic: 'schedules', partition: 0, offset }]),
  )
  expect(new Set(commits.map(({ groupId }) => groupId))).toEqual(new Set([names.group('intake')]))
  await lane.end()
})

test('the position passes hidden records after all records before them are translated', async () => {
  const offsets: number[] = []
  const reader = {
    ...{ nextHeartbeat: async () => {}, isMember: true, seek: () => {}, resume: () => {}, pause: () => {} },
  } as unknown as GroupReader
  const log = {
    transactionalWriter: async () => ({
      commit: async (_: unknown, { positions }: { positions: { offset: number }[] }) => {
        offsets.push(...positions.map(({ offset }) => offset))
        return new Map()
      },
      close: async () => {},
    }),
    admin: async () => ({ committed: async () => [], offsets: async () => [], close: async () => {} }),
  }
  const logger = pino({ level: 'silent' })
  const shared = { log, names: topicNames('t.'), prefix: 't.', metrics: newMetrics(), clock: new ManualClock(), logger }
  const lane = new SourceLane(shared as unknown as IntakeOptions, reader, 'etf1', 'schedules', 0)
  await lane.passed(1)
  await lane.claim()
  const nonsense = { topic: 'schedules', partition: 0, offset: 4, timestampMs: 0, key: null, value: null, headers: {} }
  await lane.receive({ topic: 'schedules', partition: 0, records: [nonsense], highWatermark: 9, next: 6 })
  for (const next of [6, 5, 9]) await lane.passed(next)
  expect([offsets, lane.next]).toEqual([[6, 9], 9])
  await lane.end()
  await lane.passed(12)
  expect(offsets).toEqual([6, 9])
})

test('a lane connects before it fences, after its next heartbeat, and does not fence a partition that it lost meanwhile', async () => {
  const heartbeats: (() => void)[] = []
  const reader = {
    ...{ isMember: true, seek: () => {}, resume: () => {}, pause: () => {} },
    nextHeartbeat: () => new Promise<void>((resolve) => heartbeats.push(resolve)),
  } as unknown as GroupReader
  const did: string[] = []
  const log = {
    transactionalWriter: async (_: string, { mayFence }: FenceOptions = {}) => {
      did.push('connected')
      await mayFence?.()
      did.push('fenced')
      return { commit: async () => new Map(), close: async () => {} }
    },
    admin: async () => ({ committed: async () => [], offsets: async () => [], close: async () => {} }),
  }
  const shared = {
    ...{ log, names: topicNames('t.'), prefix: 't.', metrics: newMetrics(), clock: new ManualClock() },
    logger: pino({ level: 'silent' }),
  }
  const laneOf = () => new SourceLane(shared as unknown as IntakeOptions, reader, 'etf1', 'schedules', 0)
  const kept = laneOf()
  const claimed = kept.claim()
  await rest()
  expect(did).toEqual(['connected'])
  heartbeats.shift()?.()
  await claimed
  expect(did).toEqual(['connected', 'fenced'])
  await kept.end()

  const lost = laneOf()
  const claiming = lost.claim()
  await rest()
  const ended = lost.end()
  heartbeats.shift()?.()
  await Promise.all([claiming, ended])
  expect(did).toEqual(['connected', 'fenced', 'connected'])
})
