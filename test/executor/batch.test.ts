/** Batch handlers. */
import { describe, expect, it } from 'vitest'
import type { BatchOutcomes, Run } from '../../src/worker/executor/handlers/handler.ts'
import { eventLingerMs } from '../../src/worker/executor/report/report-sender.ts'
import { rest } from '../tools/manual-clock.ts'
import { Harness, silent } from './harness.ts'

/** A batch handler that records its runs and returns the outcomes that the test sets. */
function batches(maxSize: number, maxWaitMs: number, answer: (runs: readonly Run[]) => BatchOutcomes | Promise<BatchOutcomes>) {
  const seen: string[][] = []
  const run = (runs: readonly Run[]) => {
    seen.push(runs.map(({ jobId }) => jobId))
    return answer(runs)
  }
  return { seen, handlers: { bulk: { batch: { maxSize, maxWaitMs }, run } } }
}

const put = (harness: Harness, ...ids: string[]) => {
  for (const jobId of ids) harness.put({ jobId, handler: 'bulk' })
}

describe('gathering', () => {
  it('starts a batch as soon as it is full', async () => {
    const { seen, handlers } = batches(3, 60_000, () => undefined)
    const harness = await new Harness(handlers).start()
    put(harness, 'a', 'b', 'c', 'd', 'e', 'f', 'g')
    await rest()
    expect(seen).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ])
    await harness.stop()
  })

  it('starts the runs it has when the first has waited long enough since it was due', async () => {
    const { seen, handlers } = batches(10, 500, () => undefined)
    const harness = await new Harness(handlers).start()
    put(harness, 'a')
    await rest()
    await harness.clock.advance(300)
    put(harness, 'b')
    await rest()
    await harness.clock.advance(199)
    expect(seen).toEqual([])
    await harness.clock.advance(1)
    expect(seen).toEqual([['a', 'b']])
    await harness.stop()
  })

  it('does not wait for more if its runs are already late', async () => {
    const { seen, handlers } = batches(10, 500, () => undefined)
    const harness = await new Harness(handlers).start()
    harness.put({ jobId: 'late', handler: 'bulk', dueAt: harness.clock.nowMs() - 500 })
    await rest()
    expect(seen).toEqual([['late']])
    await harness.stop()
  })

  it('uses one slot for a batch, and runs of other handlers continue beside it', async () => {
    const finish: (() => void)[] = []
    const { seen, handlers } = batches(2, 0, () => new Promise<void>((resolve) => finish.push(resolve)))
    const harness = await new Harness(handlers, { concurrency: 2 }).start()
    put(harness, 'a', 'b', 'c', 'd', 'e', 'f')
    await rest()
    expect(seen).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
    expect(harness.executor.current().running).toHaveLength(4)
    harness.put({ jobId: 'single' })
    finish[0]?.()
    await rest()
    expect(seen).toHaveLength(3)
    finish[1]?.()
    await rest()
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['single'])
    await harness.stop()
  })

  it('fills a batch with the highest priority first', async () => {
    const { seen, handlers } = batches(2, 100, () => undefined)
    const harness = await new Harness({ ...handlers, block: () => new Promise<void>(() => {}) }, { concurrency: 1 }).start()
    for (const [jobId, priority] of [
      ['low', 'LOW'],
      ['high', 'HIGH'],
      ['normal', 'NORMAL'],
    ] as const)
      harness.put({ jobId, handler: 'bulk', priority }, { priority })
    await rest()
    await harness.clock.advance(100)
    expect(seen[0]).toEqual(['high', 'normal'])
    await harness.stop()
  })

  it('excludes runs that are canceled or past their start deadline', async () => {
    const { seen, handlers } = batches(3, 500, () => undefined)
    const harness = await new Harness(handlers).start()
    harness.control({ type: 'CANCEL', jobId: 'b', runNo: 1, attempt: 1 })
    await rest()
    harness.put({ jobId: 'expired', handler: 'bulk', startDeadlineAt: harness.clock.nowMs() - 1 })
    put(harness, 'a', 'b')
    await rest()
    expect(seen).toEqual([['a']])
    await harness.stop()
  })

  it.each([
    [
      { batch: { maxSize: 0, maxWaitMs: 1 }, run: () => {} },
      /batch\.maxSize of handler "bulk" is 0; allowed: an integer from 1 to 1000/,
    ],
    [{ batch: { maxSize: 5, maxWaitMs: 60_001 }, run: () => {} }, /batch\.maxWaitMs of handler "bulk" is 60001/],
    [{ run: () => {} }, /neither a function nor/],
  ])('refuses %j', (bulk, message) => {
    expect(() => new Harness({ bulk } as never, { logger: silent })).toThrow(message)
  })
})

