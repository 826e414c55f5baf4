/** How a worker runs untracked executions. */
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { Handler } from '../../../src/executor/handlers/handler.ts'
import { failuresLoggedPerSecondMax } from '../../../src/executor/run/untracked-runs.ts'
import { rest } from '../../tools/manual-clock.ts'
import { Harness } from '../harness.ts'

/** Handlers that return when the test tells them to, by job. */
function gates(): { handler: Handler; open(jobId: string, error?: Error): Promise<void>; signals: Map<string, AbortSignal> } {
  const waiting = new Map<string, (error?: Error) => void>()
  const signals = new Map<string, AbortSignal>()
  return {
    signals,
    handler: ({ jobId, signal }) => {
      signals.set(jobId, signal)
      return new Promise<void>((resolve, reject) => {
        waiting.set(jobId, (error) => (error === undefined ? resolve() : reject(error)))
      })
    },
    open: async (jobId, error) => {
      waiting.get(jobId)?.(error)
      await rest()
    },
  }
}

const logged = () => {
  const lines: Record<string, unknown>[] = []
  return { lines, logger: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) }) }
}
const failuresOf = async ({ metrics }: Harness): Promise<number> => (await metrics.untrackedFailures.get()).values[0]?.value ?? 0

describe('a run that is not tracked', () => {
  it('starts when it is due, sends no event, and is done at once if its handler returns at once', async () => {
    const harness = await new Harness().start()
    const dueAt = harness.clock.nowMs() + 90
    harness.put({ jobId: 'a', tracked: false, dueAt })
    await rest()
    await harness.clock.advance(90)
    expect(harness.starts).toEqual([{ jobId: 'a', atMs: dueAt }])
    await harness.clock.advance(1_000)
    expect(harness.committed()).toBe(1)
    expect(harness.events()).toEqual([])
    await harness.stop()
    expect(harness.events()).toEqual([])
  })

  it('is done only when its handler has settled, however long that takes', async () => {
    const { handler, open } = gates()
    const harness = await new Harness({ slow: handler }).start()
    harness.put({ jobId: 'slow', handler: 'slow', tracked: false, leaseMs: 1_000 })
    harness.put({ jobId: 'quick' })
    await rest()
    await harness.clock.advance(60_000)
    expect(harness.committed() ?? 0).toBe(0)
    expect(harness.executor.current().running).toMatchObject([{ jobId: 'slow' }])
    await open('slow')
    await harness.clock.advance(1_000)
    expect(harness.committed()).toBe(2)
    expect(harness.events().map(({ jobId }) => jobId)).toEqual(['quick'])
    await harness.stop()
  })

  it.each<[string, Handler]>([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
  ])('is done too when its handler %s; that is counted and logged with the job', async (_, broken) => {
    const { lines, logger } = logged()
    const harness = await new Harness({ broken }, { logger }).start()
    harness.put({ jobId: 'a', runNo: 7, handler: 'broken', tracked: false })
    await rest()
    await harness.clock.advance(1_000)
    expect(harness.committed()).toBe(1)
    expect(harness.events()).toEqual([])
    expect(await failuresOf(harness)).toBe(1)
    expect(lines).toMatchObject([{ jobId: 'a', runNo: 7, handler: 'broken', error: 'no' }])
    await harness.stop()
  })

  it('is logged without what a server answered to its webhook, which may repeat its headers', async () => {
    const { lines, logger } = logged()
    const http = (): never => {
      throw new Error('the server answered 500: {"authorization":"Bearer hidden"}')
    }
    const harness = await new Harness({ http }, { logger }).start()
    harness.put({ jobId: 'a', handler: 'http', tracked: false })
    await rest()
    await harness.clock.advance(1_000)
    expect(lines).toMatchObject([{ event: 'untracked-run-failed', jobId: 'a', error: 'the server answered 500' }])
    await harness.stop()
  })

  it('has failed in the same way if its handler is missing, or takes longer than its attemptTimeoutMs', async () => {
    const { handler, signals } = gates()
    const { lines, logger } = logged()
    const harness = await new Harness({ slow: handler }, { logger }).start()
    harness.put({ jobId: 'missing', handler: 'other', tracked: false })
    harness.put({ jobId: 'slow', handler: 'slow', tracked: false, attemptTimeoutMs: 500 })
    await rest()
    await harness.clock.advance(2_000)
    expect(signals.get('slow')?.aborted).toBe(true)
    expect(harness.committed()).toBe(2)
    expect(harness.events()).toEqual([])
    expect(lines.map(({ jobId, errorType, handler: missing }) => [jobId, errorType ?? missing])).toEqual([
      // Once for each handler, then once for each run.
      ['missing', 'other'],
      ['missing', 'handler-missing'],
      ['slow', 'AttemptTimeout'],
    ])
    await harness.stop()
  })

  it('is dropped when its start deadline has passed', async () => {
    const harness = await new Harness().start()
    harness.put({ tracked: false, startDeadlineAt: harness.clock.nowMs() - 1 })
    await rest()
    await harness.clock.advance(1_000)
    expect([harness.starts, harness.committed()]).toEqual([[], 1])
    await harness.stop()
  })

  it('uses a slot, and its priority counts as for any other', async () => {
    const { handler, open } = gates()
    const harness = await new Harness({ slow: handler }, { concurrency: 1 }).start()
    harness.put({ jobId: 'first', handler: 'slow', tracked: false })
    await rest()
    harness.put({ jobId: 'low', handler: 'slow', tracked: false }, { priority: 'LOW' })
    harness.put({ jobId: 'high', handler: 'slow', tracked: false }, { priority: 'HIGH' })
    await rest()
    for (const jobId of ['first', 'high', 'low']) await open(jobId)
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['first', 'high', 'low'])
    await harness.stop()
  })

  it('may return a value that no report could carry, because the value is not used', async () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const harness = await new Harness({ odd: () => cycle }).start()
    harness.put({ handler: 'odd', tracked: false })
    await rest()
    expect(await failuresOf(harness)).toBe(0)
    await harness.stop()
  })

  it('runs in a batch with others', async () => {
    const sizes: number[] = []
    const many = { batch: { maxSize: 3, maxWaitMs: 1_000 }, run: (runs: readonly unknown[]) => void sizes.push(runs.length) }
    const harness = await new Harness({ many }).start()
    for (const jobId of ['a', 'b', 'c']) harness.put({ jobId, handler: 'many', tracked: jobId === 'b' })
    await rest()
    await harness.clock.advance(1_000)
    expect(sizes).toEqual([3])
    expect(harness.events().map(({ jobId }) => jobId)).toEqual(['b'])
    expect(harness.committed()).toBe(3)
    await harness.stop()
  })

  it('that fails very often is counted each time and logged a limited number of times a second', async () => {
    const { lines, logger } = logged()
    const broken = () => Promise.reject(new Error('no'))
    const harness = await new Harness({ broken }, { logger, concurrency: 500 }).start()
    for (let runNo = 1; runNo <= 100; runNo++) harness.put({ runNo, handler: 'broken', tracked: false })
    await rest()
    expect(await failuresOf(harness)).toBe(100)
    expect(lines).toHaveLength(failuresLoggedPerSecondMax)
    await harness.clock.advance(1_000)
    harness.put({ runNo: 101, handler: 'broken', tracked: false })
    await rest()
    expect(lines.slice(failuresLoggedPerSecondMax)).toMatchObject([{ failures: 80 }, { runNo: 101 }])
    await harness.stop()
  })
})

