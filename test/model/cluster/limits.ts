/**
 * What must be true of limits that jobs share, after each transaction of any owner: no more runs hold a key than it has slots, what was
 * logged of a key is what the states of the jobs say, and no window has more starts than its rate allows.
 */
import type { JobState, KeySlots } from '../../../schemas/generated.ts'
import { jobIdOfKey, limitKeyOf, prefix } from '../../../streams/keys.ts'
import { slotKeysOf, slotUse } from '../../../streams/limits/slots.ts'
import { partitionOf } from '../../../streams/topics.ts'
import { isShown, type MemoryLog } from '../../tools/memory-log.ts'
import { codecs, names } from '../world.ts'
import { type Dispatch, dispatchesOf, type Life } from './oracle.ts'

/** The keys of a history and their limits, which stay the same all through it. */
export const slotsOf = { one: 1, three: 3 } as const
export const ratesOf = { slow: { limit: 1, perMs: 900 }, bursts: { limit: 3, perMs: 4_000 } } as const

export function limitProblems(log: MemoryLog, lives: Map<string, Life[]>): string[] {
  const dispatches = dispatchesOf(log)
  const problems: string[] = []
  for (const { partition, log: changelog } of log.allOf(names.state)) {
    const states = new Map<string, JobState | null>()
    const logged = new Map<string, KeySlots | null>()
    let sequence = -1
    for (const { record, transaction } of changelog.archive.filter(isShown)) {
      if (transaction?.sequence !== sequence) checkSlots(partition, states, logged, problems)
      sequence = transaction?.sequence ?? -1
      const { key, value } = record ?? {}
      if (!key || (key[0] !== prefix.state && key[0] !== prefix.slots)) continue
      const entry = value ? codecs.state.decode(value) : null
      if (entry instanceof Promise) throw new Error('An unknown schema.')
      if (key[0] === prefix.state) states.set(jobIdOfKey(key), entry?.state ?? null)
      else logged.set(limitKeyOf(key), entry?.slots ?? null)
    }
    checkSlots(partition, states, logged, problems)
    for (const key of Object.keys(ratesOf) as (keyof typeof ratesOf)[]) {
      const mine = dispatches.filter(({ execution }) => partitionOf(execution.jobId, log.partitions) === partition)
      checkStarts(key, mine, lives, problems)
    }
  }
  return problems
}

function checkSlots(
  partition: number,
  states: Map<string, JobState | null>,
  logged: Map<string, KeySlots | null>,
  problems: string[],
): void {
  const keys = new Set([...logged.keys(), ...[...states.values()].flatMap((state) => [...slotKeysOf(state ?? undefined)])])
  for (const key of keys) {
    const uses = [...states.values()].map((state) => slotUse(state ?? undefined, key))
    const held = uses.reduce((sum, use) => sum + use.held, 0)
    const waiting = uses.reduce((sum, use) => sum + use.waiting, 0)
    const slots = slotsOf[key as keyof typeof slotsOf]
    if (held > slots) problems.push(`${held} runs hold the key ${key} of partition ${partition}, which has ${slots} slots`)
    const known = logged.get(key) ?? { held: 0, waiting: 0 }
    if (known.held !== held || known.waiting !== waiting)
      problems.push(
        `of the key ${key} ${known.held} held and ${known.waiting} waiting are logged; there are ${held} and ${waiting}`,
      )
  }
}

function checkStarts(
  key: keyof typeof ratesOf,
  dispatches: readonly Dispatch[],
  lives: Map<string, Life[]>,
  problems: string[],
): void {
  const { limit, perMs } = ratesOf[key]
  // What was given back before its time goes again with the start that it had.
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
