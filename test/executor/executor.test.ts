import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { NonRetryableError, RetryLaterError } from '../../src/worker/executor/handlers/handler.ts'
import { resultBytesMax } from '../../src/worker/executor/report/outcome.ts'
import { eventLingerMs } from '../../src/worker/executor/report/report-sender.ts'
import { rest } from '../tools/manual-clock.ts'
import { Harness, names } from './harness.ts'

const never = () => new Promise<never>(() => {})

describe('starting', () => {
  it('starts an attempt exactly when it is due and never before', async () => {
    const harness = await new Harness().start()
    const dueAt = harness.clock.nowMs() + 90
    harness.put({ jobId: 'a', dueAt })
    await rest()
    await harness.clock.advance(89)
    expect(harness.starts).toEqual([])
    await harness.clock.advance(1)
    expect(harness.starts).toEqual([{ jobId: 'a', atMs: dueAt }])
    await harness.stop()
  })

  it('starts prefetched attempts in the order in which they are due, whatever their order in the log', async () => {
    const harness = await new Harness().start()
    const now = harness.clock.nowMs()
    for (const [jobId, inMs] of [
      ['c', 30],
      ['a', 10],
      ['d', 40],
      ['b', 20],
    ] as const)
      harness.put({ jobId, dueAt: now + inMs })
    await rest()
    await harness.clock.advance(50)
    expect(harness.starts.map(({ jobId, atMs }) => [jobId, atMs - now])).toEqual([
      ['a', 10],
      ['b', 20],
      ['c', 30],
      ['d', 40],
    ])
    await harness.stop()
  })

  it('gives free slots to higher priorities first', async () => {
    const release: (() => void)[] = []
    const slow = () => new Promise<void>((resolve) => release.push(resolve))
    const harness = await new Harness({ slow }, { concurrency: 1 }).start()
    harness.put({ jobId: 'first', handler: 'slow' })
    await rest()
    harness.put({ jobId: 'low', handler: 'slow' }, { priority: 'LOW' })
    harness.put({ jobId: 'normal', handler: 'slow' })
    harness.put({ jobId: 'high', handler: 'slow' }, { priority: 'HIGH' })
    await rest()
    for (let left = 4; left > 0; left--) {
      release.shift()?.()
      await rest()
    }
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['first', 'high', 'normal', 'low'])
    await harness.stop()
  })

  it('runs no more handlers at once than it has slots', async () => {
    const harness = await new Harness({ never }, { concurrency: 3 }).start()
    for (let runNo = 1; runNo <= 10; runNo++) harness.put({ runNo, handler: 'never' })
    await rest()
    expect(harness.executor.current().running).toHaveLength(3)
    expect(harness.executor.current().held).toBe(7)
    await harness.stop()
  })

  it.each([0, 1])(
    'drops an attempt whose start deadline has passed, reports nothing and counts it as done (%i ms)',
    async (ms) => {
      const harness = await new Harness().start()
      harness.put({ startDeadlineAt: harness.clock.nowMs() - ms })
      await rest()
      await harness.clock.advance(2_000)
      expect(harness.starts).toEqual([])
      expect(harness.events()).toEqual([])
      expect(harness.committed()).toBe(1)
      await harness.stop()
    },
  )
})

describe('a run without its handler', () => {
  it('is reported as soon as it is read, before it is due, so that its owner can send it elsewhere', async () => {
    const harness = await new Harness({ noop: () => undefined }).start()
    harness.put({ jobId: 'a', handler: 'nobody', dueAt: harness.clock.nowMs() + 90 })
    await rest()
    await harness.clock.advance(eventLingerMs)
    expect(harness.events()).toMatchObject([{ type: 'FAILED', jobId: 'a', startedAt: null, error: { type: 'handler-missing' } }])
    await harness.clock.advance(2_000)
    expect(harness.events()).toHaveLength(1)
    expect(harness.committed()).toBe(1)
    await harness.stop()
  })
})

