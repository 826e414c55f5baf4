/** What a worker tells with the offsets that it commits: which of the runs that it has taken wait for no worker. */
import { describe, expect, it } from 'vitest'
import type { Run } from '../../../src/worker/executor/handlers/handler.ts'
import { rest } from '../../tools/manual-clock.ts'
import { Harness } from '../harness.ts'

/** A batch handler of 30 s and 10 runs, whose calls end when the test says so, and a handler of single runs of the same kind. */
async function place(concurrency = 4) {
  const calls: (() => void)[] = []
  const work = (): Promise<void> => new Promise((resolve) => calls.push(resolve))
  const handlers = {
    bulk: { batch: { maxSize: 10, maxWaitMs: 30_000 }, run: (_: readonly Run[]) => work() },
    slow: work,
  }
  const harness = await new Harness(handlers, { concurrency }).start()
  const { clock, log } = harness
  const begunMs = clock.nowMs()
  /** In seconds from the start, so that a time can be read. */
  const told = () => {
    const text = log.metadata.get(`test.exec.default ${harness.topic()}/0`)
    if (text === undefined) return undefined
    const { until, ...more } = JSON.parse(text)
    if ('closedUntil' in more) return 'closed'
    return { ...more, untilS: (until - begunMs) / 1_000 }
  }
  const put = async (handler: string, count: number) => {
    for (let n = 0; n < count; n++) harness.put({ jobId: `${handler}-${n}`, handler })
    await rest()
  }
  const seconds = async (count: number) => {
    for (let n = 0; n < count; n++) await clock.advance(1_000)
  }
  const finish = async () => {
    for (const end of calls.splice(0)) end()
    await rest()
  }
  return { harness, told, put, seconds, finish }
}

const nothing = { waiting: 0, sharing: 0 }

describe('a batch that gathers', () => {
  it('holds back what has come to it, also what is done after it, but not what waits for a slot', async () => {
    const { harness, told, put, seconds, finish } = await place(1)
    await put('bulk', 2)
    await put('noop', 1)
    await seconds(1)
    expect([harness.committed(), told()]).toEqual([0, { reach: 3, ...nothing, untilS: 16 }])
    await put('slow', 3)
    await seconds(1)
    expect([harness.committed(), told()]).toEqual([0, { reach: 6, ...nothing, waiting: 2, untilS: 17 }])
    await finish()
    await harness.stop()
  })

  it('is told again every 5 s, and at its end what is left waits', async () => {
    const { harness, told, put, seconds, finish } = await place(1)
    await put('slow', 1)
    await put('bulk', 2)
    await seconds(1)
    expect(told()).toMatchObject({ reach: 3, waiting: 0, untilS: 16 })
    await seconds(4)
    expect(told()).toMatchObject({ untilS: 16 })
    await seconds(1)
    expect(told()).toMatchObject({ untilS: 21 })
    // The only slot is taken when the batch would start.
    await seconds(23)
    expect([harness.committed(), told()]).toEqual([1, { reach: 3, ...nothing, untilS: 41 }])
    await seconds(2)
    expect([harness.committed(), told()]).toEqual([1, undefined])
    await finish()
    await seconds(1)
    expect(harness.committed()).toBe(3)
    await finish()
    await harness.stop()
  })

  it('is no longer told of a partition that goes to another worker', async () => {
    const { harness, told, put, seconds } = await place()
    await put('bulk', 2)
    await seconds(1)
    expect(told()).toMatchObject({ reach: 2 })
    const moved = harness.reader.revoke([{ topic: harness.topic(), partition: 0 }])
    await rest()
    await moved
    expect([harness.committed(), told()]).toEqual([0, 'closed'])
    await seconds(10)
    expect(told()).toBe('closed')
    await harness.stop()
  })
})

it('a batch at work is told by the worker that reads its partition, and not by the one that has lost it', async () => {
  const { harness, told, put, seconds, finish } = await place()
  await put('bulk', 10)
  await seconds(1)
  expect(told()).toMatchObject({ sharing: 9 })
  await harness.reader.revoke([{ topic: harness.topic(), partition: 0 }])
  expect([harness.committed(), told()]).toEqual([10, 'closed'])
  await finish()
  await harness.stop()
})

it('a batch at work has one slot for all its runs until it returns', async () => {
  const { harness, told, put, seconds, finish } = await place()
  await put('bulk', 10)
  await put('slow', 2)
  await seconds(1)
  expect([harness.committed(), told()]).toEqual([12, { reach: 12, ...nothing, sharing: 9, untilS: 16 }])
  await seconds(30)
  expect(told()).toMatchObject({ sharing: 9, untilS: 46 })
  await finish()
  await seconds(1)
  expect([harness.committed(), told()]).toEqual([12, undefined])
  await harness.stop()
})

it('runs that are accepted are not told', async () => {
  const { harness, told, put, seconds, finish } = await place()
  const { armed } = harness.clock
  await put('slow', 1)
  await put('noop', 3)
  await seconds(1)
  expect([harness.committed(), told()]).toEqual([4, undefined])
  await finish()
  // When the time limits of the handlers are over, nothing is looked at any more.
  await harness.clock.advance(300_000)
  expect(harness.clock.armed).toBe(armed)
  await harness.stop()
})