describe('a worker that stops', () => {
  it('keeps its partitions until the untracked runs have ended, so no other worker runs them again', async () => {
    const { handler, open } = gates()
    const harness = await new Harness({ slow: handler }).start()
    harness.put({ jobId: 'slow', handler: 'slow', tracked: false })
    await rest()
    const stopped = harness.executor.stop()
    await rest()
    expect(harness.reader.running).toBe(true)
    await open('slow')
    await stopped
    expect(harness.committed()).toBe(1)
  })

  it('also runs prefetched runs before a started one: otherwise that one would run again elsewhere', async () => {
    const { handler, open } = gates()
    const harness = await new Harness({ slow: handler }, { concurrency: 1 }).start()
    harness.put({ jobId: 'soon', tracked: false, dueAt: harness.clock.nowMs() + 80 })
    harness.put({ jobId: 'slow', handler: 'slow' })
    harness.put({ jobId: 'behind', tracked: false })
    await rest()
    const stopped = harness.executor.stop()
    await rest()
    await harness.clock.advance(80)
    await open('slow')
    await harness.clock.advance(100)
    await stopped
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['slow', 'soon'])
    // Later records are left to the next worker.
    expect(harness.committed()).toBe(2)
    expect(harness.events().map(({ jobId, type }) => [jobId, type])).toEqual([
      ['slow', 'STARTED'],
      ['slow', 'SUCCEEDED'],
    ])
  })

  it('waits only for its drain time, and leaves what still runs to the next worker', async () => {
    const { handler, signals } = gates()
    const harness = await new Harness({ slow: handler }).start()
    harness.put({ jobId: 'slow', handler: 'slow', tracked: false })
    await rest()
    const stopped = harness.executor.stop()
    await harness.clock.advance(1_000)
    await stopped
    expect(signals.get('slow')?.aborted).toBe(true)
    expect(harness.committed() ?? 0).toBe(0)
    expect(harness.events()).toEqual([])
    const successor = await new Harness({ slow: handler }, {}, { log: harness.log, clock: harness.clock }).start()
    expect(successor.starts).toMatchObject([{ jobId: 'slow' }])
    await successor.stop()
  })
})

describe('a lane that moves to another worker', () => {
  it('and comes back while its run continues does not start the run twice', async () => {
    const { handler, open } = gates()
    const harness = await new Harness({ slow: handler }).start()
    harness.put({ jobId: 'slow', handler: 'slow', tracked: false })
    await rest()
    harness.reader.assign([])
    await rest()
    harness.reader.assign([{ topic: harness.topic(), partition: 0 }])
    await rest()
    expect(harness.starts).toHaveLength(1)
    await open('slow')
    await harness.clock.advance(1_000)
    expect(harness.committed()).toBe(1)
    await harness.stop()
  })
})
