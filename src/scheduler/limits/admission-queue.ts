/**
 * Admission queue: chooses the next runs that wait for a slot. The queues are in the store (key Q). Memory holds only the keys whose
 * queue has to be checked, so a million waiting runs take no more memory than one.
 *
 * A key is marked when one of its slots is freed or a run leaves its queue. It is checked until its first run is refused. From then on
 * each slot is held by a run, and the end of that run marks the key again. The marks are soft state. After an activation, and every hour,
 * a sweep over all keys in use (C) marks those with waiting runs. It also forgets outdated starts (W).
 *
 * Runs are admitted by rank (priority, then attempts) and due time. Every 16th admission of a key goes to the run of a worse rank that has
 * been due longest, so that none waits for ever.
 */
import {
  isOutdated,
  isSameWaiter,
  keyAfter,
  limitKeyOf,
  prefix,
  rangeOf,
  type Waiter,
  waiterKey,
  waiterOfKey,
  waitersOfRank,
  waitersRange,
} from '../../../streams/state/index.ts'
import { agedEvery, rankMax } from '../../../streams/topics/index.ts'
import { BoundedMap } from '../../ground/concurrency/index.ts'
import type { PartitionStore } from '../../ground/ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { entryOf } from '../state/index.ts'
import type { LimitCounters } from './limit-counters.ts'

/** Waiting runs that one commit cycle checks, over all keys. A hot key must not delay timers and input records. */
const waitersMax = 300
/** Marked keys whose queues one commit cycle checks. */
const keysMax = 100
/** Marked keys in memory. With more the sweep starts again and finds them. */
const markedMax = 10_000
/** Keys for which the first entry of the queue is remembered. */
const headsMax = 1_000
/** Keys that one commit cycle sweeps. */
const sweptMax = 500
/** Keys whose admissions are counted. */
const countedMax = 10_000
/** Time between two sweeps. */
const sweepEveryMs = 3_600_000

export class AdmissionQueue {
  readonly #codecs: SchedulerCodecs
  #marked = new Set<string>()
  /**
   * First entry of the queue of a key. A store visits each deleted entry on its way, and a busy queue has many of them before its head.
   */
  readonly #heads = new BoundedMap<string, Buffer>(headsMax)
  /** Admissions of a key since one that went because it had been due longest. Soft state: after a takeover the count begins again. */
  readonly #counts = new BoundedMap<string, number>(countedMax)
  /** Where the sweep continues; undefined while there is none. */
  #sweepFrom: Buffer | undefined
  #sweepAt = Number.POSITIVE_INFINITY

  constructor(codecs: SchedulerCodecs) {
    this.#codecs = codecs
  }

  /** The partition is active: from now on waiting runs are admitted. */
  open(now: number): void {
    this.#sweepAt = now
  }

  /** Whether a commit cycle has something to do here. */
  isPressing(now: number): boolean {
    return this.#isOpen && (this.#marked.size > 0 || this.#sweepFrom !== undefined || this.#isSweepDue(now))
  }

