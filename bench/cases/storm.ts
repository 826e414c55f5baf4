/**
 * storm: jobs due at one instant. The figure is the time from that instant to the start of the last handler, with broker,
 * scheduler and executor on this machine.
 */
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, jobs, Stage } from '../tools/bed.ts'
import { applied } from './accept.ts'
import { settled } from './settled.ts'

/** Time to write the definitions, and for the owners to see the burst coming. */
const aheadMs = 25_000

export async function storm(bed: Bed, n = 100_000): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    const executor = await stage.start('executor,retrier', 'executor', { DUELOG_CONCURRENCY: '200' })
    const owner = await stage.start('scheduler', 'owner')
    const dueAt = Date.now() + aheadMs + n / 10
    const client = createClient({ brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix })
    await client.scheduleMany(jobs(n, () => dueAt, 100))
    await applied(stage, owner.url)
    await client.close()
    const report = await settled(executor, n, dueAt)
    const scheduler = await owner.report()
    return {
      n,
      starts: report.starts,
      duplicates: report.duplicates,
      lost: n - report.distinct,
      early: report.early,
      firstStartMs: Math.round(report.firstStartAt - dueAt),
      lastStartMs: Math.round(report.lastStartAt - dueAt),
      latenessMs: report.latenessMs,
      schedulerRssPeakMb: Math.round(scheduler.rssPeakBytes / 2 ** 20),
      executorRssPeakMb: Math.round(report.rssPeakBytes / 2 ** 20),
    }
  } finally {
    await stage.close()
  }
}
