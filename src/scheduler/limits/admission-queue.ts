/**
 * Who of those that wait for a slot is asked next. The queues are in the store (key Q); in memory there are only the keys whose queue has
 * to be looked at, so a million waiting runs take no more of it than one.
 *
 * A key is marked when a slot of it came back or a run left its queue, and asked until its head is refused: from then on a run holds each
 * slot, and the end of that run marks the key again. What is marked is soft. After an activation, and now and then, a sweep over all keys
 * that are in use (C) marks those that have somebody waiting; it also forgets starts (W) that are out of date.
 */
import {
  isOutdated,
  keyAfter,
  limitKeyOf,
  prefix,
  rangeOf,
  type Waiter,
  waiterKey,
  waiterOfKey,
  waitersRange,
} from '../../../streams/state/index.ts'
import type { PartitionStore } from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { entryOf } from '../state/index.ts'
import type { LimitCounters } from './limit-counters.ts'

/** Waiting runs that one turn asks, over all keys; a hot key must not hold timers and mail up. */
const waitersMax = 300
/** Keys whose queues one turn looks at because they are marked. */
const keysMax = 100
/** Marked keys in memory; with more the sweep begins anew and finds them. */
const markedMax = 10_000
/** Keys whose queue is known to be empty before some place. */
const headsMax = 1_000
/** Keys that one turn sweeps. */
const sweptMax = 500
/** Between two sweeps. */
const sweepEveryMs = 3_600_000

export class AdmissionQueue {
  readonly #codecs: SchedulerCodecs
  #marked = new Set<string>()
  /**
   * Where the queue of a key begins: a store walks over each deleted entry in its way, and before the head of a busy queue there are many.
   */
  readonly #heads = new Map<string, Buffer>()
  /** Where the sweep goes on; undefined while there is none. */
  #sweepFrom: Buffer | undefined
  #sweepAt = Number.POSITIVE_INFINITY

  constructor(codecs: SchedulerCodecs) {
    this.#codecs = codecs
  }

  /** From now on those that wait are let go: the partition is active. */
  open(now: number): void {
    this.#sweepAt = now
  }

  /** Whether a turn has something to do here. */
  isPressing(now: number): boolean {
    return this.#isOpen && (this.#marked.size > 0 || this.#sweepFrom !== undefined || this.#isSweepDue(now))
  }

  /** None is further away than from one to the next, unless the clock was set back since. */
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

  /** Goes on with the sweep. Resolves with keys of rate limits whose starts are out of date. */
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

  /** Keys that are to be looked at in this turn; they are marked no more. None before `open`. */
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
   * Heads of the queues of these keys: of each as many as may find a slot, at least one. `freed`: slots that this turn is expected to
   * give back. Keys for which there is no room any more are marked again.
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
    const entries = await store.scan({ from: this.#heads.get(key) ?? from, to, limit: wanted, keysOnly: true })
    // Nobody is there although somebody should: nothing here would ever come of asking again.
    if (entries.length === 0 && !this.#heads.delete(key)) limitCounters.refused(key)
    return entries.map((entry) => waiterOfKey(entry.key))
  }

  /** All before this one have left the queue. */
  passed(waiter: Waiter): void {
    this.#heads.delete(waiter.key)
    this.#heads.set(waiter.key, waiterKey(waiter))
    if (this.#heads.size <= headsMax) return
    for (const key of this.#heads.keys()) {
      this.#heads.delete(key)
      break
    }
  }

  /** Must be told of each waiting run before it is written. */
  written(waiter: Waiter): void {
    const head = this.#heads.get(waiter.key)
    if (head !== undefined && Buffer.compare(waiterKey(waiter), head) < 0) this.#heads.set(waiter.key, waiterKey(waiter))
  }
}
