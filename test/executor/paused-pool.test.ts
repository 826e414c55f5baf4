/** A worker whose pool is paused: it starts nothing and gives back what it has taken; its handlers go on. On a real broker: test/system. */
import { expect, it } from 'vitest'
import type { Pauses } from '../../src/ground/ports/roles.ts'
import { rest } from '../tools/manual-clock.ts'
import { Harness } from './harness.ts'

/** Pauses that the test changes. */
function pausesOf() {
  const listeners = new Set<() => void>()
  let pause: ReturnType<Pauses['ofPool']>
  let version = 0
  const pauses: Pauses = {
    ofPool: (pool) => (pool === 'default' ? pause : undefined),
    isWorkerPaused: () => false,
    get version() {
      return version
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const set = async (mode: 'PAUSE' | 'DRAIN' | undefined): Promise<void> => {
    pause = mode === undefined ? undefined : { at: version, isDrained: mode === 'DRAIN' }
    version++
    for (const listener of listeners) listener()
    await rest()
  }
  return { pauses, set }
}

const eventsOf = (harness: Harness): string[] => harness.events().map(({ jobId, type }) => `${jobId} ${type}`)

it('starts nothing that comes while its pool is paused, gives it back after a second, and starts what comes after the pause', async () => {
  const gathered: string[] = []
  const run = (runs: readonly { jobId: string }[]): void => void gathered.push(...runs.map(({ jobId }) => jobId))
  const { pauses, set } = pausesOf()
  const harness = new Harness({ batch: { batch: { maxSize: 1, maxWaitMs: 10 }, run } }, { pauses })
  await set('PAUSE')
  await harness.start()
  harness.put({ jobId: 'one' })
  harness.put({ jobId: 'gathered', handler: 'batch' })
  await rest()
  await harness.clock.advance(900)
  expect([harness.starts, gathered, eventsOf(harness)]).toEqual([[], [], []])
  await harness.clock.advance(200)
  expect(eventsOf(harness).sort()).toEqual(['gathered RELEASED', 'one RELEASED'])
  await set(undefined)
  harness.put({ jobId: 'after' })
  await rest()
  await harness.clock.advance(100)
  expect([harness.starts.map(({ jobId }) => jobId), gathered]).toEqual([['after'], []])
  await harness.stop()
})

it('gives back at once what it holds when the pause comes, and its handlers go on', async () => {
  const end = Promise.withResolvers<void>()
  const { pauses, set } = pausesOf()
  const harness = await new Harness({ slow: () => end.promise }, { pauses, concurrency: 1 }).start()
  harness.put({ jobId: 'slow', handler: 'slow' })
  harness.put({ jobId: 'waits' })
  harness.put({ jobId: 'not due', dueAt: harness.clock.nowMs() + 10_000 })
  await rest()
  await harness.clock.advance(100)
  await set('PAUSE')
  await harness.clock.advance(100)
  end.resolve()
  await rest()
  await harness.clock.advance(20_000)
  expect(eventsOf(harness).sort()).toEqual(['not due RELEASED', 'slow STARTED', 'slow SUCCEEDED', 'waits RELEASED'])
  expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['slow'])
  await harness.stop()
})

it('starts what was sent to it before its pool was drained', async () => {
  const { pauses, set } = pausesOf()
  const harness = await new Harness({}, { pauses }).start()
  harness.put({ jobId: 'not due', dueAt: harness.clock.nowMs() + 1_000 })
  await rest()
  await set('DRAIN')
  await harness.clock.advance(2_000)
  expect(eventsOf(harness)).toEqual(['not due SUCCEEDED'])
  await harness.stop()
})
