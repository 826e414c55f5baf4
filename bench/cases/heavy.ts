/**
 * heavy: jobs of 500 kB are due at one instant, beside light jobs that fire each second in the same partitions. The figures are
 * the peak memory of the owner, and how late the light jobs were dispatched meanwhile against the quiet time before, by the
 * append times of the log.
 *
 * heavy-whole: the same in one process with all roles, as `npm start` runs them beside its broker.
 */
import type { KafkaClient } from '../../src/clients/client/client.ts'
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, benchJob, jobs, Stage } from '../tools/bed.ts'
import { spreadOf } from '../tools/neighbours.ts'
import { applied } from './accept.ts'
import { settled } from './settled.ts'

const payloadBytes = 500_000
const neighbours = 20
const quietMs = 15_000
/** Jobs that measure how long it takes to write the others. */
const probes = 20
const farAt = Date.now() + 10 * 86_400_000
/** Owners dispatch a run this long before it is due. */
const leadMs = 100

export const heavyWhole = (bed: Bed, n?: number): Promise<Record<string, unknown>> => heavy(bed, n, true)

export async function heavy(bed: Bed, n = 2_000, isWhole = false): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    const env = { DUELOG_CONCURRENCY: '200' }
    const owner = await stage.start(isWhole ? 'scheduler,executor,retrier,api' : 'scheduler', 'owner', env)
    const executor = isWhole ? owner : await stage.start('executor,retrier', 'executor', env)
    const client = createClient({ brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix })
    const dueAt = Date.now() + 2 * quietMs + Math.ceil(1.2 * n * (await msPerJob(client)))
    const light = Array.from({ length: neighbours }, (_, index) => ({
      ...benchJob(`warm-${index}`, 0, 10),
      ...{ schedule: { everyMs: 1_000 }, endAt: dueAt + 2 * quietMs + 30 * n, maxConcurrentRuns: 100 },
    }))
    await client.scheduleMany(light)
    await client.scheduleMany(jobs(n, () => dueAt, payloadBytes))
    await applied(stage, owner.url)
    await client.close()
    const quietFrom = Date.now()
    const report = await settled(executor, Number.POSITIVE_INFINITY, dueAt)
    const scheduler = await owner.report()
    const mb = (bytes: number): number => Math.round(bytes / 2 ** 20)
    return {
      n,
      quietMs: dueAt - quietFrom,
      ...{ starts: report.timedStarts, neighbourStarts: report.starts - report.timedStarts },
      ...{ duplicates: report.duplicates, early: report.early, latenessMs: report.latenessMs },
      ...(await neighboursOf(stage, quietFrom, dueAt)),
      ...(isWhole
        ? { wholeRssPeakMb: mb(scheduler.rssPeakBytes) }
        : { schedulerRssPeakMb: mb(scheduler.rssPeakBytes), executorRssPeakMb: mb(report.rssPeakBytes) }),
    }
  } finally {
    await stage.close()
  }
}

async function msPerJob(client: KafkaClient): Promise<number> {
  // The first jobs run before the code is compiled.
  await client.scheduleMany(jobs(probes, () => farAt, payloadBytes, 'warm-up'))
  const beganAt = Date.now()
  await client.scheduleMany(jobs(probes, () => farAt, payloadBytes, 'probe'))
  return (Date.now() - beganAt) / probes
}

/** How long after their due time the light runs were in the log. Below zero: how long before it. */
async function neighboursOf(stage: Stage, quietFrom: number, dueAt: number): Promise<Record<string, unknown>> {
  const late = { quiet: [] as number[], storm: [] as number[] }
  const seen: { dueAt: number; afterMs: number }[] = []
  let stormUntil = dueAt
  await stage.log.readToEnd({
    topics: [false, true].map((ahead) => stage.names.executions('default', 'NORMAL', ahead)),
    async onRecord({ value, timestampMs }) {
      if (value === null) return
      const execution = await stage.codecs.execution.decode(value)
      if (execution.jobId.startsWith('warm-')) seen.push({ dueAt: execution.dueAt, afterMs: timestampMs - execution.dueAt })
      else stormUntil = Math.max(stormUntil, timestampMs)
    },
    onProgress() {},
    signal: AbortSignal.timeout(600_000),
  })
  for (const { dueAt: at, afterMs } of seen) {
    if (at >= quietFrom && at < dueAt - 1_000) late.quiet.push(afterMs)
    else if (at >= dueAt && at <= stormUntil) late.storm.push(afterMs)
  }
  const [quiet, storm] = [spreadOf(late.quiet), spreadOf(late.storm)]
  const ratio = Math.round(((storm.p99 + leadMs) / (quiet.p99 + leadMs)) * 100) / 100
  return { stormMs: stormUntil - dueAt, neighbourAppendedAfterDueMs: { quiet, storm }, neighbourP99Ratio: ratio }
}
