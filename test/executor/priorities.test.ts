/** Priorities with a backlog, on a real broker. */
import { expect, it } from 'vitest'
import { agedEvery, partitionOf } from '../../streams/topics/topics.ts'
import { openCluster, partitionCount } from './cluster.ts'

/** Ids of one partition, so that one fetch brings all of them. */
function idsOfOnePartition(name: string, count: number): string[] {
  const ids: string[] = []
  for (let index = 0; ids.length < count; index++) {
    const id = `${name}-${index}`
    if (partitionOf(id, partitionCount) === 0) ids.push(id)
  }
  return ids
}

it('HIGH runs start next while 100,000 LOW ones wait, and every sixteenth start is still a LOW one', async () => {
  const cluster = await openCluster()
  const starts: string[] = []
  let finish = (): void => {}
  let started = (): void => {}
  const noop = ({ jobId }: { jobId: string }) => {
    starts.push(jobId.split('-')[0] ?? '')
    started()
    return new Promise<void>((resolve) => {
      finish = resolve
    })
  }
  const executor = cluster.executor({ handlers: { noop }, concurrency: 1 })
  const next = async (): Promise<string> => {
    const seen = starts.length
    // Promises alone would not give the reader a turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
    finish()
    while (starts.length === seen) await new Promise<void>((resolve) => (started = resolve))
    return starts.at(-1) ?? ''
  }
  // They are there before their worker: what may have ended another one starts by its priority too (ADR 0129).
  const low = Array.from({ length: 100_000 }, (_, index) => cluster.record({ jobId: `low-${index}`, priority: 'LOW' }))
  await cluster.dispatch(low, 5_000)
  await executor.start()
  while ((await next()) !== 'low');

  const count = 300
  const high = idsOfOnePartition('high', count).map((jobId) => cluster.record({ jobId, priority: 'HIGH' }))
  // All of them are in one transaction, and so in one batch: when one is there, all are.
  await cluster.dispatch(high, count)
  // Any number of LOW runs may start before the HIGH runs are fetched. From the first HIGH run on, only the order matters.
  while ((await next()) !== 'high');
  const order = ['high']
  while (order.filter((level) => level === 'high').length < count) order.push(await next())
  const lows = order.flatMap((level, index) => (level === 'low' ? [index] : []))
  expect(lows).toHaveLength(Math.floor(order.length / agedEvery))
  lows.slice(1).forEach((place, index) => {
    expect(place - (lows[index] ?? 0)).toBe(agedEvery)
  })
  // Without HIGH runs the lower priorities continue.
  expect([await next(), await next()]).toEqual(['low', 'low'])
})