describe('reporting', () => {
  it('sends only the final event of a handler that ends within the linger', async () => {
    const harness = await new Harness({ answer: () => ({ answer: 42 }) }).start()
    const startedAt = harness.clock.nowMs()
    harness.put({ jobId: 'a', runNo: 3, attempt: 2, handler: 'answer' }, { partition: 1 })
    await rest()
    await harness.clock.advance(eventLingerMs)
    expect(harness.events(1)).toMatchObject([
      { type: 'SUCCEEDED', jobId: 'a', runNo: 3, attempt: 2, specOffset: 7, startedAt, worker: 'worker@test:1:a', error: null },
    ])
    expect(JSON.parse(String(harness.events(1)[0]?.result))).toEqual({ answer: 42 })
    expect(harness.log.records(names.events, 1)[0]?.key?.toString()).toBe('a')
    await harness.stop()
  })

  it('sends an end at once, and what ends during a send shares the next one', async () => {
    const harness = await new Harness({ slow: () => new Promise<void>(() => undefined) }).start()
    const { writes } = harness.log
    const sends = (): number => harness.log.writes - writes
    let answer = (): void => {}
    harness.log.gate = new Promise((resolve) => {
      answer = resolve
    })
    harness.put({ jobId: 'a', handler: 'slow' })
    await rest()
    await harness.clock.advance(eventLingerMs - 1)
    expect(sends()).toBe(0)
    harness.put({ jobId: 'b' })
    await rest()
    await harness.clock.advance(0)
    expect(sends()).toBe(1)
    for (const jobId of ['c', 'd']) harness.put({ jobId })
    await rest()
    await harness.clock.advance(eventLingerMs - 1)
    expect(sends()).toBe(1)
    await harness.clock.advance(1)
    expect(sends()).toBe(2)
    answer()
    await harness.clock.advance(0)
    expect(harness.events().map(({ jobId, type }) => `${jobId} ${type}`)).toEqual([
      'a STARTED',
      'b SUCCEEDED',
      'c SUCCEEDED',
      'd SUCCEEDED',
    ])
    await harness.stop()
  })

  it('reports the start of a longer handler, its heartbeats with progress, and its end', async () => {
    let finish = (): void => {}
    const harness = await new Harness({
      slow: ({ heartbeat }) => {
        heartbeat({ progress: 0.4, message: 'half way' })
        return new Promise<void>((resolve) => {
          finish = resolve
        })
      },
    }).start()
    harness.put({ handler: 'slow', leaseMs: 3_000 })
    await rest()
    await harness.clock.advance(2_500)
    finish()
    await rest()
    await harness.clock.advance(eventLingerMs)
    const events = harness.events()
    expect(events.map(({ type }) => type)).toEqual(['STARTED', 'HEARTBEAT', 'HEARTBEAT', 'SUCCEEDED'])
    for (const event of events.slice(0, 3)) expect(event).toMatchObject({ progress: 0.4, message: 'half way' })
    await harness.stop()
  })

  it('reports the first progress at once, and more of it once a second, without waiting for the next heartbeat', async () => {
    let beat = (_share: number): void => {}
    const harness = await new Harness({
      slow: (run) => {
        beat = (progress) => run.heartbeat({ progress })
        return never()
      },
    }).start()
    harness.put({ handler: 'slow', leaseMs: 3_600_000, attemptTimeoutMs: 604_800_000 })
    await rest()
    await harness.clock.advance(5_000)
    beat(0.1)
    await harness.clock.advance(40)
    const reported = () => harness.events().map(({ type, progress }) => [type, progress])
    const first = [
      ['STARTED', null],
      ['HEARTBEAT', 0.1],
    ]
    expect(reported()).toEqual(first)
    for (const share of [0.2, 7]) beat(share)
    await harness.clock.advance(900)
    expect(reported()).toEqual(first)
    await harness.clock.advance(200)
    beat(0.5)
    await harness.clock.advance(1_100)
    expect(reported()).toEqual([...first, ['HEARTBEAT', 1], ['HEARTBEAT', 0.5]])
    await harness.stop()
  })

  it('reports how a handler failed: name, message, stack, and whether and when to try again', async () => {
    class Odd extends Error {
      override name = 'Odd'
    }
    const throws: Record<string, () => unknown> = {
      plain: () => {
        throw new Odd('x'.repeat(2_000))
      },
      rejects: async () => {
        throw new TypeError('no such thing')
      },
      final: () => {
        throw new NonRetryableError('never again')
      },
      later: () => {
        throw new RetryLaterError(1_234)
      },
      text: () => {
        throw 'just text'
      },
    }
    const harness = await new Harness(throws).start()
    Object.keys(throws).forEach((handler, index) => void harness.put({ jobId: handler, runNo: index + 1, handler }))
    await rest()
    await harness.clock.advance(eventLingerMs)
    const errors = Object.fromEntries(harness.events().map(({ jobId, error }) => [jobId, error]))
    expect(errors.plain).toMatchObject({ type: 'Odd', retryable: true, retryAfterMs: null })
    expect(errors.plain?.message).toHaveLength(1_000)
    expect(errors.plain?.stack?.length).toBeLessThanOrEqual(4_000)
    expect(errors.rejects).toMatchObject({ type: 'TypeError', message: 'no such thing' })
    expect(errors.final).toMatchObject({ type: 'NonRetryableError', retryable: false })
    expect(errors.later).toMatchObject({ type: 'RetryLaterError', retryable: true, retryAfterMs: 1_234 })
    expect(errors.text).toMatchObject({ type: 'Error', message: 'just text', retryable: true })
    await harness.stop()
  })

  it('succeeds without a result that is too large or cannot be JSON, and says so', async () => {
    const harness = await new Harness({ large: () => 'x'.repeat(resultBytesMax), odd: () => 1n }).start()
    harness.put({ jobId: 'large', handler: 'large' })
    harness.put({ jobId: 'odd', handler: 'odd' })
    await rest()
    await harness.clock.advance(eventLingerMs)
    expect(harness.events().map(({ type, result, error }) => [type, result, error])).toEqual(
      Array(2).fill(['SUCCEEDED', null, null]),
    )
    const [large, odd] = harness.events().map(({ message }) => message)
    expect(large).toBe(
      `The result was left out: it has ${resultBytesMax + 2} bytes of JSON, more than ${resultBytesMax}. Store it elsewhere and return where.`,
    )
    expect(odd).toMatch(/^The result was left out: it is not JSON: .*BigInt/)
    await harness.stop()
  })

  it('reports an unknown handler as a failure that another worker may not have, and logs each name once', async () => {
    const lines: { level: number; handler: string; msg: string }[] = []
    const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
    const harness = await new Harness({}, { logger }).start()
    for (const handler of ['nobody', 'nobody', 'constructor', '__proto__']) harness.put({ jobId: handler, handler })
    await rest()
    await harness.clock.advance(eventLingerMs)
    expect(harness.events()).toHaveLength(4)
    for (const event of harness.events()) {
      expect(event).toMatchObject({ type: 'FAILED', error: { type: 'handler-missing', retryable: true } })
    }
    expect(lines.map(({ handler }) => handler)).toEqual(['nobody', 'constructor', '__proto__'])
    expect(lines[0]?.msg).toMatch(/^A run is left to other workers: no handler named "nobody"/)
    await harness.stop()
  })

  it('fails an attempt whose payload is not valid JSON as declared, once its handler reads it', async () => {
    const harness = await new Harness({ read: (run) => ({ got: run.payload }) }).start()
    harness.put({ jobId: 'good', handler: 'read', payload: Buffer.from('{"a":1}'), contentType: 'application/json' })
    harness.put({ jobId: 'bad', handler: 'read', payload: Buffer.from('{"a":'), contentType: 'application/json' })
    await rest()
    await harness.clock.advance(eventLingerMs)
    expect(harness.events().map(({ type }) => type)).toEqual(['SUCCEEDED', 'FAILED'])
    expect(harness.events()[1]?.error).toMatchObject({ type: 'NonRetryableError', retryable: false })
    await harness.stop()
  })

  it('sends again until the broker accepts the events, and starts nothing twice meanwhile', async () => {
    const harness = await new Harness().start()
    harness.log.refusal = new Error('the broker is away')
    harness.put({ jobId: 'a' })
    await rest()
    await harness.clock.advance(10_000)
    expect(harness.events()).toEqual([])
    expect(harness.committed()).toBeUndefined()
    harness.log.refusal = undefined
    await harness.clock.advance(10_000)
    expect(harness.events().map(({ type }) => type)).toEqual(['SUCCEEDED'])
    expect(harness.starts).toHaveLength(1)
    expect(harness.committed()).toBe(1)
    await harness.stop()
  })
})

