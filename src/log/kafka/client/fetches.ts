/**
 * Reads partitions from their leaders, one loop for each broker:
 *
 *   fetch what it leads and is not paused ──► hand the batches over, all at once ──settled──► fetch …
 *
 * So a batch that waits holds back the other partitions of its broker, and nothing else. What fails at one broker is tried again
 * with fresh metadata, and fetches from others go on. A seek, a pause or a new assignment drops what is being fetched.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Batch, Position, TopicPartition } from '../../../ground/ports/index.ts'
import type { Cluster, Isolation } from './cluster.ts'
import { isLoss, retryMs } from './errors.ts'
import { type Fetched, fetchFrom } from './fetch.ts'
import { brokerError } from './protocol.ts'
import type { Unread } from './record-batches.ts'

export interface FetchesOptions {
  cluster: Cluster
  isolation: Isolation
  fetchBytes: number
  fetchPartitionBytes: number
  /** How long a broker may hold back an answer without records when nothing has happened for 10 s, ms. */
  quietWaitMs(): number
  /** Whether the longer wait counts also while a partition is paused. */
  isPatientWhilePaused: boolean
  /** In offset order for each partition. It must not throw or reject. */
  onBatch(batch: Batch): void | Promise<void>
  /** Everything before it was read and has settled. */
  onPassed(position: Position): void
  /** Called for each answer about a partition, before its batch. `isEmpty`: no partition of this answer had records. */
  onAnswer?(place: TopicPartition, end: number, isEmpty: boolean): void
  onUnread(unread: readonly Unread[], place: TopicPartition): void
  /** A broker, or the leader of a partition, was lost. It is tried again. */
  onLost?(error: unknown): void
  /** The log has no such offset. Resolves with the one to read from. */
  onOutOfRange(place: TopicPartition): Promise<number>
  /** Fetching has ended with an answer that will not change. */
  onFault(error: unknown): void
  /** Metadata was read again. */
  onMetadata?(): void
}

/** A partition that is read. `next` is undefined while its position is not known. */
export interface Place extends TopicPartition {
  next: number | undefined
  isPaused: boolean
}

interface State extends Place {
  /** Counts seeks. */
  turn: number
  /** It is being fetched, or its batch has not settled. */
  isBusy: boolean
}

/**
 * How long a broker may hold back an answer without records, ms. New records end each wait at once, so its length only limits what takes
 * effect at the end of a fetch: resumes, seeks and the end of a membership.
 */
const waitMs = 100
/** Time without any change after which a reader is quiet. */
const quietAfterMs = 10_000
/** Metadata is read again after this time: leaders move back, and partitions are added. */
const metadataMsMax = 300_000

