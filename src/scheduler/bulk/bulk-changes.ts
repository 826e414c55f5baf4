/**
 * Changes of many jobs that were asked of this owner (ADR 0094). Each commit cycle changes a slice of them, in the order of job ids, and
 * due timers and input records go with it. The announced changes live in memory only: the operation keeps how far it is, and each job that a
 * change has reached remembers its commandId, so a repeat after a crash or with another owner changes no job twice.
 */
import type { Clock } from '../../ground/clock/index.ts'
import type { FairSlots } from '../../ground/concurrency/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { Asker, ChangeQuery, Changes, CutOff, PartitionQueries, PartitionStore, Targets } from '../../ground/ports/index.ts'
import type { CycleRoom, Hook, PartitionHook } from '../commit/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import type { Partition } from '../partition/index.ts'
import type { QuerySource } from '../queries/index.ts'
import { AnnouncedChanges } from './announced-changes.ts'
import { BulkCall, BulkCycle, type Slice, type SliceOutcome } from './bulk-cycle.ts'
import { changeTargets } from './change-targets.ts'

/** Jobs of one slice: alone, and beside due timers. Two hundred take about 10 ms; the lead follows how long cycles take (ADR 0079). */
const sliceJobs = { alone: 500, besideTimers: 250 }
/** An answer comes after about this time. */
const answeredAfterMs = 1_000
/** A call of which nothing is committed for this long is given up. */
const stuckAfterMs = 10_000
/** Calls that may wait for one partition at once. Further ones are refused. */
const callsMax = 100

interface Open {
  call: BulkCall
  sinceMs: number
  settle(answer: Changes | DuelogError): void
  /** False: the caller has gone, or has its answer. */
  isOpen(): boolean
}

export class BulkChanges implements PartitionHook {
  readonly #clock: Clock
  /** All operations of which the owner knows. */
  readonly announced: AnnouncedChanges
  readonly #onBegin: () => void
  /** In the order in which they came. */
  #open: Open[] = []

  constructor(clock: Clock, onBegin: () => void) {
    this.#clock = clock
    this.announced = new AnnouncedChanges(clock)
    this.#onBegin = onBegin
  }

  get isPressing(): boolean {
    return this.#open.length > 0
  }

  /** The next jobs go with a commit cycle, and those that come up in it ahead of a walk. */
  begin({ store, jobsMax }: CycleRoom): BulkCycle | Promise<BulkCycle> {
    const max = this.isPressing ? jobsMax(sliceJobs.alone, sliceJobs.besideTimers) : 0
    return max < 1 ? new BulkCycle(this, undefined) : this.#beginWalk(store, max)
  }

  async #beginWalk(store: PartitionStore, max: number): Promise<BulkCycle> {
    const slice = await this.slice(store, max)
    if (slice === undefined || slice.ids.length > 0) return new BulkCycle(this, slice)
    // No jobs follow, so there is nothing to commit.
    this.committed(slice, 0, { changed: 0, refused: [], before: 0 })
    return new BulkCycle(this, undefined)
  }

  /** Changes jobs, until the answer has enough of them. */
  ask(query: ChangeQuery, { signal }: Pick<Asker, 'signal'> = {}): Promise<Changes> {
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

  closed(): void {
    const moved = 'The partition is opened again or moves to another process; the changes are asked for again.'
    for (const { settle } of [...this.#open]) settle(new DuelogError('not-ready', moved))
  }

  left(): void {
    this.announced.leave()
  }
}

interface Place {
  partitions: ReadonlyMap<number, Partition>
  storeOf: QuerySource['storeOf']
  lists: FairSlots
  codecs: SchedulerCodecs
}

/** Operations on many jobs, in all partitions of a process: the entry in the table of hooks, and what drivers of operations ask for. */
export class BulkOperations {
  readonly #clock: Clock
  /** Of the latest assignment of each partition. */
  readonly #changes = new Map<number, BulkChanges>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  readonly hook: Hook = ({ partition, wake }) => {
    const changes = new BulkChanges(this.#clock, wake)
    this.#changes.set(partition, changes)
    return changes
  }

  queries({ partitions, storeOf, lists, codecs }: Place): Pick<PartitionQueries, 'targets' | 'change' | 'announce'> {
    /** What exists now, by the owner. */
    const cutOffNow = (owner: Partition | undefined): CutOff => ({
      jobsOffset: owner?.view().jobsOffset ?? 0,
      at: this.#clock.nowMs(),
    })
    const changesOf = (partition: number): BulkChanges | undefined =>
      partitions.has(partition) ? this.#changes.get(partition) : undefined
    return {
      targets: (partition, query, asker) =>
        lists.run(async () => {
          const cutOff = query.cutOff ?? cutOffNow(partitions.get(partition))
          const list = (): Promise<Targets> => changeTargets({ store: storeOf(partition), codecs }, { ...query, cutOff })
          const isCounted = query.action === 'DELETE' && query.countOnly !== true && query.limit > 0
          return (isCounted ? changesOf(partition)?.announced.list(query, list) : undefined) ?? list()
        }, asker),

      async change(partition, query, asker) {
        storeOf(partition)
        return changesOf(partition)?.ask(query, asker) ?? notActive(partition)
      },

      async announce(partition, query, asker) {
        const owner = partitions.get(partition)
        const changes = changesOf(partition)
        if (owner === undefined || changes === undefined || owner.role !== 'owner' || owner.closing || !owner.isCurrent)
          return notActive(partition)
        const isActive = owner.phase === 'active'
        const announced = await changes.announced.announce(query, isActive ? cutOffNow(owner) : undefined, asker)
        return { ...announced, isActive: isActive && owner.store !== undefined }
      },
    }
  }
}

function notActive(partition: number): never {
  throw new DuelogError('not-ready', `Partition ${partition} is not active in this process.`)
}
