/** Current problems, the most urgent first. */

import { duration } from '../../../streams/text/index.ts'
import type { StatsMessage } from '../../answers/index.ts'
import type { Rates } from './rates.ts'
import { counted } from './words.ts'

export interface Trouble {
  text: string
  /** Page with the details. */
  href?: string
  /** It waits for a decision of a person, and nothing is late because of it. */
  waits?: boolean
}

/** What needs attention in all partitions; `missing`: partitions whose owner has not counted it yet. */
export interface Standing {
  deadRuns: number
  deadJobs: number
  invalid: number
  missing: number
}

export function standingOf({ partitions }: Pick<StatsMessage, 'partitions'>): Standing {
  const sum = { deadRuns: 0, deadJobs: 0, invalid: 0, missing: 0 }
  for (const { standing } of partitions) {
    if (standing == null) sum.missing++
    else {
      sum.deadRuns += standing.deadRuns
      sum.deadJobs += standing.deadJobs
      sum.invalid += standing.invalid
    }
  }
  return sum
}

/** A truncated topic is reported for a day. */
const resetShownMs = 86_400_000

/** Timers and starts that are later than this are a problem. */
const lateMs = 1_000

/** `kept`: the stats messages of the last 10 minutes, oldest first. */
export function troublesOf(kept: readonly StatsMessage[], rates: Rates | undefined): Trouble[] {
  const [first, latest] = [kept[0], kept.at(-1)]
  if (first === undefined || latest === undefined) return []
  const { partitions } = latest
  const troubles: Trouble[] = []
  const faults = latest.proof?.found ?? 0
  if (faults > 0) troubles.push({ text: `The audit found ${counted(faults, 'fault')}.`, href: '/proof' })
  const ownerless = partitions.filter(({ instance }) => instance === null)
  if (ownerless.length > 0) troubles.push({ text: `${named(ownerless)}: no owner, so nothing fires.` })
  troubles.push(...stoppedOf(latest).map(({ text }) => ({ text })))
  troubles.push(...rulesOf(latest), ...resetsOf(latest), ...openTransactionsOf(latest))
  const coming = partitions.filter(({ instance, phase }) => instance !== null && phase !== 'active')
  if (coming.length > 0) troubles.push({ text: `${named(coming)}: taking over or restoring.` })
  const behind = partitions.filter(({ overdueMs }) => overdueMs > lateMs)
  if (behind.length > 0) {
    const most = Math.max(...behind.map(({ overdueMs }) => overdueMs))
    troubles.push({ text: `${named(behind)}: due work waits for the owner, the oldest for ${duration(most)}.` })
  }
  if ((rates?.p99Ms ?? 0) > lateMs)
    troubles.push({ text: `1% of starts are more than ${duration(rates?.p99Ms ?? 0)} late.`, href: '/workers' })
  const dead = (latest.counts.ended.DEAD ?? 0) - (first.counts.ended.DEAD ?? 0)
  if (dead > 0) {
    const over = duration(Math.max(1_000, latest.at - first.at))
    troubles.push({ text: `${counted(dead, 'new dead letter')} in the last ${over}.`, href: '/dead-letters' })
  }
  return [...troubles, ...waitingOf(latest)]
}

/** What stands until a person acts, independent of when this page was opened. */
function waitingOf(latest: StatsMessage): Trouble[] {
  const { deadRuns, deadJobs, invalid } = standingOf(latest)
  const troubles: Trouble[] = []
  const withoutHandler = latest.partitions.reduce((sum, { underWay }) => sum + (underWay.withoutHandler ?? 0), 0)
  if (withoutHandler > 0) {
    const text = `${counted(withoutHandler, 'run')} ${withoutHandler === 1 ? 'waits' : 'wait'}, because no worker of the pool has the handler. Start a worker that has it.`
    troubles.push({ text, href: '/runs' })
  }
  troubles.push(...pausedOf(latest))
  if (deadRuns > 0) {
    const text = `${counted(deadRuns, 'dead letter')} of ${counted(deadJobs, 'job')} ${deadRuns === 1 ? 'waits' : 'wait'} for a decision.`
    troubles.push({ text, href: '/dead-letters', waits: true })
  }
  if (invalid > 0) {
    const text = `${counted(invalid, 'job')} ${invalid === 1 ? 'is' : 'are'} INVALID and will not fire.`
    troubles.push({ text, href: '/jobs?status=INVALID', waits: true })
  }
  return troubles
}

