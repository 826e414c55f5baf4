/** What must be true of a topic of the user's: each run that succeeded is one record there, never early, and in order. */
import { recordHeaders } from '../../../streams/runs/topic-record.ts'
import { type Entry, isShown, type MemoryLog } from '../../tools/memory-log.ts'
import { ordersTopic } from '../world.ts'
import { madeHeader } from './definitions.ts'
import { type Ledger, lifeName, runName } from './ledger.ts'
import { hasLimit, type Life } from './oracle.ts'

interface Written extends Entry {
  jobId: string
  runNo: number
  scheduledFor: number
  lifeNo: number
  place: string
}

/** `steady`: the topic was always there, so no run waited for it while a later one did not. */
export function recordProblems(log: MemoryLog, lives: Map<string, Life[]>, { runs }: Ledger, steady: boolean): string[] {
  const problems: string[] = []
  const counts = new Map<string, number>()
  const latest = new Map<string, number>()
  for (const written of writtenIn(log, lives)) {
    const { jobId, lifeNo, runNo, scheduledFor, place, transaction, at } = written
    const name = runName(jobId, lifeNo, runNo)
    if (lifeNo < 0) problems.push(`${name} was written from a definition that never was`)
    counts.set(name, (counts.get(name) ?? 0) + 1)
    const run = runs.get(name)
    if (run?.end !== undefined && (run.end.status !== 'SUCCEEDED' || run.endedIn !== transaction))
      problems.push(`${name} was written in another transaction than that which ended it as ${run.end.status}`)
    // By the owner's clock, which may be wrong, or in truth. Of a job that was deleted at once the owner's is not known.
    // One that was queued was due already for the clock that queued it.
    const [life] = lives.get(jobId)?.slice(lifeNo) ?? []
    const queued = life?.definitions.some(({ spec }) => spec?.overlap === 'QUEUE_ONE')
    if (!queued && Math.max(run?.end?.startedAt ?? scheduledFor, at) < scheduledFor)
      problems.push(`${name} was written ${scheduledFor - at} ms early`)
    const order = `${place} ${lifeName(jobId, lifeNo)}`
    // One that waits for a limit is overtaken by those of a definition that has none.
    const inOrder = steady && life !== undefined && (life.definitions.length === 1 || !hasLimit(life))
    if (inOrder && runNo < (latest.get(order) ?? 0)) problems.push(`${name} was written after run ${latest.get(order)}`)
    latest.set(order, runNo)
  }
  for (const [name, count] of counts) if (count > 1) problems.push(`${name} was written ${count} times`)
  for (const [name, { jobId, lifeNo, end }] of runs) {
    const definitions = lives.get(jobId)?.[lifeNo]?.definitions ?? []
    const always = definitions.every(({ spec }) => spec?.target.topic)
    if (always && end?.status === 'SUCCEEDED' && !counts.has(name)) problems.push(`${name} succeeded and was never written`)
  }
  return problems
}

function writtenIn(log: MemoryLog, lives: Map<string, Life[]>): Written[] {
  return log.allOf(ordersTopic).flatMap(({ partition, log: orders }) =>
    orders.archive.filter(isShown).map((entry) => {
      const text = (name: string): string => entry.record?.headers[name]?.toString() ?? ''
      const jobId = text(recordHeaders.jobId)
      const made = text(madeHeader)
      const lifeNo = (lives.get(jobId) ?? []).findIndex(({ definitions }) =>
        definitions.some(({ spec }) => spec?.headers[madeHeader]?.toString() === made),
      )
      const [runNo, scheduledFor] = [Number(text(recordHeaders.runNo)), Number(text(recordHeaders.scheduledFor))]
      return { ...entry, jobId, runNo, scheduledFor, lifeNo, place: `${partition} ${entry.record?.key?.toString()}` }
    }),
  )
}
