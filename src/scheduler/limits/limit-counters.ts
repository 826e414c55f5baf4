/**
 * Limit counters: the shared limits as one batch sees them. They are loaded for the keys that the batch may touch. Each decision
 * changes them, so that decisions of one batch see each other. At the end they are logged with the states that they count.
 */
import type { JobState, StateEntryInput } from '../../../schemas/index.ts'
import {
  type Decision,
  type LimitKeys,
  type Limits,
  type SlotUse,
  type Starts,
  slotKeysOf,
  slotsKey,
  slotUse,
  startsEntry,
  startsKey,
  startsOf,
} from '../../../streams/state/index.ts'
import type { PartitionStore } from '../../ground/ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { entryOf } from '../state/index.ts'

interface SlotLine {
  /** Value in the store. */
  was: SlotUse
  held: number
  waiting: number
  /** Limit of the key, from the last decision or the store. */
  limit: number
  /** A change since the last check of the first waiting run may admit it. */
  stirred: boolean
  /** The first waiting run was checked, and there is no slot for it. */
  refused: boolean
}

const hasLimits = (state: JobState | undefined): boolean => state?.active.some(({ limits }) => limits !== null) ?? false

interface StartsLine {
  was: Starts | undefined
  starts: Starts | undefined
}

export class LimitCounters implements Limits {
  readonly #slots = new Map<string, SlotLine>()
  readonly #starts = new Map<string, StartsLine>()

  /** Loads the keys that are not loaded yet. */
  async load(store: PartitionStore, codecs: SchedulerCodecs, { slots, starts }: LimitKeys): Promise<void> {
    const slotKeys = [...slots].filter((key) => !this.#slots.has(key))
    const startKeys = [...starts].filter((key) => !this.#starts.has(key))
    if (slotKeys.length + startKeys.length === 0) return
    const values = await store.get([...slotKeys.map(slotsKey), ...startKeys.map(startsKey)])
    const entries = await Promise.all(values.map((value) => entryOf(codecs, value)))
    for (const [index, key] of slotKeys.entries()) {
      const { held, waiting, limit } = entries[index]?.slots ?? { held: 0, waiting: 0, limit: 1 }
      this.#slots.set(key, { was: { held, waiting }, held, waiting, limit, stirred: false, refused: false })
    }
    for (const [index, key] of startKeys.entries()) {
      const entry = entries[slotKeys.length + index]?.starts ?? undefined
      const was = entry === undefined ? undefined : startsOf(entry)
      this.#starts.set(key, { was, starts: was })
    }
  }

  slots(key: string): SlotUse & { limit: number } {
    return this.#line(key)
  }

  starts(key: string): Starts | undefined {
    const line = this.#starts.get(key)
    if (line === undefined) throw new Error(`The starts of the rate limit ${key} were not loaded.`)
    return line.starts
  }

  /** Counts the changes of a decision. */
  took(before: JobState | undefined, { job, starts, slotLimits, admission }: Decision): void {
    for (const [key, given] of starts) this.#starts.set(key, { was: this.#starts.get(key)?.was, starts: given })
    for (const [key, limit] of slotLimits) this.#line(key).limit = limit
    if (before === job.state || (!hasLimits(before) && !hasLimits(job.state))) return
    for (const key of new Set([...slotKeysOf(before), ...slotKeysOf(job.state)])) {
      const line = this.#line(key)
      const [was, is] = [slotUse(before, key), slotUse(job.state, key)]
      line.held += is.held - was.held
      line.waiting += is.waiting - was.waiting
      if (is.held < was.held || (is.waiting < was.waiting && admission === undefined)) this.stir(key)
    }
  }

  /** A run that waits for the key may be admitted now: a slot was freed, or there are more slots. */
  stir(key: string): void {
    this.#line(key).stirred = true
  }

  refused(key: string): void {
    const line = this.#line(key)
    line.refused = true
    line.stirred = false
  }

  /** Keys whose queue has to be checked again. */
  pressing(): string[] {
    const keys: string[] = []
    for (const [key, { held, waiting, limit, stirred, refused }] of this.#slots) {
      if (waiting > 0 && (stirred || (held < limit && !refused))) keys.push(key)
    }
    return keys
  }

  /** Forgets outdated starts, unless this batch has given new ones. */
  forget(key: string): void {
    const line = this.#starts.get(key)
    if (line !== undefined && line.starts === line.was) line.starts = undefined
  }

  /** Entries to log; null where the counter is empty. */
  changes(): { key: Buffer; entry: StateEntryInput | null }[] {
    const changes: { key: Buffer; entry: StateEntryInput | null }[] = []
    for (const [key, { was, held, waiting, limit }] of this.#slots) {
      if (held === was.held && waiting === was.waiting) continue
      changes.push({ key: slotsKey(key), entry: held + waiting === 0 ? null : { slots: { held, waiting, limit } } })
    }
    for (const [key, { was, starts }] of this.#starts) {
      if (starts !== was)
        changes.push({ key: startsKey(key), entry: starts === undefined ? null : { starts: startsEntry(starts) } })
    }
    return changes
  }

  #line(key: string): SlotLine {
    const line = this.#slots.get(key)
    if (line === undefined) throw new Error(`The slots of the concurrency key ${key} were not loaded.`)
    return line
  }
}
