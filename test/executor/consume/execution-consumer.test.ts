import { describe, expect, it } from 'vitest'
import { DuelogError } from '../../../src/ground/errors/errors.ts'
import { aheadMarginMs, takenPerMs } from '../../../src/worker/executor/consume/ahead-window.ts'
import { heldBytesMax } from '../../../src/worker/executor/consume/prefetch-limit.ts'
import { pendingBytesMax } from '../../../src/worker/executor/report/report-sender.ts'
import { runningBytesMax } from '../../../src/worker/executor/run/handler-calls.ts'
import { rest } from '../../tools/manual-clock.ts'
import { codecs, executionOf, Harness, names } from '../harness.ts'

const never = () => new Promise<never>(() => {})
const place = (topic: string, partition: number) => `${topic}/${partition}`

describe('the prefetch', () => {
  it('pauses a lane that has all that may be held, lets other priorities pass, and resumes it below half', async () => {
    const harness = await new Harness().start()
    const dueAt = harness.clock.nowMs() + 1_000
    const payload = Buffer.alloc(100_000)
    for (let runNo = 1; runNo <= 400; runNo++) {
      harness.put({ jobId: 'far', runNo, payload, dueAt })
      if (runNo % 50 === 0) await rest()
    }
    const closed = place(harness.topic(), 0)
    expect(harness.reader.pausedPlaces()).toEqual([closed])
    const { held } = harness.executor.current()
    expect(held).toBeLessThan(400)
    harness.put({ jobId: 'urgent' }, { priority: 'LOW' })
    harness.put({ jobId: 'other' }, { partition: 1 })
    await rest()
    expect(harness.starts.map(({ jobId }) => jobId).sort()).toEqual(['other', 'urgent'])
    harness.put({ jobId: 'urgent', runNo: 2 }, { priority: 'LOW' })
    await rest()
    expect(harness.starts).toHaveLength(3)
    await harness.clock.advance(5_000)
    expect(harness.reader.pausedPlaces()).toEqual([])
    expect(harness.events(0).filter(({ jobId }) => jobId === 'far')).toHaveLength(400)
    expect(harness.committed()).toBe(400)
    await harness.stop()
  })

  it('shares what may be held among the lanes that hold something', async () => {
    const payload = Buffer.alloc(100_000)
    const harness = await new Harness().start()
    const dueAt = harness.clock.nowMs() + 1_000
    const heldBytes = () => harness.executor.current().held * payload.length
    for (let runNo = 1; runNo <= 300; runNo++) harness.put({ jobId: 'alone', runNo, payload, dueAt })
    await rest()
    // One lane of twelve may hold nearly all.
    expect(heldBytes()).toBe(300 * payload.length)
    for (const priority of ['HIGH', 'LOW'] as const)
      for (let runNo = 1; runNo <= 300; runNo++) {
        harness.put({ jobId: priority, runNo, payload, dueAt }, { priority, partition: 1 })
        if (runNo % 50 === 0) await rest()
      }
    expect(harness.reader.pausedPlaces()).toHaveLength(2)
    expect(heldBytes()).toBeLessThan(1.5 * heldBytesMax)
    await harness.clock.advance(5_000)
    expect(harness.events()).toHaveLength(900)
    // They have left their shares.
    const later = harness.clock.nowMs() + 1_000
    for (let runNo = 301; runNo <= 600; runNo++) harness.put({ jobId: 'alone', runNo, payload, dueAt: later })
    await rest()
    expect(heldBytes()).toBe(300 * payload.length)
    expect(harness.reader.pausedPlaces()).toEqual([])
    await harness.stop()
  })

  it('starts nothing more while too many reports wait for the broker', async () => {
    const harness = await new Harness().start()
    harness.log.refusal = new Error('the broker is away')
    for (let runNo = 1; runNo <= 15_000; runNo++) harness.put({ runNo }, { partition: runNo % 2 })
    for (let turns = 0; turns < 20; turns++) await rest()
    expect(harness.executor.current().reportsPending).toBe(10_000)
    expect(harness.starts).toHaveLength(10_000)
    harness.log.refusal = undefined
    await harness.clock.advance(10_000)
    expect(harness.events()).toHaveLength(15_000)
    await harness.stop()
  })

  it('limits the bytes of parallel runs, and runs all in the end', async () => {
    const payload = Buffer.alloc(1_000_000)
    const ends: (() => void)[] = []
    const handler = () => new Promise<void>((resolve) => ends.push(resolve))
    const harness = await new Harness({ slow: handler }, { concurrency: 1_000 }).start()
    for (let runNo = 1; runNo <= 200; runNo++) harness.put({ runNo, payload, handler: 'slow' }, { partition: runNo % 2 })
    // The broker acknowledges that they have started.
    for (let turns = 0; turns < 5; turns++) await harness.clock.advance(100)
    const running = harness.executor.current().running.length
    expect(running * payload.length).toBeGreaterThanOrEqual(runningBytesMax)
    expect(running * payload.length).toBeLessThanOrEqual(runningBytesMax + 2 * payload.length)
    for (let done = 0; done < 200; ) {
      await harness.clock.advance(100)
      done += ends.splice(0).map((end) => end()).length
    }
    await harness.clock.advance(1_000)
    expect(harness.events().filter(({ type }) => type === 'SUCCEEDED')).toHaveLength(200)
    await harness.stop()
  })

  it('starts nothing more while too many bytes of reports wait for the broker', async () => {
    const payload = Buffer.alloc(1_000_000)
    const harness = await new Harness().start()
    harness.log.refusal = new Error('the broker is away')
    for (let runNo = 1; runNo <= 100; runNo++) harness.put({ runNo, payload }, { partition: runNo % 2 })
    for (let turns = 0; turns < 20; turns++) await rest()
    expect(harness.starts.length * payload.length).toBeLessThanOrEqual(pendingBytesMax + 2 * payload.length)
    harness.log.refusal = undefined
    await harness.clock.advance(10_000)
    expect(harness.events()).toHaveLength(100)
    await harness.stop()
  })
})

