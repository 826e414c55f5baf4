/**
 * scale: many pending jobs in one owner. The figures are the rate at which they are applied, its memory with them, the lateness of
 * 1,000 other jobs each second beside them, and the time until it fires again after a restart, with its store and without.
 */
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, jobs, Stage } from '../tools/bed.ts'
import { applied, perSecond } from './accept.ts'
import { steady } from './precision.ts'

const farMs = 7 * 86_400_000
const firedMax = 30_000
const payloadBytes = 200

/** `n`: pending jobs, due one ms after the other in a week. */
export async function scale(bed: Bed, n = 10_000_000): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    const first = await stage.start('scheduler', 'owner')
    const at = Date.now() + farMs
    const client = createClient({ brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix })
    const startedAt = performance.now()
    await client.scheduleMany(jobs(n, (index) => at + index, payloadBytes))
    const durableMs = performance.now() - startedAt
    await applied(stage, first.url)
    const appliedMs = performance.now() - startedAt
    await client.close()
    const loaded = await first.report()
    const executor = await stage.start('executor,retrier', 'executor')
    const fired = await steady(stage, { owner: first, executor, n: firedMax })
    const afterFires = await first.report()
    await executor.stop()
    await first.stop()
    const restarted = await stage.start('scheduler', 'owner')
    const { rssPeakBytes: rssRestartedBytes } = await restarted.report()
    await restarted.stop()
    const restored = await stage.start('scheduler', 'empty')
    const { rssPeakBytes: rssRestoredBytes, cpuMs: restoreCpuMs } = await restored.report()
    return {
      n,
      durablePerSecond: perSecond(n, durableMs),
      appliedPerSecond: perSecond(n, appliedMs),
      ownerCpuUsEach: Math.round((loaded.cpuMs * 10_000) / n) / 10,
      rssLoadedMb: megabytes(loaded.rssBytes),
      rssLoadedPeakMb: megabytes(loaded.rssPeakBytes),
      rssAfterFiresMb: megabytes(afterFires.rssBytes),
      fired,
      withStoreMs: Math.round(restarted.readyMs),
      rssWithStoreMb: megabytes(rssRestartedBytes),
      fromTopicsMs: Math.round(restored.readyMs),
      rssFromTopicsMb: megabytes(rssRestoredBytes),
      restoreCpuMs: Math.round(restoreCpuMs),
    }
  } finally {
    await stage.close()
  }
}

const megabytes = (bytes: number): number => Math.round(bytes / 2 ** 20)
