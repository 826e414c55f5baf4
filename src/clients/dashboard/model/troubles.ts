/** Current problems, the most urgent first. */
import { duration } from '../../../../streams/text/index.ts'
import type { Limit, Pool, StatsMessage } from '../../../ground/answers/index.ts'
import type { Rates } from './rates.ts'
import { counted, runsWait, statusWord, visible } from './words.ts'

export interface Trouble {
  text: string
  /** Page with the details. */
  href?: string
  /** It waits for a decision of a person, and nothing is late because of it. */
  waits?: boolean
}

/** What needs attention in all partitions; `missing`: partitions whose owner has not counted it yet. */
interface Standing {
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

/** Runs that have not ended, in all partitions. */
export function underWayOf(stats: StatsMessage | undefined): { dispatched: number; running: number; waiting: number } {
  const sum = { dispatched: 0, running: 0, waiting: 0 }
  for (const { underWay } of stats?.partitions ?? []) {
    sum.dispatched += underWay.dispatched
    sum.running += underWay.running
    sum.waiting += underWay.waiting
  }
  return sum
}

/** A truncated topic is reported for a day. */
const resetShownMs = 86_400_000

/** Timers and starts that are later than this are a problem. */
const lateMs = 1_000

/** Answers about pools and limits, which are no part of the stats messages. Undefined: not asked, or not answered. */
export interface Waits {
  pools?: readonly Pool[] | undefined
  limits?: LimitsSeen | undefined
}

/** Limits as one answer showed them. */
export interface LimitsSeen {
  at: number
  /** Since when and with how many waiting runs, for those that are more than full. By partition and key. */
  full: ReadonlyMap<string, { limit: Limit; since: number }>
}

/**
 * A limit is overloaded if more runs wait for it than it has slots, all slots are taken, and two answers in a row say so that are at least
 * this far apart. A burst that passes sooner is what limits are for.
 */
export const overloadedMs = 9_000
/** After a longer pause, as of a hidden page, it begins anew: nobody saw what was between. */
const pauseMsMax = 60_000

/** Adds an answer to what the answers before it showed. */
export function limitsSeen(before: LimitsSeen | undefined, limits: readonly Limit[], at: number): LimitsSeen {
  const isNext = before !== undefined && at >= before.at && at - before.at <= pauseMsMax
  const more = limits.filter(({ held, waiting, limit }) => held >= limit && waiting > limit)
  const full = more.map((limit) => {
    const name = `${limit.partition} ${limit.perMs ?? ''} ${limit.key}`
    return [name, { limit, since: (isNext ? before.full.get(name)?.since : undefined) ?? at }] as const
  })
  return { at, full: new Map(full) }
}

/** `kept`: the stats messages of the last 10 minutes, oldest first. */
export function troublesOf(kept: readonly StatsMessage[], rates: Rates | undefined, waits: Waits = {}): Trouble[] {
  const [first, latest] = [kept[0], kept.at(-1)]
  if (first === undefined || latest === undefined) return []
  const { partitions } = latest
  const troubles: Trouble[] = []
  const faults = latest.proof?.unacknowledged ?? 0
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
  const { p50Ms = 0, p99Ms = 0 } = rates ?? {}
  if (p99Ms > lateMs) {
    const most = p50Ms > lateMs ? `Half of the starts are more than ${duration(p50Ms)} late, 1%` : '1% of starts are'
    troubles.push({ text: `${most} more than ${duration(p99Ms)} late.`, href: '/workers' })
  }
  const dead = (latest.counts.ended.DEAD ?? 0) - (first.counts.ended.DEAD ?? 0)
  if (dead > 0) {
    const over = duration(Math.max(1_000, latest.at - first.at))
    troubles.push({ text: `${counted(dead, 'new dead letter')} in the last ${over}.`, href: '/dead-letters' })
  }
  return [...troubles, ...unservedOf(latest, waits.pools), ...waitingOf(latest, waits)]
}

/** What stands until a person acts, independent of when this page was opened. */
function waitingOf(latest: StatsMessage, { pools = [], limits }: Waits): Trouble[] {
  const { deadRuns, deadJobs, invalid } = standingOf(latest)
  const troubles: Trouble[] = []
  troubles.push(...withoutHandlerOf(latest), ...pausedOf(latest, pools), ...overloadedOf(latest, limits))
  if (deadRuns > 0) {
    const text = `${counted(deadRuns, 'dead letter')} of ${counted(deadJobs, 'job')} ${deadRuns === 1 ? 'waits' : 'wait'} for a decision.`
    troubles.push({ text, href: '/dead-letters', waits: true })
  }
  if (invalid > 0) {
    const text = `${counted(invalid, 'job')} ${invalid === 1 ? 'is' : 'are'} invalid and will not fire.`
    troubles.push({ text, href: '/jobs?status=INVALID', waits: true })
  }
  return troubles
}

/** Pools whose workers lack the handler of some runs. */
function withoutHandlerOf({ partitions }: StatsMessage): Trouble[] {
  const waiting = runsByPool(partitions, ({ withoutHandler }) => withoutHandler)
  const trouble = (runs: number, pool: string): Trouble => {
    const text = `${runsWait(runs)}, because no worker of ${pool} has the handler. Start a worker that has it.`
    return { text, href: '/runs?state=WAITING' }
  }
  return Array.from(waiting, ([pool, runs]) => trouble(runs, `the pool ${visible(pool)}`))
}

type PoolRuns = NonNullable<StatsMessage['partitions'][number]['pools']>[number]

function runsByPool(partitions: StatsMessage['partitions'], of: (runs: PoolRuns) => number | undefined): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { pools = [] } of partitions)
    for (const runs of pools) if ((of(runs) ?? 0) > 0) sums.set(runs.pool, (sums.get(runs.pool) ?? 0) + (of(runs) ?? 0))
  return sums
}

