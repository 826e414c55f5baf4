/**
 * Planner for bursts: intervals of the near future with more due timers than can be committed within the usual lead. A burst is
 * dispatched earlier, to the ahead topic, so that it is in the log when its time comes (ADR 0010): by its size and the rate of this
 * partition (ADR 0147). While commits take long, so is every timer (ADR 0079).
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
/** Timers that a partition of a busy process is expected to dispatch in a millisecond before it has been measured, and the bounds of a measure. */
const assumedPerMs = 2.5
const [perMsMin, perMsMax] = [0.1, 5]
/** Cycles with fewer timers say nothing about a burst. */
const measuredTimersMin = 500
/** Share of the newest cycle in the measured rate. */
const newestShare = 0.25
/** Share of the measured rate that a plan counts on: other work may come, and the last cycles of a burst compete with its reports. */
const countedOnShare = 0.8
/** Timers that are kept of those written into a bucket after it was read. With more of them it is read again from its beginning. */
const addedMax = 200
/** Buckets of one read. */
const bucketsAtOnce = 10
/** Keys of one counting scan, and scans between two commit cycles: more would hold back what is due. */
const slice = 1_000
const slicesPerTake = 4
/** Least time between two scans for buckets that came into view. With a long view it is a part of that. */
const scanEveryMsMin = 500
const scansPerView = 20
/** How long a scan that is due lets input records go first. It comes right after their commit cycle, unless more arrive meanwhile. */
const scanLateMsMax = 500

const bucketOf = (timer: Timer | undefined): number => Math.floor((timer?.dueAt ?? 0) / bucketMs)

