/** Checks of a topic of the user: each run that succeeded is one record there, never early, and in order. */
import type { Entry, MemoryLog } from '../../tools/memory-log.ts'
import type { Facts } from './facts.ts'
import type { Ledger } from './ledger.ts'
import { hasLimit, type Lives, lifeName, runName } from './lives.ts'
import { headerNames, isShown, placesOf } from './reading.ts'

/** The topic of the user that jobs write to, and the header that names each definition. */
const ordersTopic = 'orders'
const madeHeader = 'made'

interface Written extends Entry {
  jobId: string
  runNo: number
  scheduledFor: number
  lifeNo: number
  place: string
}

export function recordProblems(log: MemoryLog, lives: Lives, { runs }: Ledger, facts: Facts): string[] {
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
    // By true time: a record may be early only by as much as the clock of its owner was ahead.
    if (at < scheduledFor - facts.aheadMs) problems.push(`${name} was written ${scheduledFor - at} ms early`)
    const [life] = lives.get(jobId)?.slice(lifeNo) ?? []
    const order = `${place} ${lifeName(jobId, lifeNo)}`
    // A run that waits for a limit is overtaken by runs of a definition without a limit. While the topic exists all the time, no
    // run waits for it while a later one does not.
    const inOrder = facts.steady && life !== undefined && (life.definitions.length === 1 || !hasLimit(life))
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

function writtenIn(log: MemoryLog, lives: Lives): Written[] {
  return placesOf(log, ordersTopic).flatMap(({ partition, log: orders }) =>
    orders.archive.filter(isShown).map((entry) => {
      const text = (name: string): string => entry.record?.headers[name]?.toString() ?? ''
      const jobId = text(headerNames.jobId)
      const made = text(madeHeader)
      const lifeNo = (lives.get(jobId) ?? []).findIndex(({ definitions }) =>
        definitions.some(({ spec }) => spec?.headers[madeHeader]?.toString() === made),
      )
      const [runNo, scheduledFor] = [Number(text(headerNames.runNo)), Number(text(headerNames.scheduledFor))]
      return { ...entry, jobId, runNo, scheduledFor, lifeNo, place: `${partition} ${entry.record?.key?.toString()}` }
    }),
  )
}
