/**
 * now: 20 jobs a second that are due at once, written one by one with the client. The figure is the time from the call until the
 * handler starts (open loop), and what each part of the way takes.
 */
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, benchJob, Stage } from '../tools/bed.ts'
import { openLoop } from '../tools/open-loop.ts'
import { steadyMs } from '../tools/path-marks.ts'
import { withMarks } from '../tools/processes.ts'
import { spreadOf, type Way } from '../tools/ways.ts'
import { settled } from './settled.ts'

const perSecond = 20
/** The same rate runs first and is reported apart. */
const warmUpMs = 5_000

/** The parts of the way in order, each from its first mark to its second. `sent` and `acknowledged` are of the client. */
const parts: readonly (readonly [name: string, from: keyof Way, to: keyof Way])[] = [
  ['sentToAcknowledged', 'sent', 'acknowledged'],
  ['sentToFetched', 'sent', 'definitionFetched'],
  ['fetchedToBegun', 'definitionFetched', 'transactionBegun'],
  ['begunToProduceSent', 'transactionBegun', 'produceSent'],
  ['produce', 'produceSent', 'produced'],
  ['producedToEndSent', 'produced', 'endSent'],
  ['end', 'endSent', 'ended'],
  ['begunToEnded', 'transactionBegun', 'ended'],
  ['endSentToFetched', 'endSent', 'executionFetched'],
  ['executionAskedToFetched', 'executionAsked', 'executionFetched'],
  ['fetchedToStarted', 'executionFetched', 'started'],
  ['sentToStarted', 'sent', 'started'],
]

/** `n`: the number of measured jobs. BENCH_PER_SECOND: their rate. */
export async function now(bed: Bed, n = 600): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    const rate = Number(process.env.BENCH_PER_SECOND ?? perSecond)
    const executor = await stage.start('executor,retrier', 'executor', withMarks())
    const owner = await stage.start('scheduler', 'owner', withMarks())
    const client = createClient({ brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix })
    const ways = new Map<string, Way>()
    const warm = Math.round((warmUpMs / 1_000) * rate)
    await openLoop(warm + n, rate, async (index) => {
      const id = index < warm ? `warm-${index}` : `job-${index}`
      const way: Way = { sent: steadyMs() }
      ways.set(id, way)
      await client.schedule(benchJob(id, Date.now(), 200))
      way.acknowledged = steadyMs()
    })
    const report = await settled(executor, warm + n, Date.now())
    await client.close()
    for (const marks of [await owner.marks(), await executor.marks()])
      for (const [id, of] of Object.entries(marks)) Object.assign(ways.get(id) ?? {}, of)
    const measured = [...ways].filter(([id]) => id.startsWith('job-')).map(([, way]) => way)
    return {
      n,
      perSecond: rate,
      duplicates: report.duplicates,
      lost: warm + n - report.distinct,
      early: report.early,
      refusals: measured.reduce((sum, { refusals = 0 }) => sum + refusals, 0),
      startMs: spreadOf(measured, 'sent', 'started'),
      warmUpStartMs: spreadOf(
        [...ways].filter(([id]) => id.startsWith('warm-')).map(([, way]) => way),
        'sent',
        'started',
      ),
      partsMs: Object.fromEntries(parts.map(([name, from, to]) => [name, spreadOf(measured, from, to)])),
      schedulerCpuMs: Math.round((await owner.report()).cpuMs),
      executorCpuMs: Math.round(report.cpuMs),
    }
  } finally {
    await stage.close()
  }
}
