/**
 * recurring: jobs that repeat every ten seconds, their times spread evenly over them. The figure is the lateness of handler starts
 * in one minute, after the warm-up. An owner that falls behind skips missed occurrences, as catchUp LATEST says, and counts each; `lost`
 * are those that were neither started nor counted.
 */
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, Stage } from '../tools/bed.ts'
import { applied } from './accept.ts'
import { settled } from './settled.ts'

const everyMs = 10_000
const [warmUpRounds, rounds] = [2, 6]

/** `n`: jobs. Each is defined twice, so that the starts of the warm-up have other ids. */
export async function recurring(bed: Bed, n = 100_000): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    const executor = await stage.start('executor,retrier', 'executor', { DUELOG_CONCURRENCY: '200' })
    const owner = await stage.start('scheduler', 'owner')
    const client = createClient({ brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix })
    const from = Date.now() + 20_000 + n / 5
    const definitions = function* (name: string, firstMs: number, count: number) {
      for (let index = 0; index < n; index++) {
        const startAt = firstMs + Math.floor((index * everyMs) / n)
        const endAt = startAt + (count - 1) * everyMs
        yield { id: `${name}-${index}`, schedule: { everyMs, anchor: startAt }, startAt, endAt, target: { handler: 'bench' } }
      }
    }
    await client.scheduleMany(definitions('warm', from, warmUpRounds))
    await client.scheduleMany(definitions('job', from + warmUpRounds * everyMs, rounds))
    await applied(stage, owner.url)
    await client.close()
    const due = n * (warmUpRounds + rounds)
    const report = await settled(executor, due, from + (warmUpRounds + rounds) * everyMs)
    const scheduler = await owner.report()
    const skipped = await skippedOf(owner.url)
    return {
      n,
      everyMs,
      starts: report.starts,
      duplicates: report.duplicates,
      skipped,
      lost: due - report.distinct - skipped,
      early: report.early,
      latenessMs: report.latenessMs,
      warmUpLatenessMs: report.warmUpLatenessMs,
      schedulerCpuMs: Math.round(scheduler.cpuMs),
      executorCpuMs: Math.round(report.cpuMs),
      schedulerRssPeakMb: Math.round(scheduler.rssPeakBytes / 2 ** 20),
    }
  } finally {
    await stage.close()
  }
}

/** Occurrences that the owner has skipped, for any reason. */
async function skippedOf(url: string): Promise<number> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n')
  return lines.reduce((sum, line) => (line.startsWith('duelog_skipped_total') ? sum + Number(line.split(' ')[1]) : sum), 0)
}
