/** What the metrics show of a restore, also when it ends before the partition fires. */
import { expect, it } from 'vitest'
import { newMetrics } from '../../../src/ground/metrics/metrics.ts'
import { RestoreProgress } from '../../../src/scheduler/partition/partition-life.ts'

it('a restore that ends early leaves no number behind', async () => {
  const metrics = newMetrics()
  const positions = { done: () => 40 }
  const place = { partition: 3, life: { role: 'standby', phase: 'restoring' }, positions, shared: { metrics } }
  const progress = new RestoreProgress(place as unknown as ConstructorParameters<typeof RestoreProgress>[0], {
    state: 100,
    jobs: 0,
  })
  progress.restoreEnd = 100
  progress.measureRestore()
  progress.measureBehind()
  const shown = async () =>
    (await Promise.all([metrics.restoreRemaining.get(), metrics.standbyBehind.get()])).flatMap(({ values }) => values)
  expect(await shown()).toEqual([
    { labels: { partition: 3 }, value: 60 },
    { labels: { partition: 3 }, value: 60 },
  ])
  progress.end()
  expect((await shown()).map(({ value }) => value)).toEqual([0, 0])
})