describe('timeouts', () => {
  it('aborts the signal and reports AttemptTimeout; later results of the handler change nothing', async () => {
    let aborted = ''
    let finish = (): void => {}
    const harness = await new Harness(
      {
        stubborn: (run) => {
          run.signal.addEventListener('abort', () => {
            aborted = (run.signal.reason as Error).name
          })
          return new Promise<void>((resolve) => {
            finish = resolve
          })
        },
      },
      { concurrency: 1 },
    ).start()
    harness.put({ jobId: 'slow', handler: 'stubborn', attemptTimeoutMs: 5_000 })
    harness.put({ jobId: 'next' })
    await rest()
    await harness.clock.advance(6_000)
    expect(aborted).toBe('AttemptTimeout')
    expect(harness.events().map(({ type, error }) => [type, error?.type])).toEqual([
      ['STARTED', undefined],
      ['FAILED', 'AttemptTimeout'],
    ])
    // It ignored its signal, so it keeps its slot.
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['slow'])
    finish()
    await rest()
    await harness.clock.advance(eventLingerMs)
    expect(
      harness
        .events()
        .map(({ type, jobId }) => [type, jobId])
        .slice(2),
    ).toEqual([['SUCCEEDED', 'next']])
    await harness.stop()
  })
})

describe('offsets', () => {
  it('commits only up to the first attempt that has not started', async () => {
    const harness = await new Harness().start()
    const now = harness.clock.nowMs()
    harness.put({ jobId: 'a' })
    harness.put({ jobId: 'b', dueAt: now + 5_000 })
    harness.put({ jobId: 'c' })
    await rest()
    await harness.clock.advance(2_000)
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['a', 'c'])
    expect(harness.committed()).toBe(1)
    await harness.clock.advance(5_000)
    expect(harness.committed()).toBe(3)
    await harness.stop()
  })

  it('counts a running attempt as done once its start is acknowledged', async () => {
    const harness = await new Harness({ never }).start()
    harness.put({ handler: 'never' })
    await rest()
    await harness.clock.advance(1_500)
    expect(harness.events().map(({ type }) => type)).toEqual(['STARTED'])
    expect(harness.committed()).toBe(1)
    await harness.stop()
  })

  it('commits at once when the group is about to rebalance', async () => {
    const harness = await new Harness({ never }).start()
    harness.put({ handler: 'never' })
    await rest()
    await harness.clock.advance(500)
    expect(harness.events().map(({ type }) => type)).toEqual(['STARTED'])
    expect(harness.committed()).toBeUndefined()
    harness.reader.options.onRebalance?.()
    await rest()
    expect(harness.committed()).toBe(1)
    await harness.stop()
  })

  it('gets an attempt again when it crashed before the start was acknowledged', async () => {
    const first = await new Harness({ never }).start()
    let open = (): void => {}
    first.log.gate = new Promise((resolve) => {
      open = resolve
    })
    first.put({ jobId: 'a', handler: 'never' })
    // The next entry is done at once, and comes after it in the log.
    first.put({ jobId: 'late', startDeadlineAt: first.clock.nowMs() - 1 })
    await rest()
    await first.clock.advance(5_000)
    expect(first.starts).toHaveLength(1)
    expect(first.committed() ?? 0).toBe(0)
    // The first worker disappeared, and its write never arrived.
    await first.reader.stop()
    first.log.gate = undefined
    const second = await new Harness({ never }, {}, first).start()
    await second.clock.advance(1)
    expect(second.starts.map(({ jobId }) => jobId)).toEqual(['a'])
    await second.stop()
    open()
    await first.stop()
  })

  it('has no timer while it has nothing to do', async () => {
    const harness = await new Harness().start()
    expect(harness.clock.armed).toBe(0)
    harness.put({})
    await rest()
    await harness.clock.advance(3_000)
    expect(harness.committed()).toBe(1)
    expect(harness.clock.armed).toBe(0)
    await harness.stop()
  })

  it('retries a refused commit', async () => {
    const harness = await new Harness().start()
    harness.reader.commitRefusal = new Error('the group rebalances')
    harness.put({})
    await rest()
    await harness.clock.advance(3_000)
    expect(harness.committed()).toBeUndefined()
    harness.reader.commitRefusal = undefined
    await harness.clock.advance(1_000)
    expect(harness.committed()).toBe(1)
    await harness.stop()
  })

  it('passes over records that cannot be decoded, counts them, and runs the others', async () => {
    const harness = await new Harness().start()
    harness.put({ jobId: 'a' })
    harness.putBytes(Buffer.from('not avro'))
    harness.putBytes(null)
    harness.putBytes(Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), Buffer.from([0xff])]))
    harness.put({ jobId: 'b' })
    await rest()
    await harness.clock.advance(2_000)
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['a', 'b'])
    expect(harness.committed()).toBe(5)
    expect(await harness.metrics.registry.getSingleMetricAsString('duelog_invalid_total')).toContain(
      '{reason="undecodable-execution"} 3',
    )
    await harness.stop()
  })

  it('passes over values that no owner writes: impossible ids and names, and numbers out of range', async () => {
    const harness = await new Harness().start()
    harness.put({ jobId: 'a' })
    harness.put({ jobId: 'x'.repeat(300_000) })
    harness.put({ jobId: '' })
    harness.put({ jobId: 'c', attempt: 0 })
    harness.put({ jobId: 'd', handler: 'h'.repeat(10_000) })
    harness.put({ jobId: 'b' })
    await rest()
    await harness.clock.advance(2_000)
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['a', 'b'])
    expect(harness.committed()).toBe(6)
    expect(await harness.metrics.registry.getSingleMetricAsString('duelog_invalid_total')).toContain(
      '{reason="undecodable-execution"} 4',
    )
    await harness.stop()
  })
})