  /** The next sweep is never further away than one interval, unless the clock was set back since. */
  #isSweepDue(now: number): boolean {
    return this.#sweepAt <= now || this.#sweepAt - now > sweepEveryMs
  }

  get #isOpen(): boolean {
    return this.#sweepAt !== Number.POSITIVE_INFINITY
  }

  /** When the next sweep begins. */
  get wakeAt(): number {
    return this.#sweepAt
  }

  /** Continues the sweep. Resolves with keys of rate limits whose starts are outdated. */
  async sweep(store: PartitionStore, now: number): Promise<string[]> {
    if (!this.#isOpen) return []
    if (this.#isSweepDue(now)) {
      this.#sweepFrom = rangeOf(prefix.slots).from
      this.#sweepAt = now + sweepEveryMs
      this.#heads.clear()
    }
    const from = this.#sweepFrom
    if (from === undefined || this.#marked.size > markedMax / 2) return []
    const ofSlots = from[0] === prefix.slots
    const entries = await store.scan({ from, to: rangeOf(from[0] ?? 0).to, limit: sweptMax })
    const last = entries.at(-1)
    if (last !== undefined && entries.length === sweptMax) this.#sweepFrom = keyAfter(last.key)
    else this.#sweepFrom = ofSlots ? rangeOf(prefix.starts).from : undefined
    const outdated: string[] = []
    for (const { key, value } of entries) {
      const { slots = null, starts = null } = (await entryOf(this.#codecs, value)) ?? {}
      if (slots !== null && slots.waiting > 0) this.#marked.add(limitKeyOf(key))
      if (starts !== null && isOutdated(starts, now)) outdated.push(limitKeyOf(key))
    }
    return outdated
  }

  /** Takes the keys to check in this commit cycle and removes their marks. None before `open`. */
  takeMarked(): string[] {
    if (!this.#isOpen) return []
    const taken: string[] = []
    for (const key of this.#marked) {
      if (taken.length >= keysMax) break
      taken.push(key)
      this.#marked.delete(key)
    }
    return taken
  }

  /** Marks keys. */
  mark(keys: Iterable<string>): void {
    for (const key of keys) this.#marked.add(key)
    if (this.#marked.size <= markedMax) return
    this.#marked = new Set()
    if (this.#isOpen) this.#sweepFrom = rangeOf(prefix.slots).from
  }

  /**
   * First runs of the queues of these keys: for each key as many as may find a slot, at least one. `freed`: slots that this commit cycle
   * is expected to free. Keys that do not fit into this cycle are marked again.
   */
  async heads(
    store: PartitionStore,
    keys: Iterable<string>,
    limitCounters: LimitCounters,
    freed: ReadonlyMap<string, number>,
  ): Promise<Waiter[]> {
    if (!this.#isOpen) return []
    const calls: Promise<Waiter[]>[] = []
    let room = waitersMax
    for (const key of keys) {
      const { held, waiting, limit } = limitCounters.slots(key)
      if (waiting === 0) continue
      if (room === 0) {
        this.#marked.add(key)
        continue
      }
      const wanted = Math.min(room, waiting, Math.max(1, limit - held + (freed.get(key) ?? 0)))
      room -= wanted
      calls.push(this.#head(store, key, wanted, limitCounters))
    }
    return (await Promise.all(calls)).flat()
  }

  async #head(store: PartitionStore, key: string, wanted: number, limitCounters: LimitCounters): Promise<Waiter[]> {
    const { from, to } = waitersRange(key)
    const first = this.#heads.get(key) ?? from
    const entries = await store.scan({ from: first, to, limit: wanted, keysOnly: true })
    // The queue is empty although the counter says otherwise. Checking again would never find a run.
    if (entries.length === 0 && !this.#heads.delete(key)) limitCounters.refused(key)
    const best = entries.map((entry) => waiterOfKey(entry.key))
    const agedCount = Math.floor(((this.#counts.get(key) ?? 0) + best.length) / agedEvery)
    const rank = best[0]?.rank
    if (agedCount === 0 || rank === undefined) return best
    const aged = await this.#longestDue(store, key, rank + 1, agedCount)
    const isAged = (waiter: Waiter): boolean => aged.some((each) => isSameWaiter(each, waiter))
    return [...aged, ...best.filter((waiter) => !isAged(waiter)).slice(0, wanted - aged.length)]
  }

  /** Of the runs of worse ranks than the best, those that have been due longest. */
  async #longestDue(store: PartitionStore, key: string, fromRank: number, count: number): Promise<Waiter[]> {
    const { to } = waitersRange(key)
    const found: Waiter[] = []
    for (let rank = fromRank; rank <= rankMax; ) {
      const entries = await store.scan({ from: waitersOfRank(key, rank), to, limit: count, keysOnly: true })
      const waiters = entries.map((entry) => waiterOfKey(entry.key))
      const here = waiters[0]?.rank
      if (here === undefined) break
      found.push(...waiters.filter((waiter) => waiter.rank === here))
      rank = here + 1
    }
    return found
      .sort((left, right) => left.dueAt - right.dueAt)
      .slice(0, count)
      .map((waiter) => ({ ...waiter, isAged: true }))
  }

  /** It has got a slot. */
  admitted({ key, isAged }: Waiter): void {
    // While nobody of a worse rank waits, no debt adds up: the first that comes goes next, and those after it in their turn.
    const since = isAged === true ? 0 : (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, Math.min(since, agedEvery - 1))
  }

  /** All runs before this one have left the queue, unless it went for its age. */
  passed(waiter: Waiter): void {
    if (waiter.isAged === true) return
    this.#heads.renew(waiter.key, waiterKey(waiter))
  }

  /** Must be called for each waiting run before it is written. */
  queued(waiter: Waiter): void {
    const head = this.#heads.get(waiter.key)
    if (head !== undefined && Buffer.compare(waiterKey(waiter), head) < 0) this.#heads.set(waiter.key, waiterKey(waiter))
  }
}
