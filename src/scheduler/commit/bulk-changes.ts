/**
 * Changes of many jobs that were asked of this owner (ADR 0094). Each commit cycle changes a slice of them, in the order of job ids, and
 * due timers and input records go with it. What is asked lives in memory only: the operation keeps how far it is, and each job that a
 * change has reached remembers its commandId, so a repeat after a crash or with another owner changes no job twice.
 */
import { commandRefusalText } from '../../../streams/jobs/index.ts'
import type { Clock } from '../../clock/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { Asker, ChangeQuery, Changes, PartitionStore } from '../../ports/index.ts'
import { type Walk, walkOf } from '../queries/index.ts'
import type { AnnouncedChanges } from './announced-changes.ts'
import { ChangeRule } from './change-rule.ts'

/** Jobs of one slice: alone, and beside due timers. Two hundred take about 10 ms; the lead follows how long cycles take (ADR 0079). */
export const sliceJobs = { alone: 500, besideTimers: 250 }
/** An answer comes after about this time. */
const answeredAfterMs = 1_000
/** A call of which nothing is committed for this long is given up. */
const stuckAfterMs = 10_000
/** Calls that may wait for one partition at once. Further ones are refused. */
const callsMax = 100

/** What a slice did to its jobs. */
export interface SliceOutcome {
  changed: number
  refused: { jobId: string; code: string }[]
  /** Those of both that had taken the change before. */
  before: number
}

/** Jobs of one call that a commit cycle looks at. */
export interface Slice {
  call: BulkCall
  ids: string[]
  /** No jobs follow. */
  isLast: boolean
}

/** One call, and how far it is. */
export class BulkCall {
  readonly query: ChangeQuery
  readonly rule: ChangeRule
  readonly changes: Changes = { changed: 0, refused: [] }
  readonly walk: Walk
  cursor: string | undefined

  constructor(query: ChangeQuery, nowMs: number) {
    const { after, isRepeat, filter } = query
    this.query = query
    this.rule = new ChangeRule(query, nowMs)
    this.cursor = after
    // Jobs that are changed already may no longer have the status that was asked for.
    const { status: _, ...lasting } = filter
    this.walk = walkOf(isRepeat ? lasting : filter)
  }

  /** A name that no other input of a cycle has. */
  nameOf(jobId: string): string {
    return `bulk ${this.query.commandId} ${jobId}`
  }

  /** Counts what a committed slice did. */
  count({ changed, refused }: SliceOutcome): void {
    this.changes.changed += changed
    for (const { jobId, code } of refused) {
      const known = this.changes.refused.find((one) => one.code === code)
      if (known !== undefined) known.count++
      else this.changes.refused.push({ code, reason: commandRefusalText(code), count: 1, example: jobId })
    }
  }

  get isFull(): boolean {
    const { changed, refused } = this.changes
    return refused.reduce((sum, { count }) => sum + count, changed) >= this.query.limit
  }
}

interface Open {
  call: BulkCall
  sinceMs: number
  settle(answer: Changes | DuelogError): void
  /** False: the caller has gone, or has its answer. */
  isOpen(): boolean
}

export class BulkChanges {
  readonly #clock: Clock
  /** All operations of which the owner knows. */
  readonly announced: AnnouncedChanges
  readonly #onBegin: () => void
  /** In the order in which they came. */
  #open: Open[] = []

  constructor(clock: Clock, announced: AnnouncedChanges, onBegin: () => void) {
    this.#clock = clock
    this.announced = announced
    this.#onBegin = onBegin
  }

  get areOpen(): boolean {
    return this.#open.length > 0
  }

  begin(query: ChangeQuery, { signal }: Pick<Asker, 'signal'> = {}): Promise<Changes> {
    signal?.throwIfAborted()
    if (this.#open.length >= callsMax)
      throw new DuelogError('overloaded', `${callsMax} changes of many jobs wait for this partition already; ask again later.`)
    const { promise, resolve, reject } = Promise.withResolvers<Changes>()
    const nowMs = this.#clock.nowMs()
    let isOpen = true
    const end = (): void => {
      isOpen = false
      this.#open = this.#open.filter((other) => other !== open)
      cancelTimer()
      signal?.removeEventListener('abort', onAbort)
    }
    const settle = (answer: Changes | DuelogError): void => {
      end()
      if (answer instanceof DuelogError) reject(answer)
      else resolve(answer)
    }
    const onAbort = (): void => {
      end()
      reject(signal?.reason)
    }
    const stuck = 'The owner has committed none of the changes yet; they are asked for again.'
    const cancelTimer = this.#clock.at(nowMs + stuckAfterMs, () => settle(new DuelogError('not-ready', stuck)))
    const open: Open = { call: new BulkCall(query, nowMs), sinceMs: this.#clock.steadyMs(), settle, isOpen: () => isOpen }
    signal?.addEventListener('abort', onAbort)
    this.announced.walked(query.commandId, query.after, { isOver: false, counted: 0 })
    this.#open.push(open)
    this.#onBegin()
    return promise
  }

  /** The jobs of the next slice, at most `max`. Undefined: there are none. */
  async slice(store: PartitionStore, max: number): Promise<Slice | undefined> {
    const call = this.#open[0]?.call
    if (call === undefined || max < 1) return undefined
    const { walk, cursor } = call
    const entries = await store.scan({ ...walk.rangeAfter(cursor), limit: max, keysOnly: true })
    return { call, ids: entries.map(({ key }) => walk.idOf(key)), isLast: entries.length < max }
  }

  /** The first `count` jobs of the slice are committed. */
  committed({ call, ids, isLast }: Slice, count: number, outcome: SliceOutcome): void {
    call.count(outcome)
    const isOver = isLast && count === ids.length
    call.cursor = ids[count - 1] ?? call.cursor
    const gone = this.announced.walked(call.query.commandId, call.cursor, { isOver, counted: outcome.before })
    // Jobs that were changed ahead of the walk, and deleted or no longer found when it came to their place.
    if (isOver) call.changes.changed += gone
    const open = this.#open.find((one) => one.call === call)
    if (open?.isOpen() !== true) return
    const isDue = this.#clock.steadyMs() - open.sinceMs >= answeredAfterMs
    if (!isOver && !call.isFull && !isDue) return
    const { cursor: next } = call
    open.settle(isOver || next === undefined ? call.changes : { ...call.changes, next })
  }

  /** The partition does not continue here. */
  refuse(): void {
    const moved = 'The partition is opened again or moves to another process; the changes are asked for again.'
    for (const { settle } of [...this.#open]) settle(new DuelogError('not-ready', moved))
  }
}
