/** The retry forwarder on a real broker. */
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/ground/clock/clock.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { Retrier } from '../../src/worker/retrier/retrier.ts'
import { openCluster } from '../executor/cluster.ts'
import { silent } from '../executor/harness.ts'

const leadMs = 100

it('forwards committed retries of the first tier once each, no earlier than its delay less the lead', async () => {
  const cluster = await openCluster()
  const { names, log, codecs } = cluster
  const { events, until } = await cluster.watchEvents()
  const retrier = () => {
    const made = new Retrier({
      log,
      codecs,
      names,
      instance: 'retrier@test:1:a',
      clock: systemClock,
      metrics: newMetrics(),
      logger: silent,
      leadMs,
    })
    onTestFinished(() => made.stop())
    return made
  }
  const first = retrier()
  await first.start()
  const before = Date.now()
  const records = Array.from({ length: 500 }, (_, index) => ({
    ...cluster.record({ jobId: `job-${index}`, attempt: 2 }),
    topic: names.retry('1s'),
  }))
  await cluster.dispatch(records, 100)
  await until(() => events.length >= 500)
  await first.stop()
  const second = retrier()
  await second.start()
  await cluster.dispatch([{ ...cluster.record({ jobId: 'last', attempt: 3 }), topic: names.retry('1s') }])
  await until(() => events.some(({ jobId }) => jobId === 'last'))
  await expect.poll(() => cluster.lags(names.group('retry'), [names.retry('1s')])).toEqual([])

  expect(events).toHaveLength(501)
  expect(new Set(events.map(({ jobId }) => jobId)).size).toBe(501)
  const partitions = new Map(records.map(({ key, partition }) => [key, partition]))
  for (const { type, jobId, partition, timestampMs } of events) {
    expect(type).toBe('RETRY_DUE')
    expect(timestampMs).toBeGreaterThanOrEqual(before + 1_000 - leadMs)
    if (jobId !== 'last') expect(partition).toBe(partitions.get(jobId))
  }
})
