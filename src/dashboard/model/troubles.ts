/** What is wrong just now, in the order in which somebody who was woken by it wants to know. */
import type { StatsMessage } from './answers.ts'
import type { Rates } from './rates.ts'
import { counted, duration } from './words.ts'

export interface Trouble {
  text: string
  /** Where to look further. */
  href?: string
}

/** A log that was truncated is told of for a day. */
const resetShownMs = 86_400_000

/** Later than this is wrong, for timers and for starts. */
const lateMs = 1_000

/** `kept`: the pulses of the last minutes, oldest first. */
export function troublesOf(kept: readonly StatsMessage[], rates: Rates | undefined): Trouble[] {
  const [first, latest] = [kept[0], kept.at(-1)]
  if (first === undefined || latest === undefined) return []
  const { partitions } = latest
  const troubles: Trouble[] = []
  const faults = latest.proof?.found ?? 0
  if (faults > 0) troubles.push({ text: `The audit of the log found ${counted(faults, 'fault')}.`, href: '/proof' })
  const ownerless = partitions.filter(({ instance }) => instance === null)
  if (ownerless.length > 0) troubles.push({ text: `${named(ownerless)}: no process owns it, so nothing of it fires.` })
  troubles.push(...stoppedOf(latest).map(({ text }) => ({ text })))
  troubles.push(...rulesOf(latest), ...resetsOf(latest), ...openTransactionsOf(latest))
  const coming = partitions.filter(({ instance, phase }) => instance !== null && phase !== 'active')
  if (coming.length > 0) troubles.push({ text: `${named(coming)}: being taken over or restored.` })
  const behind = partitions.filter(({ overdueMs }) => overdueMs > lateMs)
  if (behind.length > 0) {
    const most = Math.max(...behind.map(({ overdueMs }) => overdueMs))
    troubles.push({ text: `${named(behind)}: what is due waits for its owner, the oldest for ${duration(most)}.` })
  }
  if ((rates?.p99Ms ?? 0) > lateMs)
    troubles.push({ text: `One start in a hundred is more than ${duration(rates?.p99Ms ?? 0)} late.`, href: '/workers' })
  const dead = (latest.counts.ended.DEAD ?? 0) - (first.counts.ended.DEAD ?? 0)
  if (dead > 0) {
    const over = duration(Math.max(1_000, latest.at - first.at))
    troubles.push({ text: `${counted(dead, 'run')} given up in the last ${over}.`, href: '/dead-letters' })
  }
  return troubles
}

const named = (some: StatsMessage['partitions']): string =>
  `${some.length === 1 ? 'Partition' : 'Partitions'} ${some.map(({ partition }) => partition).join(', ')}`

/** Owners that decide nothing by their clock, which is one for all partitions of an owner. */
export function stoppedOf({ partitions }: StatsMessage): Trouble[] {
  const stopped = partitions.filter(({ problem }) => problem != null)
  return [...new Set(stopped.map(({ instance }) => instance))].map((instance) => {
    const own = stopped.filter((state) => state.instance === instance)
    const owner = instance === null ? '' : ` of ${instance}`
    return { text: `${named(own)}${owner}: nothing fires, and no change is applied. ${own[0]?.problem}`, href: '/' }
  })
}

/** Owners with different time zone rules: a job in a time zone may fire at another time as its partition moves. */
function rulesOf({ partitions }: StatsMessage): Trouble[] {
  const rules = [...new Set(partitions.flatMap(({ zoneRules }) => zoneRules ?? []))].sort()
  if (rules.length < 2) return []
  const each = rules.map(
    (version) => `${version} (${named(partitions.filter(({ zoneRules }) => zoneRules === version)).toLowerCase()})`,
  )
  return [{ text: `Owners go by different time zone rules: ${each.join(', ')}. Run all of them with the same Node.` }]
}

function openTransactionsOf({ at, partitions }: StatsMessage): Trouble[] {
  return partitions.flatMap(({ partition, openTransaction }) => {
    if (openTransaction == null) return []
    const { topic, offset, records, since } = openTransaction
    const text = `Partition ${partition}: a transaction in ${topic} has been open for ${duration(Math.max(0, at - since))}, and ${counted(records, 'record')} from offset ${offset} on wait for its end. Stop who has it open, or abort it with kafka-transactions.sh.`
    return [{ text }]
  })
}

function resetsOf({ at, partitions }: StatsMessage): Trouble[] {
  return partitions.flatMap(({ partition, lastReset }) => {
    if (lastReset == null || at - lastReset.at >= resetShownMs) return []
    const { topic, from, to, reason } = lastReset
    const head = `Partition ${partition}: ${topic}`
    if (reason === 'lost') return [{ text: `${head} lost all that was decided; jobs began anew from their definitions.` }]
    if (topic.endsWith('job-state'))
      return [{ text: `${head} was truncated, or made anew; its owner has logged again all that was decided.` }]
    const what = reason === 'expired' ? 'lost records that had not been read' : 'was truncated, or made anew'
    const text = `${head} ${what}, and is read from ${to} on instead of ${from}. Send again what is missing.`
    return [{ text }]
  })
}