describe('a registry that is unreachable', () => {
  it('makes the lane retry later; nothing is passed over and nothing runs twice', async () => {
    let away = true
    const execution = {
      encode: codecs.execution.encode,
      decode: async (bytes: Buffer) => {
        const decoded = await codecs.execution.decode(bytes)
        if (away && decoded.jobId === 'unknown') throw new DuelogError('registry-unavailable', 'nobody answers')
        return decoded
      },
    }
    const harness = await new Harness({}, { codecs: { ...codecs, execution } }).start()
    for (const jobId of ['a', 'unknown', 'b']) harness.put({ jobId })
    harness.put({ jobId: 'elsewhere' }, { partition: 1 })
    await rest()
    await harness.clock.advance(3_500)
    expect(harness.starts.map(({ jobId }) => jobId).sort()).toEqual(['a', 'elsewhere'])
    expect(harness.committed()).toBe(1)
    away = false
    await harness.clock.advance(3_000)
    expect(harness.starts.map(({ jobId }) => jobId).slice(2)).toEqual(['unknown', 'b'])
    expect(harness.committed()).toBe(3)
    await harness.stop()
  })
})

describe('the ahead topics', () => {
  it('leave a burst in the log until shortly before it is due, and start it on time', async () => {
    const leadMs = 100
    const harness = await new Harness({}, { leadMs }).start()
    const dueAt = harness.clock.nowMs() + 10_000
    for (let runNo = 1; runNo <= 3_000; runNo++) harness.put({ jobId: 'herd', runNo, dueAt }, { ahead: true })
    await rest()
    expect(harness.executor.current().held).toBe(0)
    expect(harness.reader.pausedPlaces()).toEqual([place(harness.topic({ ahead: true }), 0)])
    harness.put({ jobId: 'now' })
    await rest()
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['now'])
    const takingMs = leadMs + aheadMarginMs + 3_000 / takenPerMs
    await harness.clock.advance(10_000 - takingMs - 1)
    expect(harness.executor.current().held).toBe(0)
    await harness.clock.advance(1)
    expect(harness.executor.current().held).toBe(3_000)
    await harness.clock.advance(takingMs - 1)
    expect(harness.starts).toHaveLength(1)
    await harness.clock.advance(1)
    for (let turns = 0; turns < 5; turns++) await rest()
    expect(harness.starts).toHaveLength(3_001)
    expect(harness.starts.every(({ jobId, atMs }) => jobId === 'now' || atMs === dueAt)).toBe(true)
    await harness.stop()
  })

  it('deliver the first run of a batch and leave the rest', async () => {
    const harness = await new Harness().start()
    const now = harness.clock.nowMs()
    harness.put({ jobId: 'soon', dueAt: now + 50 }, { ahead: true })
    harness.put({ jobId: 'later', dueAt: now + 5_000 }, { ahead: true })
    await rest()
    expect(harness.executor.current().held).toBe(1)
    await harness.clock.advance(5_000)
    expect(harness.starts).toEqual([
      { jobId: 'soon', atMs: now + 50 },
      { jobId: 'later', atMs: now + 5_000 },
    ])
    await harness.clock.advance(2_000)
    expect(harness.committed({ ahead: true })).toBe(2)
    await harness.stop()
  })
})

