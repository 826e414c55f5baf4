/**
 * precision: a steady rate of jobs that are due at random milliseconds. The figure is the lateness of handler starts against
 * their due times (open loop).
 */
import { createClient } from '../../src/library/create-client.ts'
import { type Bed, jobs, Stage } from '../tools/bed.ts'
import { applied } from './accept.ts'
import { settled } from './settled.ts'

const perSecondDue = 1_000
const aheadMs = 20_000
/** The same rate runs first and is reported apart: new processes compile their code while the first jobs come. */
const warmUpMs = 10_000

export async function precision(bed: Bed, n = 60_000): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    const executor = await stage.start('executor,retrier', 'executor')
    const owner = await stage.start('scheduler', 'owner')
    const spanMs = (n / perSecondDue) * 1_000
    const from = Date.now() + aheadMs
    const client = createClient({ brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix })
    const warmUp = (warmUpMs / 1_000) * perSecondDue
    await client.scheduleMany(jobs(warmUp, () => Math.floor(from - Math.random() * warmUpMs), 100, 'warm'))
    await client.scheduleMany(jobs(n, () => Math.floor(from + Math.random() * spanMs), 100))
    await applied(stage, owner.url)
    await client.close()
    const report = await settled(executor, n + warmUp, from + spanMs)
    return {
      n,
      perSecondDue,
      duplicates: report.duplicates,
      lost: n + warmUp - report.distinct,
      early: report.early,
      latenessMs: report.latenessMs,
      warmUpLatenessMs: report.warmUpLatenessMs,
      schedulerCpuMs: Math.round((await owner.report()).cpuMs),
      executorCpuMs: Math.round(report.cpuMs),
    }
  } finally {
    await stage.close()
  }
}
