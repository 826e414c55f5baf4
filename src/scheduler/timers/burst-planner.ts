/**
 * Planner for bursts: intervals of the near future with more due timers than can be committed within the usual lead. A burst is
 * dispatched earlier, to the ahead topic, so that it is in the log when its time comes (ADR 0010). While commits take long, so is
 * every timer (ADR 0079).
 *
 * Timers are counted in buckets of time. A scan counts a bucket once when it comes into view. Each timer that is written into it later
 * adds one. Removed timers are not subtracted, so a count may be too high. The worst effect is an early dispatch.
 */
import { keyAfter, type Timer, timerBound, timerKey, timerKind, timerOfKey } from '../../../streams/state/index.ts'
import type { PartitionStore } from '../../ground/ports/index.ts'

/** Width of a bucket. */
export const bucketMs = 100
/** More fire timers than this in one bucket of one partition are a burst. */
export const burstTimers = 200
/** Timers that a partition of a busy process is expected to dispatch in a millisecond. It decides how early a burst begins. */
const dispatchedPerMs = 4
/** A bucket is counted up to here. A larger one begins as early as allowed. */
const countedMax = 40_000
/** Timers that are kept of those written into a bucket after it was read. With more of them it is read again from its beginning. */
const addedMax = 200
/** Buckets of one read. */
const bucketsAtOnce = 10
/** Keys of one counting scan. */
const slice = 1_000
/** Time between two scans for buckets that came into view. */
const scanEveryMs = 500
/** How long a scan that is due lets input records go first. It comes right after their commit cycle, unless more arrive meanwhile. */
const scanLateMsMax = 500

const bucketOf = (timer: Timer | undefined): number => Math.floor((timer?.dueAt ?? 0) / bucketMs)

export class BurstPlanner {
  readonly #store: PartitionStore
  readonly #leadMs: number
  readonly #leadMsMax: number
  readonly #counts = new Map<number, number>()
  /**
   * For each bucket whose reading has begun, the timers that were written before its place of reading, by key. A scan from its
   * beginning would visit every deleted entry again.
   */
  readonly #added = new Map<number, Map<string, Timer>>()
  /** All buckets before this one were counted. */
  #seenUntil = 0
  #scannedAt = 0
  /** Since when a scan is due that has let input records go first. */
  #scanDueAt: number | undefined
  #aheadFrom = 0
  /** Where reading of the current burst continues. */
  #cursor: { bucket: number; from: Buffer } | undefined

  constructor(store: PartitionStore, leadMs: number, leadMsMax: number) {
    this.#store = store
    this.#leadMs = leadMs
    this.#leadMsMax = leadMsMax
  }

  /** Must be called for each timer that is written. */
  scheduled(timer: Timer): void {
    if (timer.kind !== timerKind.fire) return
    const bucket = bucketOf(timer)
    if (bucket >= this.#seenUntil) return
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1)
    const added = this.#added.get(bucket)
    if (added === undefined) return
    const key = timerKey(timer)
    const isAhead = this.#cursor?.bucket === bucket && Buffer.compare(key, this.#cursor.from) >= 0
    if (isAhead) return
    added.set(key.toString('latin1'), timer)
    if (added.size > addedMax) this.#readAnew(bucket)
  }

  #readAnew(bucket: number): void {
    this.#added.delete(bucket)
    if (this.#cursor?.bucket === bucket) this.#cursor = undefined
  }

