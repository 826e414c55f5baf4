/**
 * paths: where the time of a job goes. 300 jobs a second are scheduled one by one, each due 8 s later. The figures are the times
 * between the requests of each process: from the client to the owner, from the owner's transaction to the start of the handler, and
 * from the start to the state in the log. Dispatch is earlier than the due time, so the wait in the worker is reported apart.
 */
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, benchJob, Stage } from '../tools/bed.ts'
import { openLoop } from '../tools/open-loop.ts'
import { steadyMs } from '../tools/path-marks.ts'
import { withMarks } from '../tools/processes.ts'
import { spreadOf, type Way } from '../tools/ways.ts'
import { settled } from './settled.ts'

const perSecond = 300
const aheadMs = 8_000
const warmUpMs = 10_000
/** Reports of the last runs reach the log in this time. */
const restMs = 2_000

/** In order, each from its first mark to its second. */
const parts: Record<string, readonly (readonly [name: string, from: keyof Way, to: keyof Way])[]> = {
  definition: [
    ['sentToAcknowledged', 'sent', 'acknowledged'],
    ['sentToFetchedByOwner', 'sent', 'definitionFetched'],
  ],
  dispatch: [
    ['beginToProduceSent', 'transactionBegun', 'produceSent'],
    ['produce', 'produceSent', 'produced'],
    ['producedToEndSent', 'produced', 'endSent'],
    ['end', 'endSent', 'ended'],
    ['beginToEnd', 'transactionBegun', 'ended'],
    ['endSentToFetchedByWorker', 'endSent', 'executionFetched'],
    ['waitOfWorker', 'executionFetched', 'started'],
  ],
  report: [
    ['startedToReportSent', 'started', 'reportSent'],
    ['reportSentToAcknowledged', 'reportSent', 'reportAcknowledged'],
    ['reportSentToFetchedByOwner', 'reportSent', 'reportFetched'],
    ['fetchedToTransaction', 'reportFetched', 'stateBegun'],
    ['transaction', 'stateBegun', 'stateLogged'],
    ['startedToStateLogged', 'started', 'stateLogged'],
  ],
}

/** `n`: the number of measured jobs. BENCH_PER_SECOND: their rate. */
export async function paths(bed: Bed, n = 9_000): Promise<Record<string, unknown>> {
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
      await client.schedule(benchJob(id, Date.now() + aheadMs, 200))
      way.acknowledged = steadyMs()
    })
    const report = await settled(executor, warm + n, Date.now() + aheadMs + restMs)
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
      latenessMs: report.latenessMs,
      ...Object.fromEntries(
        Object.entries(parts).map(([path, of]) => [
          path,
          Object.fromEntries(of.map(([name, from, to]) => [name, spreadOf(measured, from, to)])),
        ]),
      ),
    }
  } finally {
    await stage.close()
  }
}
