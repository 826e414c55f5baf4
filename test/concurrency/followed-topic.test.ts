/** A topic that is read to its end for each question, over a log in memory. */
import { expect, test } from 'vitest'
import { FollowedTopic, type FollowedTopicOptions } from '../../src/ground/concurrency/followed-topic.ts'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import type { Batch, GroupReaderOptions, RecordIn } from '../../src/ground/ports/log.ts'
import { ManualClock, VirtualTime } from '../tools/manual-clock.ts'

const record = (partition: number, offset: number): RecordIn => ({
  ...{ topic: 't', partition, offset, timestampMs: 1, key: null, value: null, headers: {} },
})

/** Two partitions; the second has records from offset 5 on. */
function opened(more: Partial<FollowedTopicOptions> = {}) {
  const time = new VirtualTime()
  const ends = [
    { partition: 0, earliest: 0, next: 2 },
    { partition: 1, earliest: 5, next: 7 },
  ]
  const readers: GroupReaderOptions[] = []
  const starts: Promise<void>[] = []
  const taken: string[] = []
  let stops = 0
  const topic = new FollowedTopic({
    log: {
      reader: (options: GroupReaderOptions) => {
        const start = starts[readers.push(options) - 1] ?? Promise.resolve()
        return { start: () => start, stop: async () => void stops++ }
      },
    } as unknown as FollowedTopicOptions['log'],
    admin: { offsets: async () => structuredClone(ends) },
    ...{ topic: 't', groupId: 'g', instance: 'i', clock: new ManualClock(time), caughtUpMs: 5_000, lateText: 'Later.' },
    onBegin: () => void taken.splice(0),
    onRecord: async ({ partition, offset }) => void taken.push(`${partition}/${offset}`),
    ...more,
  })
  const batch = (partition: number, ...offsets: number[]) => {
    const records = offsets.map((offset) => record(partition, offset))
    return readers.at(-1)?.onBatch({ topic: 't', partition, highWatermark: 100, records } as Batch)
  }
  return { time, ends, readers, starts, taken, topic, batch, stops: () => stops }
}

/** Whether a promise has settled when everything else that is ready has run. */
async function hasSettled(work: Promise<unknown>): Promise<boolean> {
  let settled = false
  const settle = (): void => {
    settled = true
  }
  work.then(settle, settle)
  await new Promise(setImmediate)
  return settled
}

test('a question is answered when every partition is read to the end that it had, also past records that compaction removed', async () => {
  const { ends, readers, taken, topic, batch } = opened()
  const first = topic.readToEnd()
  expect(await hasSettled(first)).toBe(false)
  expect(readers[0]?.onAssigned([], 1)?.positions).toEqual([
    { topic: 't', partition: 0, offset: 0 },
    { topic: 't', partition: 1, offset: 5 },
  ])
  await batch(0, 0, 1)
  expect(await hasSettled(first)).toBe(false)
  await batch(1, 5)
  // A batch may come twice.
  await batch(1, 5)
  expect(await hasSettled(first)).toBe(false)
  readers[0]?.onPassed?.({ topic: 't', partition: 1, offset: 7 })
  await first
  expect(taken).toEqual(['0/0', '0/1', '1/5'])
  await topic.readToEnd()
  ends[0] = { partition: 0, earliest: 0, next: 3 }
  const next = topic.readToEnd()
  expect(await hasSettled(next)).toBe(false)
  await batch(0, 2)
  await next
  expect(readers).toHaveLength(1)
})

test('a question is refused when the end is not reached within the limit, and a later one is answered', async () => {
  const { time, topic, batch } = opened()
  const late = topic.readToEnd()
  await hasSettled(late)
  await time.advance(4_999)
  expect(await hasSettled(late)).toBe(false)
  await time.advance(1)
  await expect(late).rejects.toMatchObject({ code: 'not-ready', message: 'Later.' })
  await batch(0, 0, 1)
  await batch(1, 5, 6)
  await topic.readToEnd()
})

test('after a crash the next question reads everything again, from where the user of the topic wants to begin', async () => {
  const { readers, taken, topic, batch } = opened({ startOf: ({ next }, partitions) => next - partitions / 2 })
  const first = topic.readToEnd()
  await hasSettled(first)
  await batch(0, 1)
  await batch(1, 6)
  await first
  readers[0]?.onCrash(new Error('the session is over'))
  const second = topic.readToEnd()
  expect(await hasSettled(second)).toBe(false)
  expect([readers.length, taken]).toEqual([2, []])
  expect(readers[1]?.onAssigned([], 1)?.positions?.map(({ offset }) => offset)).toEqual([1, 6])
  await batch(0, 1)
  await batch(1, 6)
  await second
  expect(taken).toEqual(['0/1', '1/6'])
})

test('a batch that still waits when its reader is lost moves nothing past what the next reader has read', async () => {
  const waiting = Promise.withResolvers<void>()
  const calls: string[] = []
  const onRecord = async ({ partition, offset }: RecordIn): Promise<void> => {
    if (calls.push(`${partition}/${offset}`) === 1) await waiting.promise
  }
  const { readers, topic, batch } = opened({ onRecord })
  void topic.readToEnd().catch(() => {})
  await hasSettled(Promise.resolve())
  const late = batch(0, 1)
  readers[0]?.onCrash(new Error('the session is over'))
  const second = topic.readToEnd()
  await hasSettled(second)
  waiting.resolve()
  await late
  readers[0]?.onPassed?.({ topic: 't', partition: 0, offset: 9 })
  readers[0]?.onCrash(new Error('once more'))
  await batch(1, 5, 6)
  expect(await hasSettled(second)).toBe(false)
  await batch(0, 0, 1)
  await second
  expect(calls).toEqual(['0/1', '1/5', '1/6', '0/0', '0/1'])
  expect(await hasSettled(topic.readToEnd())).toBe(true)
  expect(readers).toHaveLength(2)
})

test('a reader that cannot start is started again by the next question, and none is started after the stop', async () => {
  const { readers, starts, topic, batch, stops } = opened()
  starts.push(Promise.reject(new DuelogError('not-ready', 'no broker')))
  await expect(topic.readToEnd()).rejects.toThrow('no broker')
  const second = topic.readToEnd()
  await hasSettled(second)
  await batch(0, 0, 1)
  await batch(1, 5, 6)
  await second
  await topic.stop()
  expect([readers.length, stops()]).toEqual([2, 1])
  const stopped = opened()
  await stopped.topic.stop()
  await expect(stopped.topic.readToEnd()).rejects.toMatchObject({ code: 'not-ready' })
  expect(stopped.readers).toEqual([])
})