export const keyOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`

export class Fetches {
  readonly #options: FetchesOptions
  #places = new Map<string, State>()
  readonly #loops = new Map<string, Promise<void>>()
  readonly #handling = new Set<Promise<void>>()
  #leaders = new Map<string, string>()
  #wakers: (() => void)[] = []
  #isStopped = false
  #recovering: Promise<void> | undefined
  #metadataAtMs = performance.now()
  #busyAtMs = performance.now()

  constructor(options: FetchesOptions) {
    this.#options = options
  }

  /** Replaces all partitions. */
  assign(places: readonly Place[]): void {
    this.#places = new Map(places.map((place) => [keyOf(place), { ...place, turn: 0, isBusy: false }]))
    this.#busyAtMs = performance.now()
    this.#arrange()
  }

  /** Reads nothing more until the next assignment. Resolves when all batches have settled. */
  async halt(): Promise<void> {
    this.assign([])
    await Promise.all(this.#handling)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.halt()
    await Promise.all(this.#loops.values())
  }

  pause(places: readonly TopicPartition[], isPaused: boolean): void {
    for (const place of places) {
      const state = this.#places.get(keyOf(place))
      if (state !== undefined) state.isPaused = isPaused
    }
    if (places.length > 0) this.#changed()
  }

  seek({ offset, ...place }: Position): void {
    const state = this.#places.get(keyOf(place))
    if (state === undefined) return
    state.next = offset
    state.turn++
    this.#changed()
  }

  /** The position of a partition that has none yet. */
  place({ offset, ...place }: Position): void {
    if (this.#places.get(keyOf(place))?.next === undefined) this.seek({ ...place, offset })
  }

  /** Partitions whose position is not known. */
  get unplaced(): TopicPartition[] {
    return [...this.#places.values()].filter(({ next }) => next === undefined)
  }

  /** Something happened that may be followed by more: the next fetches end soon. */
  #changed(): void {
    this.#busyAtMs = performance.now()
    this.#wake()
  }

  /** Nothing has happened for 10 s: no records, assignment, seek, pause or resume. */
  get isQuiet(): boolean {
    return performance.now() - this.#busyAtMs >= quietAfterMs
  }

  get #waitMs(): number {
    const isPatient = this.#options.isPatientWhilePaused || [...this.#places.values()].every(({ isPaused }) => !isPaused)
    return this.isQuiet && isPatient ? Math.max(waitMs, this.#options.quietWaitMs()) : waitMs
  }

  #wake(): void {
    const wakers = this.#wakers
    this.#wakers = []
    for (const wake of wakers) wake()
  }

  /** A loop for each broker that leads a partition. */
  #arrange(): void {
    this.#leaders = this.#leadersNow()
    this.#wake()
    if (this.#isStopped) return
    for (const nodeId of new Set(this.#leaders.values())) {
      if (this.#loops.has(nodeId)) continue
      const ended = (): void => {
        this.#loops.delete(nodeId)
        this.#arrange()
      }
      this.#loops.set(nodeId, this.#loop(nodeId).then(ended))
    }
    if (this.#leaders.size < this.#places.size) void this.#recover()
  }

  #leadersNow(): Map<string, string> {
    const leaders = new Map<string, string>()
    for (const topic of new Set([...this.#places.values()].map((place) => place.topic)))
      for (const { partitionId, leader } of this.#options.cluster.findTopicPartitionMetadata(topic)) {
        const key = keyOf({ topic, partition: partitionId })
        if (leader >= 0 && this.#places.has(key)) leaders.set(key, String(leader))
      }
    return leaders
  }

  async #loop(nodeId: string): Promise<void> {
    while (!this.#isStopped && this.#isLeader(nodeId)) {
      const wanted = this.#wantedFrom(nodeId)
      if (wanted.length === 0) await new Promise<void>((resolve) => void this.#wakers.push(resolve))
      else await this.#round(nodeId, wanted)
    }
  }

  #isLeader(nodeId: string): boolean {
    for (const leader of this.#leaders.values()) if (leader === nodeId) return true
    return false
  }

  #wantedFrom(nodeId: string): State[] {
    const wanted: State[] = []
    for (const [key, state] of this.#places)
      if (this.#leaders.get(key) === nodeId && state.next !== undefined && !state.isPaused && !state.isBusy) wanted.push(state)
    return wanted
  }

  async #round(nodeId: string, wanted: readonly State[]): Promise<void> {
    const { cluster, isolation, fetchBytes, fetchPartitionBytes } = this.#options
    if (performance.now() - this.#metadataAtMs > metadataMsMax) void this.#recover()
    const asked = new Map(wanted.map((state) => [keyOf(state), { state, turn: state.turn }]))
    for (const state of wanted) state.isBusy = true
    try {
      const broker = await cluster.findBroker({ nodeId })
      const limits = { isolation, waitMs: this.#waitMs, bytesMax: fetchBytes, partitionBytesMax: fetchPartitionBytes }
      const places = wanted.map(({ topic, partition, next = 0 }) => ({ topic, partition, offset: next }))
      const answers = await fetchFrom(broker, places, limits)
      const isEmpty = answers.every(({ bytes }) => bytes === 0)
      const current = answers.flatMap((answer) => {
        const { state, turn } = asked.get(keyOf(answer)) ?? {}
        const isCurrent = state !== undefined && state === this.#places.get(keyOf(answer)) && state.turn === turn
        return isCurrent && !state.isPaused ? [{ answer, state }] : []
      })
      const taking = Promise.all(current.map(({ answer, state }) => this.#take(answer, state, isEmpty)))
      const handled = taking.then(() => {})
      this.#handling.add(handled)
      await handled.finally(() => this.#handling.delete(handled))
      const refused = current.find(({ answer }) => answer.error !== undefined && answer.error !== outOfRange)?.answer
      if (refused?.error !== undefined) throw brokerError(refused.error, `Reading ${keyOf(refused)}`)
    } catch (error) {
      await this.#failed(error)
    } finally {
      for (const state of wanted) state.isBusy = false
      // Another broker may lead one of them by now.
      this.#wake()
    }
  }

  async #take(answer: Fetched, state: State, isEmpty: boolean): Promise<void> {
    const { topic, partition, records, unread, highWatermark, next } = answer
    const place = { topic, partition }
    const { turn } = state
    if (answer.error === outOfRange) {
      const offset = await this.#options.onOutOfRange(place)
      if (state.turn === turn) state.next = offset
    }
    if (answer.error !== undefined) return
    this.#options.onAnswer?.(place, answer.end, isEmpty)
    if (next === undefined) return
    if (unread.length > 0) this.#options.onUnread(unread, place)
    if (records.length > 0) this.#busyAtMs = performance.now()
    const settled = records.length > 0 ? this.#options.onBatch({ ...place, records, highWatermark, next }) : undefined
    if (settled !== undefined) await settled
    // After a seek, or a join that set a new position for the partition, this code must not move the position.
    if (state !== this.#places.get(keyOf(place)) || state.turn !== turn) return
    state.next = next
    this.#options.onPassed({ ...place, offset: next })
  }

  async #failed(error: unknown): Promise<void> {
    if (this.#isStopped) return
    if (!isLoss(error)) return this.#end(error)
    this.#options.onLost?.(error)
    await wait(retryMs)
    await this.#recover()
  }

  #end(error: unknown): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#options.onFault(error)
  }

  /** Once for all loops. */
  #recover(): Promise<void> {
    this.#recovering ??= this.#readMetadata().finally(() => {
      this.#recovering = undefined
    })
    return this.#recovering
  }

  /** Until each partition has a leader. */
  async #readMetadata(): Promise<void> {
    for (;;) {
      this.#metadataAtMs = performance.now()
      try {
        await this.#options.cluster.refreshMetadata()
      } catch (error) {
        if (!isLoss(error)) return this.#end(error)
      }
      if (this.#isStopped) return
      this.#options.onMetadata?.()
      this.#arrange()
      if (this.#leaders.size >= this.#places.size) return
      await wait(retryMs)
    }
  }
}

const outOfRange = 'OFFSET_OUT_OF_RANGE'