  /**
   * Timers of the next bursts, at most `max`, in due order. They stay in the store until they were handled. A burst due before
   * `aheadFrom` would be behind a later one in its topic, so it is left to the usual lead. `isAwaited`: whether input records wait.
   * `extraLeadMs`: how much longer than usual the lead has to be; if it is not 0, every bucket counts as a burst.
   */
  async take(now: number, max: number, aheadFrom: number, { isAwaited = false, extraLeadMs = 0 } = {}): Promise<Timer[]> {
    if (this.#leadMsMax <= this.#leadMs || max <= 0) return []
    await this.#scan(now, isAwaited)
    this.#aheadFrom = aheadFrom
    const found: Timer[] = []
    while (found.length < max) {
      const next = this.#plan(now, extraLeadMs)
      if (next === undefined || next.startAt > now) break
      found.push(...(await this.#takeFrom(next.bucket, max - found.length)))
    }
    return found
  }

  async #takeFrom(bucket: number, max: number): Promise<Timer[]> {
    const added = this.#takeAdded(bucket, max)
    const isRead = this.#added.has(bucket) && this.#cursor?.bucket !== bucket
    if (isRead) this.#counts.set(bucket, this.#added.get(bucket)?.size ?? 0)
    return isRead || added.length === max ? added : [...added, ...(await this.#read(bucket, max - added.length))]
  }

  #takeAdded(bucket: number, max: number): Timer[] {
    const added = this.#added.get(bucket)
    if (added === undefined) return []
    const taken = [...added].slice(0, max)
    for (const [key] of taken) added.delete(key)
    return taken.map(([, timer]) => timer)
  }

  /**
   * Timers of the bucket from its place of reading on, and as far as they leave room those of the buckets that follow: while everything is
   * dispatched early, each has a few.
   */
  async #read(bucket: number, max: number): Promise<Timer[]> {
    if (this.#cursor !== undefined && this.#cursor.bucket !== bucket) this.#readAnew(this.#cursor.bucket)
    const from = this.#cursor?.from ?? timerBound(bucket * bucketMs)
    if (!this.#added.has(bucket)) this.#added.set(bucket, new Map())
    const end = bucket + bucketsAtOnce
    const entries = await this.#store.scan({ from, to: timerBound(end * bucketMs), limit: max, keysOnly: true })
    const found = entries.map(({ key }) => ({ key, timer: timerOfKey(key) }))
    const isFull = entries.length === max
    const reached = isFull ? bucketOf(found.at(-1)?.timer) : end
    if (isFull && reached === bucket) this.#cursor = { bucket, from: keyAfter(entries.at(-1)?.key ?? from) }
    else {
      this.#counts.set(bucket, this.#added.get(bucket)?.size ?? 0)
      this.#cursor = undefined
    }
    const fires = found.filter(({ timer: { kind } }) => kind === timerKind.fire)
    const groups = Map.groupBy(fires, ({ timer }) => bucketOf(timer))
    // All timers of these are known.
    for (const [next, group] of groups)
      if (next > bucket && next < reached && group.length <= addedMax && !this.#added.has(next))
        this.#added.set(next, new Map(group.map(({ key, timer }) => [key.toString('latin1'), timer])))
    return groups.get(bucket)?.map(({ timer }) => timer) ?? []
  }

  /** Time of the next call to `take`. `nextDue` is that of the time index. */
  wakeAt(now: number, nextDue: number, extraLeadMs = 0): number {
    if (this.#leadMsMax <= this.#leadMs) return Number.POSITIVE_INFINITY
    const next = this.#plan(now, extraLeadMs)
    return Math.min(next?.startAt ?? Number.POSITIVE_INFINITY, Math.max(nextDue - this.#leadMsMax, this.#scannedAt + scanEveryMs))
  }

  /** Counts the buckets that came into view since the last scan. */
  async #scan(now: number, isAwaited: boolean): Promise<void> {
    if (now - this.#scannedAt < scanEveryMs && now >= this.#scannedAt) return
    this.#scanDueAt ??= now
    if (isAwaited && now - this.#scanDueAt < scanLateMsMax && now >= this.#scanDueAt) return
    this.#scanDueAt = undefined
    // A clock that was ahead has skipped buckets that are still to come.
    if (this.#scannedAt - now > scanEveryMs) {
      this.#counts.clear()
      this.#added.clear()
      this.#seenUntil = 0
      this.#cursor = undefined
    }
    this.#scannedAt = now
    for (const bucket of this.#counts.keys())
      if ((bucket + 1) * bucketMs <= now) {
        this.#counts.delete(bucket)
        this.#added.delete(bucket)
      }
    const until = Math.floor((now + this.#leadMsMax) / bucketMs)
    let bucket = Math.max(this.#seenUntil, Math.floor((now + this.#leadMs) / bucketMs))
    this.#seenUntil = Math.max(this.#seenUntil, until)
    const to = timerBound(until * bucketMs)
    let from = timerBound(bucket * bucketMs)
    for (;;) {
      const entries = await this.#store.scan({ from, to, limit: slice, keysOnly: true })
      for (const { key } of entries) this.scheduled(timerOfKey(key))
      const last = entries.at(-1)
      if (entries.length < slice || last === undefined) return
      bucket = Math.floor(timerOfKey(last.key).dueAt / bucketMs)
      const full = (this.#counts.get(bucket) ?? 0) >= countedMax
      from = full ? timerBound((bucket + 1) * bucketMs) : keyAfter(last.key)
    }
  }

  /**
   * The earliest burst and its start, so that it and all later ones are dispatched one lead before they are due. It is computed
   * backwards from the last bucket in view.
   */
  #plan(now: number, extraLeadMs: number): { bucket: number; startAt: number } | undefined {
    const usual = Math.floor(Math.max(now + this.#leadMs, this.#aheadFrom - bucketMs) / bucketMs)
    const buckets = [...this.#counts.keys()].filter((bucket) => bucket > usual).sort((left, right) => right - left)
    let startAt = Number.POSITIVE_INFINITY
    let next: { bucket: number; startAt: number } | undefined
    for (const bucket of buckets) {
      const count = this.#counts.get(bucket) ?? 0
      startAt = Math.min(startAt, bucket * bucketMs - this.#leadMs - extraLeadMs) - count / dispatchedPerMs
      if (count > (extraLeadMs > 0 ? 0 : burstTimers))
        next = { bucket, startAt: Math.ceil(Math.max(startAt, bucket * bucketMs - this.#leadMsMax)) }
    }
    return next
  }
}