describe('outcomes', () => {
  const typesOf = (harness: Harness) => harness.events().map(({ jobId, type, error }) => [jobId, type, error?.type ?? null])

  it('belong to each run: a result, none, or an error with its own retry', async () => {
    const { handlers } = batches(3, 0, async () => [{ result: { sent: 1 } }, {}, { error: new TypeError('no such address') }])
    const harness = await new Harness(handlers).start()
    put(harness, 'a', 'b', 'c')
    await rest()
    await harness.clock.advance(eventLingerMs)
    expect(typesOf(harness)).toEqual([
      ['a', 'SUCCEEDED', null],
      ['b', 'SUCCEEDED', null],
      ['c', 'FAILED', 'TypeError'],
    ])
    expect(String(harness.events()[0]?.result)).toBe('{"sent":1}')
    await harness.stop()
  })

  it.each([
    [
      'at once',
      () => {
        throw new TypeError('down')
      },
    ],
    ['later', () => Promise.reject(new TypeError('down'))],
  ])('are failures of all runs when the handler throws %s', async (_, answer) => {
    const { handlers } = batches(2, 0, answer)
    const harness = await new Harness(handlers).start()
    put(harness, 'a', 'b')
    await rest()
    await harness.clock.advance(eventLingerMs)
    expect(typesOf(harness)).toEqual([
      ['a', 'FAILED', 'TypeError'],
      ['b', 'FAILED', 'TypeError'],
    ])
    await harness.stop()
  })

  it.each([
    ['too few', [{}]],
    ['no list', 'done'],
    [
      'settled promises',
      [
        { status: 'rejected', reason: 1 },
        { status: 'rejected', reason: 1 },
      ],
    ],
    ['nothing', [null, undefined]],
  ])('that do not fit the runs fail them for good: %s', async (_, answer) => {
    const { handlers } = batches(2, 0, () => answer as never)
    const harness = await new Harness(handlers).start()
    put(harness, 'a', 'b')
    await rest()
    await harness.clock.advance(eventLingerMs)
    expect(harness.events().map(({ error }) => [error?.type, error?.retryable])).toEqual(
      Array(2).fill(['BatchOutcomesWrong', false]),
    )
    await harness.stop()
  })
})

describe('while a batch runs', () => {
  it('keeps the leases of all its runs', async () => {
    const { handlers } = batches(2, 0, () => new Promise<void>(() => {}))
    const harness = await new Harness(handlers).start()
    for (const jobId of ['a', 'b']) harness.put({ jobId, handler: 'bulk', leaseMs: 3_000 })
    await rest()
    await harness.clock.advance(2_100)
    for (const id of ['a', 'b']) {
      const types = harness.events().flatMap(({ jobId, type }) => (jobId === id ? [type] : []))
      expect(types).toEqual(['STARTED', 'HEARTBEAT', 'HEARTBEAT'])
    }
    await harness.stop()
  })

  it('ends one run by its own timeout or cancellation, and the others by the outcome of the handler', async () => {
    const aborted: string[] = []
    let finish = (): void => {}
    const { handlers } = batches(3, 0, (runs) => {
      for (const { signal, jobId } of runs) signal.addEventListener('abort', () => aborted.push(jobId))
      return new Promise<void>((resolve) => {
        finish = resolve
      })
    })
    const harness = await new Harness(handlers).start()
    harness.put({ jobId: 'short', handler: 'bulk', attemptTimeoutMs: 1_000 })
    put(harness, 'cancelled', 'long')
    await rest()
    harness.control({ type: 'CANCEL', jobId: 'cancelled', runNo: 1, attempt: 1 })
    await rest()
    await harness.clock.advance(1_100)
    finish()
    await rest()
    await harness.clock.advance(eventLingerMs)
    expect(aborted).toEqual(['cancelled', 'short'])
    const ends = harness.events().flatMap(({ jobId, type }) => (type === 'STARTED' ? [] : [`${jobId} ${type}`]))
    expect(ends).toEqual(['short FAILED', 'long SUCCEEDED'])
    await harness.stop()
  })
})