export class BurstPlanner {
  readonly #store: PartitionStore
  readonly #leadMs: number
  readonly #leadMsMax: number
  readonly #scanEveryMs: number
  readonly #counts = new Map<number, number>()
  /** Sum of the counts. */
  #total = 0
  /** Timers that this partition dispatches in a millisecond, as measured. */
  #perMs = assumedPerMs
  /**
   * For each bucket whose reading has begun, the timers that were written before its place of reading, by key. A scan from its
   * beginning would visit every deleted entry again.
   */
  readonly #added = new Map<number, Map<string, Timer>>()
  /** All buckets before this one were counted, or are being counted from `#scanFrom` on. */
  #seenUntil = 0
  #scanFrom: Buffer | undefined
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
    this.#scanEveryMs = Math.max(scanEveryMsMin, leadMsMax / scansPerView)
  }

  /** Call it for each commit cycle with the timers that it has dispatched, and the time until the next one may begin. */
  dispatched(timers: number, tookMs: number): void {
    if (timers < measuredTimersMin) return
    const perMs = Math.min(Math.max(timers / Math.max(tookMs, 1), perMsMin), perMsMax)
    this.#perMs += (perMs - this.#perMs) * newestShare
  }

  /** Must be called for each timer that is written. */
  scheduled(timer: Timer): void {
    if (timer.kind !== timerKind.fire || bucketOf(timer) >= this.#seenUntil) return
    const isFoundLater = this.#scanFrom !== undefined && Buffer.compare(timerKey(timer), this.#scanFrom) >= 0
    if (!isFoundLater) this.#note(timer)
  }

  #note(timer: Timer): void {
    const bucket = bucketOf(timer)
    this.#count(bucket, (this.#counts.get(bucket) ?? 0) + 1)
    const added = this.#added.get(bucket)
    if (added === undefined) return
    const key = timerKey(timer)
    const isAhead = this.#cursor?.bucket === bucket && Buffer.compare(key, this.#cursor.from) >= 0
    if (isAhead) return
    added.set(key.toString('latin1'), timer)
    if (added.size > addedMax) this.#readAnew(bucket)
  }

  #count(bucket: number, timers: number): void {
    this.#total += timers - (this.#counts.get(bucket) ?? 0)
    this.#counts.set(bucket, timers)
  }

  #forget(bucket: number): void {
    this.#count(bucket, 0)
    this.#counts.delete(bucket)
    this.#added.delete(bucket)
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
    if (isRead) this.#count(bucket, this.#added.get(bucket)?.size ?? 0)
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
    // What is behind the view is not counted, so nothing would ever remove it from memory where its timers are deleted.
    const end = Math.max(bucket + 1, Math.min(bucket + bucketsAtOnce, this.#seenUntil))
    const entries = await this.#store.scan({ from, to: timerBound(end * bucketMs), limit: max, keysOnly: true })
    const found = entries.map(({ key }) => ({ key, timer: timerOfKey(key) }))
    const isFull = entries.length === max
    const reached = isFull ? bucketOf(found.at(-1)?.timer) : end
    if (isFull && reached === bucket) this.#cursor = { bucket, from: keyAfter(entries.at(-1)?.key ?? from) }
    else {
      this.#count(bucket, this.#added.get(bucket)?.size ?? 0)
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
    if (this.#scanFrom !== undefined) return now
    const next = this.#plan(now, extraLeadMs)
    return Math.min(
      next?.startAt ?? Number.POSITIVE_INFINITY,
      Math.max(nextDue - this.#leadMsMax, this.#scannedAt + this.#scanEveryMs),
    )
  }

  /** Counts the buckets that came into view since the last scan, a part of them in each cycle. */
  async #scan(now: number, isAwaited: boolean): Promise<void> {
    if (this.#scannedAt - now > this.#scanEveryMs) this.#beginAnew()
    const from = this.#scanFrom ?? this.#scanBegin(now, isAwaited)
    if (from === undefined) return
    const to = timerBound(this.#seenUntil * bucketMs)
    this.#scanFrom = from
    for (let slices = 0; slices < slicesPerTake && this.#scanFrom !== undefined; slices++) {
      const entries = await this.#store.scan({ from: this.#scanFrom, to, limit: slice, keysOnly: true })
      const last = entries.at(-1)
      const next = entries.length < slice || last === undefined ? undefined : keyAfter(last.key)
      this.#scanFrom = next
      for (const { key } of entries) {
        const timer = timerOfKey(key)
        if (timer.kind === timerKind.fire) this.#note(timer)
      }
    }
  }

  /** Where the scan begins that is due now. */
  #scanBegin(now: number, isAwaited: boolean): Buffer | undefined {
    if (now - this.#scannedAt < this.#scanEveryMs) return undefined
    this.#scanDueAt ??= now
    if (isAwaited && now - this.#scanDueAt < scanLateMsMax && now >= this.#scanDueAt) return undefined
    this.#scanDueAt = undefined
    this.#scannedAt = now
    for (const bucket of this.#counts.keys()) if ((bucket + 1) * bucketMs <= now) this.#forget(bucket)
    const from = Math.max(this.#seenUntil, Math.floor((now + this.#leadMs) / bucketMs))
    this.#seenUntil = Math.max(this.#seenUntil, Math.floor((now + this.#leadMsMax) / bucketMs))
    return timerBound(from * bucketMs)
  }

  /** A clock that was ahead has skipped buckets that are still to come. */
  #beginAnew(): void {
    this.#counts.clear()
    this.#added.clear()
    this.#total = 0
    this.#seenUntil = 0
    this.#scannedAt = 0
    this.#scanFrom = undefined
    this.#cursor = undefined
  }

  /**
   * The earliest burst and its start, so that it and all later ones are dispatched one lead before they are due. It is computed
   * backwards from the last bucket in view.
   */
  #plan(now: number, extraLeadMs: number): { bucket: number; startAt: number } | undefined {
    const usual = Math.floor(Math.max(now + this.#leadMs, this.#aheadFrom - bucketMs) / bucketMs)
    const perMs = this.#perMs * countedOnShare
    // All timers in view would be dispatched in time if one beyond this were to begin with the next scan.
    const lookMs = this.#leadMs + extraLeadMs + this.#scanEveryMs + this.#total / perMs
    let startAt = Number.POSITIVE_INFINITY
    let next: { bucket: number; startAt: number } | undefined
    const last = Math.max(Math.ceil((now + lookMs) / bucketMs), this.#cursor?.bucket ?? 0)
    for (let bucket = Math.min(this.#seenUntil, last); bucket > usual; bucket--) {
      const count = this.#counts.get(bucket) ?? 0
      if (count === 0) continue
      startAt = Math.min(startAt, bucket * bucketMs - this.#leadMs - extraLeadMs) - count / perMs
      // What has begun goes on. Pauses would let the partitions of a process look faster than they are together.
      const beginsAt = this.#cursor?.bucket === bucket ? now : Math.max(startAt, bucket * bucketMs - this.#leadMsMax)
      if (count > (extraLeadMs > 0 ? 0 : burstTimers)) next = { bucket, startAt: Math.ceil(beginsAt) }
    }
    return next
  }
}
