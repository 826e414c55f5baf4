/**
 * restore: pending jobs, from the topics alone and with the local store. The figure is the time from the start of the process
 * until every partition fires.
 */
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, jobs, Stage } from '../tools/bed.ts'

const farMs = 7 * 86_400_000

export async function restore(bed: Bed, n = 1_000_000): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    const at = Date.now() + farMs
    const client = createClient({ brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix })
    await client.scheduleMany(jobs(n, (index) => at + index, 200))
    await client.close()
    const cold = await stage.start('scheduler', 'owner')
    const coldReport = await cold.report()
    await cold.stop()
    const warm = await stage.start('scheduler', 'owner')
    const warmReport = await warm.report()
    return {
      n,
      fromTopicsMs: Math.round(cold.readyMs),
      withStoreMs: Math.round(warm.readyMs),
      rssPeakMb: Math.round(coldReport.rssPeakBytes / 2 ** 20),
      rssWarmMb: Math.round(warmReport.rssPeakBytes / 2 ** 20),
      cpuMs: Math.round(coldReport.cpuMs),
    }
  } finally {
    await stage.close()
  }
}