describe('a rebalance', () => {
  const lanes = (harness: Harness, partitions: number[]) =>
    harness.reader.options.topics.flatMap((topic) => partitions.map((partition) => ({ topic, partition })))

  it('drops unstarted runs of a lost partition and continues with the rest', async () => {
    const harness = await new Harness({ never }).start()
    const dueAt = harness.clock.nowMs() + 500
    harness.put({ jobId: 'lost', dueAt }, { partition: 0 })
    harness.put({ jobId: 'kept', dueAt }, { partition: 1 })
    harness.put({ jobId: 'running', handler: 'never' }, { partition: 0 })
    await rest()
    expect(harness.reader.delivered).toBe(3)
    harness.reader.assign(lanes(harness, [1]))
    await rest()
    await harness.clock.advance(2_000)
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['running', 'kept'])
    expect(harness.events(0).map(({ type }) => type)).toEqual(['STARTED'])
    expect(harness.reader.delivered).toBe(3)
    expect(harness.committed({ partition: 0 })).toBeUndefined()
    expect(harness.committed({ partition: 1 })).toBe(1)
    await harness.stop()
  })

  it('continues kept partitions at their position, and keeps waiting lanes of ahead topics paused', async () => {
    const harness = await new Harness().start()
    const now = harness.clock.nowMs()
    harness.put({ jobId: 'a', dueAt: now + 500 })
    harness.put({ jobId: 'far', dueAt: now + 5_000 }, { ahead: true })
    await rest()
    const { delivered } = harness.reader
    harness.reader.assign(lanes(harness, [0, 1]))
    await rest()
    expect(harness.reader.delivered).toBe(delivered)
    await harness.clock.advance(6_000)
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['a', 'far'])
    await harness.stop()
  })

  it('does not start a running attempt again when a partition comes back before its offset was committed', async () => {
    const harness = await new Harness({ never }).start()
    harness.reader.commitRefusal = new Error('not now')
    harness.put({ jobId: 'running', handler: 'never' })
    harness.put({ jobId: 'done' })
    harness.put({ jobId: 'held', dueAt: harness.clock.nowMs() + 5_000 })
    await rest()
    await harness.clock.advance(100)
    harness.reader.assign(lanes(harness, [1]))
    await rest()
    harness.reader.assign(lanes(harness, [0, 1]))
    await rest()
    harness.reader.commitRefusal = undefined
    await harness.clock.advance(7_000)
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['running', 'done', 'held'])
    expect(harness.committed()).toBe(3)
    await harness.stop()
  })

  it('does not start a finished attempt again when its commit failed', async () => {
    const harness = await new Harness().start()
    harness.reader.commitRefusal = new Error('not a member')
    for (const jobId of ['a', 'b', 'c']) harness.put({ jobId })
    await rest()
    await harness.clock.advance(3_000)
    expect(harness.committed()).toBeUndefined()
    harness.reader.assign(lanes(harness, [0, 1]), 1)
    await rest()
    harness.put({ jobId: 'd' })
    await rest()
    harness.reader.commitRefusal = undefined
    await harness.clock.advance(3_000)
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['a', 'b', 'c', 'd'])
    expect(harness.committed()).toBe(4)
    await harness.stop()
  })

  it('starts what a recreated topic has at the offset of a finished attempt', async () => {
    const harness = await new Harness({ never }).start()
    harness.reader.commitRefusal = new Error('not now')
    harness.put({ jobId: 'done' })
    harness.put({ jobId: 'running', handler: 'never' })
    await rest()
    await harness.clock.advance(100)
    harness.reader.assign(lanes(harness, [1]))
    await rest()
    harness.log.recreate(harness.topic(), 0)
    harness.put({ jobId: 'again' })
    harness.put({ jobId: 'other' })
    harness.reader.commitRefusal = undefined
    harness.reader.assign(lanes(harness, [0, 1]))
    await rest()
    await harness.clock.advance(3_000)
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['done', 'running', 'again', 'other'])
    expect(harness.committed()).toBe(2)
    await harness.stop()
  })

  it('reads from the committed offset after missed generations', async () => {
    const harness = await new Harness().start()
    harness.put({ jobId: 'a', dueAt: harness.clock.nowMs() + 5_000 })
    harness.put({ jobId: 'b', dueAt: harness.clock.nowMs() + 5_000 })
    await rest()
    // While this member was suspended, another one ran the first record.
    harness.log.committed.set(`${harness.reader.options.groupId} ${place(harness.topic(), 0)}`, 1)
    harness.reader.assign(lanes(harness, [0, 1]), 1)
    await rest()
    await harness.clock.advance(6_000)
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['b'])
    await harness.stop()
  })

  it('joins again when its session ended for good', async () => {
    const harness = await new Harness().start()
    harness.put({ jobId: 'a' })
    await rest()
    harness.reader.crash(new Error('no coordinator'))
    harness.put({ jobId: 'b' })
    await rest()
    expect(harness.starts).toHaveLength(1)
    await harness.clock.advance(1_000)
    await harness.clock.advance(2_000)
    expect(harness.log.readers.filter(({ options }) => options.groupId === 'test.exec.default')).toHaveLength(2)
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['a', 'b'])
    expect(harness.committed()).toBe(2)
    await harness.stop()
  })
})

