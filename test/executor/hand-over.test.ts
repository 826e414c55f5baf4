/** Partitions that move between living workers, on a real broker: what the loser has started is committed before another reads it. */
import { expect, it } from 'vitest'
import type { Handler } from '../../src/worker/executor/handlers/handler.ts'
import { openCluster } from './cluster.ts'

it('workers come and go under load: every attempt starts once', async () => {
  const cluster = await openCluster()
  const { events, until } = await cluster.watchEvents()
  /** The workers that started each job, and the number of starts of each worker. */
  const starters = new Map<string, string[]>()
  const starts = new Map<string, number>()
  const noop = (name: string): Handler => {
    return ({ jobId }) => {
      starters.set(jobId, [...(starters.get(jobId) ?? []), name])
      starts.set(name, (starts.get(name) ?? 0) + 1)
    }
  }
  const worker = async (name: string) => {
    const executor = cluster.executor({ handlers: { noop: noop(name) }, concurrency: 20 })
    await executor.start()
    return executor
  }
  let isLoaded = true
  let dispatched = 0
  const load = async (): Promise<void> => {
    while (isLoaded) {
      const dueAt = Date.now() + 50
      await cluster.dispatch(Array.from({ length: 50 }, () => cluster.record({ jobId: `job-${dispatched++}`, dueAt })))
    }
  }
  /** The worker has partitions, and what it started lately is not committed. */
  const isBusy = (name: string): Promise<void> => {
    const goal = (starts.get(name) ?? 0) + 50
    return until(() => (starts.get(name) ?? 0) >= goal)
  }
  const first = await worker('first')
  const loading = load()
  await isBusy('first')
  for (const round of [1, 2]) {
    const second = await worker(`second-${round}`)
    await isBusy(`second-${round}`)
    const third = await worker(`third-${round}`)
    await isBusy(`third-${round}`)
    await third.stop()
    await isBusy('first')
    await second.stop()
    await isBusy('first')
  }
  isLoaded = false
  await loading
  const ended = () => new Set(events.filter(({ type }) => type === 'SUCCEEDED' || type === 'RELEASED').map(({ jobId }) => jobId))
  await until(() => ended().size === dispatched)
  await first.stop()
  expect([...starters].filter(([, names]) => names.length > 1)).toEqual([])
}, 120_000)