/** Pools whose runs wait until somebody resumes them. A paused pool without runs is no trouble. */
function pausedOf({ partitions }: StatsMessage): Trouble[] {
  const waiting = new Map<string, number>()
  for (const { pools = [] } of partitions)
    for (const { pool, inPausedPools = 0 } of pools)
      if (inPausedPools > 0) waiting.set(pool, (waiting.get(pool) ?? 0) + inPausedPools)
  return Array.from(waiting, ([pool, runs]) => {
    const text = `The pool ${pool} is paused, and ${counted(runs, 'run')} ${runs === 1 ? 'waits' : 'wait'}.`
    return { text, href: '/pools', waits: true }
  })
}

const named = (some: StatsMessage['partitions']): string =>
  `${some.length === 1 ? 'Partition' : 'Partitions'} ${some.map(({ partition }) => partition).join(', ')}`

/** Owners that do not trust their clock and therefore decide nothing, in any of their partitions. */
export function stoppedOf({ partitions }: StatsMessage): Trouble[] {
  const stopped = partitions.filter(({ problem }) => problem != null)
  return [...new Set(stopped.map(({ instance }) => instance))].map((instance) => {
    const own = stopped.filter((state) => state.instance === instance)
    const owner = instance === null ? '' : ` of ${instance}`
    return { text: `${named(own)}${owner}: nothing fires, and no change is applied. ${own[0]?.problem}`, href: '/' }
  })
}

/** Owners with different time zone rules: a job with a time zone may fire at another time after its partition moves. */
function rulesOf({ partitions }: StatsMessage): Trouble[] {
  const rules = [...new Set(partitions.flatMap(({ zoneRules }) => zoneRules ?? []))].sort()
  if (rules.length < 2) return []
  const each = rules.map(
    (version) => `${version} (${named(partitions.filter(({ zoneRules }) => zoneRules === version)).toLowerCase()})`,
  )
  return [{ text: `Owners use different time zone rules: ${each.join(', ')}. Run all of them on the same version of Node.` }]
}

function openTransactionsOf({ at, partitions }: StatsMessage): Trouble[] {
  return partitions.flatMap(({ partition, openTransaction }) => {
    if (openTransaction == null) return []
    const { topic, offset, records, since } = openTransaction
    const text = `Partition ${partition}: a transaction in ${topic} has been open for ${duration(Math.max(0, at - since))}. It blocks ${counted(records, 'record')} from offset ${offset} on. Stop the producer that opened it, or abort it with kafka-transactions.sh.`
    return [{ text }]
  })
}

function resetsOf({ at, partitions }: StatsMessage): Trouble[] {
  return partitions.flatMap(({ partition, lastReset }) => {
    if (lastReset == null || at - lastReset.at >= resetShownMs) return []
    const { topic, from, to, reason } = lastReset
    const head = `Partition ${partition}: ${topic}`
    if (reason === 'lost') return [{ text: `${head} lost its state; jobs restarted from their definitions.` }]
    if (topic.endsWith('job-state'))
      return [{ text: `${head} was truncated or recreated; its owner has written the state again.` }]
    const what = reason === 'expired' ? 'lost records before they were read' : 'was truncated or recreated'
    const text = `${head} ${what}. Reading continued at offset ${to} instead of ${from}. Send the missing records again.`
    return [{ text }]
  })
}