describe('stopping', () => {
  it('lets handlers finish, hands over its partitions at once, and leaves no writer or timer', async () => {
    let finish = (): void => {}
    const harness = await new Harness({
      slow: () =>
        new Promise<void>((resolve) => {
          finish = resolve
        }),
    }).start()
    harness.put({ jobId: 'slow', handler: 'slow' })
    harness.put({ jobId: 'held', dueAt: harness.clock.nowMs() + 60_000 })
    await rest()
    const stopped = harness.executor.stop()
    await rest()
    await harness.clock.advance(100)
    expect(harness.reader.running).toBe(false)
    expect(harness.committed()).toBe(1)
    finish()
    await rest()
    await harness.clock.advance(100)
    await stopped
    await harness.executor.stop()
    expect(harness.events().map(({ type }) => type)).toEqual(['STARTED', 'SUCCEEDED'])
    expect(harness.starts).toHaveLength(1)
    expect(harness.log.openWriters).toBe(0)
    expect(harness.clock.armed).toBe(0)
  })

  it('gives back what does not finish in time, and accepts no other report of it', async () => {
    let signal: AbortSignal | undefined
    const harness = await new Harness({
      slow: (run) => {
        signal = run.signal
        return new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason as Error)))
      },
    }).start()
    harness.put({ handler: 'slow' })
    await rest()
    await harness.stop()
    expect(signal?.aborted).toBe(true)
    expect(harness.events().map(({ type }) => type)).toEqual(['STARTED', 'RELEASED'])
  })

  it('gives back prefetched attempts that the commit would have to pass over, so the started ones behind them do not run twice', async () => {
    const harness = await new Harness().start()
    harness.put({ jobId: 'far', dueAt: harness.clock.nowMs() + 60_000 })
    harness.put({ jobId: 'near' })
    harness.put({ jobId: 'last', dueAt: harness.clock.nowMs() + 60_000 })
    await rest()
    await harness.clock.advance(100)
    await harness.stop()
    expect(harness.events().map(({ type, jobId }) => [type, jobId])).toEqual([
      ['SUCCEEDED', 'near'],
      ['RELEASED', 'far'],
    ])
    expect(harness.committed()).toBe(2)
  })

  it('ends although the broker is unreachable', async () => {
    const harness = await new Harness({ never }).start()
    harness.put({ handler: 'never' })
    await rest()
    harness.log.refusal = new Error('the broker is away')
    await harness.stop()
    expect(harness.log.records(names.events)).toEqual([])
    expect(harness.log.openWriters).toBe(0)
  })

  it('may come before start', async () => {
    await new Harness().executor.stop()
  })
})

describe('a lane whose log was recreated', () => {
  it('is read from its beginning: its records are not confused with earlier ones of the same offsets', async () => {
    const harness = await new Harness().start()
    for (let runNo = 1; runNo <= 5; runNo++) harness.put({ jobId: 'old', runNo })
    await rest()
    expect(harness.starts).toHaveLength(5)
    await harness.clock.advance(10)
    const topic = harness.topic()
    const value = codecs.execution.encode(executionOf(harness.clock, { jobId: 'new' }))
    const record = {
      topic,
      partition: 0,
      offset: 0,
      timestampMs: harness.clock.nowMs(),
      key: Buffer.from('new'),
      value,
      headers: {},
    }
    await harness.reader.options.onBatch({ topic, partition: 0, records: [record], highWatermark: 1 })
    await rest()
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual([...new Array(5).fill('old'), 'new'])
    await harness.stop()
  })

  it('or truncated: finished runs do not run again, and waiting runs run', async () => {
    const harness = await new Harness().start()
    for (let runNo = 1; runNo <= 5; runNo++) harness.put({ jobId: 'old', runNo })
    const dueAt = harness.clock.nowMs() + 5_000
    harness.put({ jobId: 'held', dueAt })
    harness.put({ jobId: 'done behind it' })
    for (const runNo of [1, 2]) harness.put({ jobId: 'lost', runNo, dueAt })
    await rest()
    await harness.clock.advance(2_000)
    expect(harness.committed()).toBe(5)
    harness.log.truncate(harness.topic(), 0, 7)
    harness.put({ jobId: 'new' })
    await rest()
    await harness.clock.advance(1_500)
    expect(harness.committed()).toBe(5)
    await harness.clock.advance(5_000)
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual([...new Array(5).fill('old'), 'done behind it', 'new', 'held'])
    expect(harness.committed()).toBe(8)
    await harness.stop()
  })
})
