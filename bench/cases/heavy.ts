/**
 * heavy: jobs of 500 kB due at one instant, and light ones each second in the same partitions. The figures are the memory of the owner
 * at its peak, and how late the light ones started meanwhile.
 */
import { createClient } from '../../src/connect.ts'
import { type Bed, benchJob, jobs, Stage } from '../tools/bed.ts'
import { applied } from './accept.ts'
import { settled } from './settled.ts'

const payloadBytes = 500_000
const neighbours = 20
/** Time to write the definitions: as the slowest disk met so far took. */
const msPerJob = 30

export async function heavy(bed: Bed, n = 2_000): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    const executor = await stage.start('executor,retrier', 'executor', { DUELOG_CONCURRENCY: '200' })
    const owner = await stage.start('scheduler', 'owner')
    const client = createClient({ brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix })
    const dueAt = Date.now() + 15_000 + n * msPerJob
    await client.scheduleMany(jobs(n, () => dueAt, payloadBytes))
    const writtenBeforeMs = Math.round(dueAt - Date.now())
    const light = Array.from({ length: neighbours }, (_, index) => ({
      ...benchJob(`warm-${index}`, 0, 10),
      ...{ schedule: { everyMs: 1_000 }, endAt: dueAt + 30_000, maxConcurrentRuns: 100 },
    }))
    await client.scheduleMany(light)
    await applied(stage, owner.url)
    await client.close()
    // The light ones end half a minute later: then nothing starts any more.
    const report = await settled(executor, Number.POSITIVE_INFINITY, dueAt)
    const scheduler = await owner.report()
    return {
      n,
      writtenBeforeMs,
      starts: report.timedStarts,
      neighbourStarts: report.starts - report.timedStarts,
      duplicates: report.duplicates,
      early: report.early,
      latenessMs: report.latenessMs,
      neighbourLatenessMs: report.warmUpLatenessMs,
      schedulerRssPeakMb: Math.round(scheduler.rssPeakBytes / 2 ** 20),
      executorRssPeakMb: Math.round(report.rssPeakBytes / 2 ** 20),
    }
  } finally {
    await stage.close()
  }
}
