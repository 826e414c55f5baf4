/**
 * Checks of shared limits, after each transaction of any owner: no more runs hold a key than it has slots, the logged counters of
 * a key match the states of the jobs, and no window has more starts than its rate allows.
 */
import type { ActiveRun, JobState, KeySlots } from '../../../schemas/generated.ts'
import type { MemoryLog } from '../../tools/memory-log.ts'
import { type Dispatch, dispatchesOf } from './dispatches.ts'
import type { Lives } from './lives.ts'
import { partitionOfJob } from './partitions.ts'
import { isShown, keyOf, placesOf, read, readable, topics } from './reading.ts'

interface Limits {
  slots: Map<string, number>
  rates: Map<string, { limit: number; perMs: number }>
}

/** The keys of a history and their limits, which do not change during the history. */
function limitsOf(lives: Lives): Limits {
  const limits: Limits = { slots: new Map(), rates: new Map() }
  for (const { spec } of [...lives.values()].flat().flatMap(({ definitions }) => definitions)) {
    if (spec?.concurrencyKey) limits.slots.set(spec.concurrencyKey, spec.concurrencyLimit)
    if (spec?.rateLimit) limits.rates.set(spec.rateLimit.key, spec.rateLimit)
  }
  return limits
}

/** A run holds its slot from the dispatch of an attempt to its end, and while it waits for its start. */
const holds = ({ status, waitsFor }: ActiveRun): boolean =>
  status === 'DISPATCHED' || status === 'RUNNING' || (status === 'WAITING' && waitsFor === 'RATE')
const waits = ({ status, waitsFor }: ActiveRun): boolean => status === 'WAITING' && waitsFor === 'SLOT'

export function limitProblems(log: MemoryLog, lives: Lives): string[] {
  const dispatches = dispatchesOf(log)
  const limits = limitsOf(lives)
  const problems: string[] = []
  for (const { partition, log: changelog } of placesOf(log, topics.state)) {
    const states = new Map<string, JobState | null>()
    const logged = new Map<string, KeySlots | null>()
    let sequence = -1
    for (const { record, transaction } of changelog.archive.filter(isShown)) {
      if (transaction?.sequence !== sequence) checkSlots({ partition, states, logged }, limits, problems)
      sequence = transaction?.sequence ?? -1
      const { key, value } = record ?? {}
      if (!key) continue
      const { kind, name } = keyOf(key)
      const entry = readable(read.state, value)
      if (kind === 'S') states.set(name, entry?.state ?? null)
      else if (kind === 'C') logged.set(name, entry?.slots ?? null)
    }
    checkSlots({ partition, states, logged }, limits, problems)
    for (const [key, rate] of limits.rates) {
      const mine = dispatches.filter(({ execution }) => partitionOfJob(execution.jobId, log.partitions) === partition)
      checkStarts({ key, ...rate }, mine, lives, problems)
    }
  }
  return problems
}

interface PartitionLimits {
  partition: number
  states: Map<string, JobState | null>
  logged: Map<string, KeySlots | null>
}

function checkSlots({ partition, states, logged }: PartitionLimits, limits: Limits, problems: string[]): void {
  const runs = [...states.values()].flatMap((state) => state?.active ?? [])
  for (const key of new Set([...logged.keys(), ...limits.slots.keys()])) {
    const ofKey = runs.filter((run) => run.limits?.concurrencyKey === key)
    const [held, waiting] = [ofKey.filter(holds).length, ofKey.filter(waits).length]
    const slots = limits.slots.get(key) ?? 0
    if (held > slots) problems.push(`${held} runs hold the key ${key} of partition ${partition}, which has ${slots} slots`)
    const known = logged.get(key) ?? { held: 0, waiting: 0 }
    if (known.held !== held || known.waiting !== waiting)
      problems.push(
        `of the key ${key} ${known.held} held and ${known.waiting} waiting are logged; there are ${held} and ${waiting}`,
      )
  }
}

function checkStarts(
  { key, limit, perMs }: { key: string; limit: number; perMs: number },
  dispatches: readonly Dispatch[],
  lives: Lives,
  problems: string[],
): void {
  // An attempt that was given back before its time is dispatched again with the same start.
  const starts = new Map<string, number>()
  for (const { execution } of dispatches) {
    const { jobId, specOffset, runNo, dueAt } = execution
    const definitions = (lives.get(jobId) ?? []).flatMap((life) => life.definitions)
    if (definitions.find(({ offset }) => offset === specOffset)?.spec?.rateLimit?.key !== key) continue
    starts.set(`${jobId} ${specOffset} ${runNo} ${dueAt}`, dueAt)
  }
  const times = [...starts.values()].sort((left, right) => left - right)
  for (const [index, at] of times.entries()) {
    const beyond = times[index + limit]
    if (beyond !== undefined && beyond - at < perMs)
      problems.push(`${limit + 1} starts of the key ${key} lie within ${beyond - at} ms; ${limit} may in ${perMs}`)
  }
}