/** Pools whose runs wait until somebody resumes them. A paused pool without runs is no trouble. */
function pausedOf({ partitions }: StatsMessage, pools: readonly Pool[]): Trouble[] {
  const waiting = runsByPool(partitions, ({ inPausedPools }) => inPausedPools)
  return Array.from(waiting, ([pool, runs]) => {
    const state = pools.find((each) => each.pool === pool)?.state ?? 'PAUSED'
    const is = state === 'DRAINING' || state === 'DRAINED' ? statusWord(state) : 'paused'
    return { text: `The pool ${visible(pool)} is ${is}, and ${runsWait(runs)}.`, href: '/pools', waits: true }
  })
}

/** Whether the answer about pools is what says that a pool has no workers, which may be over before the next one. */
export const hasUnserved = (latest: StatsMessage | undefined, pools: readonly Pool[] | undefined): boolean =>
  latest !== undefined && unservedOf(latest, pools).length > 0

/** Pools without workers that have runs. The runs are those of now, the workers those of the last answer. */
function unservedOf({ partitions }: StatsMessage, pools: readonly Pool[] = []): Trouble[] {
  const unserved = pools.filter(({ workers, state }) => workers === 0 && state === 'ACTIVE')
  return unserved.flatMap(({ pool }) => {
    // Of the runs that wait, only these do nothing else until a worker comes.
    const ofPool = partitions.flatMap(({ pools: all = [] }) => all.filter((each) => each.pool === pool))
    const runs = ofPool.reduce((sum, { dispatched }) => sum + dispatched, 0)
    return runs === 0 ? [] : [{ text: `The pool ${visible(pool)} has no workers, and ${runsWait(runs)}.`, href: '/pools' }]
  })
}

/** Limits that are named; the others are counted. */
const limitsNamed = 3

/** A limit is counted in each partition by itself; it is named once. */
function overloadedOf({ partitions }: StatsMessage, limits: LimitsSeen | undefined): Trouble[] {
  // The stats are younger than the answer, and may say that nothing waits any more.
  if (limits === undefined || partitions.every(({ underWay }) => underWay.waiting === 0)) return []
  const waiting = new Map<string, number>()
  for (const { limit, since } of limits.full.values())
    if (limits.at - since >= overloadedMs) waiting.set(limit.key, (waiting.get(limit.key) ?? 0) + limit.waiting)
  const all = [...waiting].sort(([, a], [, b]) => b - a)
  const troubles = all.slice(0, limitsNamed).map(([key, runs]) => `The limit ${visible(key)} is overloaded: ${runsWait(runs)}.`)
  const others = all.slice(limitsNamed)
  const sum = others.reduce((total, [, runs]) => total + runs, 0)
  if (others.length > 0)
    troubles.push(`${counted(others.length, 'other limit')} ${others.length === 1 ? 'is' : 'are'} overloaded: ${runsWait(sum)}.`)
  return troubles.map((text) => ({ text, href: '/pools', waits: true }))
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
    const what = reason === 'expired' ? 'lost records before they were read' : 'was truncated or recreated'
    const text = `${head} ${what}. Reading continued at offset ${to} instead of ${from}. Send the missing records again.`
    return [{ text }]
  })
}
