/**
 * One topic-partition of executions as this worker reads it: the taken records, the completed ones, and the position up to which
 * the group may therefore commit.
 *
 * States of an entry:
 *
 *   held ──► started ──► done        done: the broker has acknowledged an event about it, or there is nothing to run
 *    └─────► dropped                 its partition went to another worker before it could start
 *
 * Phases of a lane:
 *
 *   free ──gain──► owned ──close──► closing     closing: this worker leaves the group
 *    ▲               └──revoke──► revoking      revoking: nothing more is read, and nobody else reads it until what has started
 *    └───────────lose───┘                       here is done and committed
 */
import type { Execution } from '../../../../schemas/index.ts'
import { leadMsLimit } from '../../../../streams/runs/index.ts'
import { type TraceContext, traceContextOf } from '../../../../streams/text/index.ts'
import type { Position, RecordIn, TopicPartition } from '../../../ground/ports/index.ts'
import { TakenEntries } from './taken-entries.ts'
import { ToldRuns, takenRuns } from './told-runs.ts'

/** Twice the maximum of DUELOG_LEAD_MS_MAX. */
export const misdatedMsMin = 2 * leadMsLimit
/**
 * Whether an Execution was dispatched longer before its time than any lead allows: its owner's clock was ahead. It is given back. Otherwise
 * it would be held for hours, and nothing after it could be committed. By the brokers' time, if the topic keeps it. Otherwise the record has
 * the time of the owner's own clock, which proves nothing.
 */
export const isMisdated = ({ dueAt, appendedAt }: { dueAt: number; appendedAt: number }): boolean =>
  dueAt - appendedAt > misdatedMsMin

export class Entry {
  readonly lane: Lane
  readonly offset: number
  /** By the broker. */
  readonly appendedAt: number
  readonly bytes: number
  readonly dueAt: number
  /** The trace context that the record came with. */
  readonly trace: TraceContext | undefined
  /** Only while it is held, so that entries that wait for a commit stay small. */
  execution: Execution | undefined
  state: 'held' | 'started' | 'done' | 'dropped'
  /** Whether the batch that it waits in still gathers runs. Then no free slot would start it. Absent: it is in no batch. */
  batch: { readonly isGathering: boolean } | undefined
  /** A worker that is gone may have started it. Its start is reported before its handler is called. */
  startsReported = false
  /** The same of a record that a group commits. It starts in a wave (redelivered-runs.ts). */
  redelivered = false

  constructor(lane: Lane, { offset, timestampMs, value, headers }: RecordIn, execution: Execution | undefined) {
    this.lane = lane
    this.offset = offset
    this.appendedAt = timestampMs
    this.bytes = value?.length ?? 0
    this.dueAt = execution?.dueAt ?? 0
    this.trace = traceContextOf(headers)
    this.execution = execution
    this.state = execution === undefined ? 'done' : 'held'
  }

  /** It is no longer held: its handler is about to be called, or it ends without one. */
  start(): void {
    this.#leave('started')
    this.lane.released(this)
  }

  /** Its event is acknowledged, or it needs none. */
  done(): void {
    if (this.state === 'done') return
    this.#leave('done')
    this.lane.advanced()
  }

  /** It does not start here. It stays undone, so that no commit passes it. */
  drop(): void {
    this.#leave('dropped')
  }

  #leave(state: Entry['state']): void {
    this.state = state
    this.execution = undefined
  }
}

/** Who has the lane. */
export interface LaneHost {
  /** It holds one entry less, which may make room. */
  onReleased(lane: Lane): void
  /** It holds so many more entries and bytes, or fewer. Default: nobody counts. */
  onHeld?(lane: Lane, entries: number, bytes: number): void
  /** There may be something to commit. */
  onAdvanced(lane: Lane): void
}

export class Lane implements TopicPartition {
  readonly topic: string
  readonly partition: number
  /** Index of the priority; 0 is the highest. */
  readonly level: number
  /** Records that are due much later stay in the log. */
  readonly ahead: boolean
  readonly #host: LaneHost
  #phase: 'free' | 'owned' | 'closing' | 'revoking' = 'free'
  /** Grows each time the lane is lost, so that earlier work can detect that. */
  epoch = 0
  /** By the wall clock, when it was gained. Records that were appended before may have been read by a worker that is gone. */
  #gainedAtMs = Number.NEGATIVE_INFINITY
  /** Whether its last reader may have died. Undefined: that is not known yet. */
  isOrphaned: boolean | undefined
  /** Redelivered runs that have started in waves since it was gained. */
  startsInWaves = 0
  /** Next offset to take; undefined until something was read since the lane was gained. */
  next: number | undefined
  /** Everything before it was read, including offsets that are only transaction markers. */
  #passedTo = 0
  /** Taken and not yet started. */
  held = 0
  heldBytes = 0
  /** Runs at work here in the slot of another run of their batch. */
  sharing = 0
  /** Reading is paused because too much is held. */
  full = false
  /** Set while reading is paused until an instant: cancels that timer. */
  #cancelWait: (() => void) | undefined
  readonly entries = new TakenEntries<Entry>()
  #committed = -1
  readonly #told = new ToldRuns()
  #settled: (() => void)[] = []

  constructor(place: { topic: string; partition: number; level: number; ahead: boolean }, host: LaneHost) {
    this.topic = place.topic
    this.partition = place.partition
    this.level = place.level
    this.ahead = place.ahead
    this.#host = host
  }

  get owned(): boolean {
    return this.#phase === 'owned' || this.#phase === 'closing'
  }

  get isRevoking(): boolean {
    return this.#phase === 'revoking'
  }

  get isWaiting(): boolean {
    return this.#cancelWait !== undefined
  }

  /** The offset after everything that was read. */
  get reach(): number {
    return Math.max(this.next ?? 0, this.#passedTo)
  }

  gain(nowMs: number): void {
    if (!this.owned) {
      this.#gainedAtMs = nowMs
      this.startsInWaves = 0
      this.isOrphaned = undefined
    }
    this.#phase = 'owned'
  }

  /** The last commit tells its next reader that nobody has died here. */
  close(): void {
    if (!this.owned) return
    this.#phase = 'closing'
    this.#host.onAdvanced(this)
  }

  /** Nothing more is taken, while what was taken can still be done and committed. */
  revoke(): void {
    this.#phase = 'revoking'
    this.waitFor(undefined)
    this.epoch++
  }

  /** Forgets entries that have not started. The lane's next owner reads them again. */
  lose(): void {
    this.entries.lose()
    this.#phase = 'free'
    this.epoch++
    this.#committed = -1
    this.#passedTo = 0
    this.next = undefined
    this.#hold(-this.held, -this.heldBytes)
    this.full = false
    this.waitFor(undefined)
    this.#told.forget()
    for (const resolve of this.#settled.splice(0)) resolve()
  }

  /** The log was truncated or recreated, and is read from its beginning. */
  startOver(): void {
    this.entries.startOver(this.next)
    this.lose()
    this.#phase = 'owned'
    // This moves the group's position into the log soon. Otherwise the lane's next owner would run all of it.
    this.#host.onAdvanced(this)
  }

  /** Reading is paused until a timer ends that. Undefined: it is not, and a timer from before is cancelled. */
  waitFor(cancel: (() => void) | undefined): void {
    this.#cancelWait?.()
    this.#cancelWait = cancel
  }

  /** Registers a record as taken. Undefined if it must not start: already seen, or started here before the lane was lost. */
  take(record: RecordIn, execution: Execution | undefined): Entry | undefined {
    const { offset, timestampMs } = record
    if (this.next === undefined) this.entries.forgetSurvivorsBefore(offset)
    else if (offset < this.next) return undefined
    this.next = offset + 1
    if (this.entries.isPast(offset, timestampMs)) return undefined
    const { entry, isNew } = this.entries.take(offset, timestampMs, () => new Entry(this, record, execution))
    if (entry.state === 'done') this.#host.onAdvanced(this)
    if (!isNew || execution === undefined) return undefined
    entry.redelivered = timestampMs < this.#gainedAtMs
    this.#hold(1, entry.bytes)
    return entry
  }

  /** There is no record before the offset that this lane has not taken. */
  passed(offset: number): void {
    this.#passedTo = Math.max(this.#passedTo, offset)
    this.#host.onAdvanced(this)
  }

  /** An entry has started. */
  released(entry: Entry): void {
    this.#hold(-1, -entry.bytes)
    this.#host.onReleased(this)
  }

  /** An entry is done. */
  advanced(): void {
    if (this.#settled.length > 0 && this.#isSettled) for (const resolve of this.#settled.splice(0)) resolve()
    // The log position of a lane of pinned runs has no group that would commit it.
    if (this.#phase === 'free') this.entries.forgetDone()
    else this.#host.onAdvanced(this)
  }

  #hold(entries: number, bytes: number): void {
    this.held += entries
    this.heldBytes += bytes
    this.#host.onHeld?.(this, entries, bytes)
  }

  /** Nothing that is held starts here. */
  dropHeld(): void {
    for (const entry of this.entries.held()) {
      this.#hold(-1, -entry.bytes)
      entry.drop()
    }
  }

  /** Resolves when a commit passes all that has started, or when the lane is lost. For lanes whose other entries are dropped. */
  settled(): Promise<void> {
    if (this.#isSettled) return Promise.resolve()
    return new Promise((resolve) => this.#settled.push(resolve))
  }

  get #isSettled(): boolean {
    const open = this.entries.firstUndone
    return open === undefined || open.state === 'dropped'
  }

  /**
   * The position up to which everything is done, if it is beyond the last committed one, or if there is something new to tell with it.
   * `nowMs`: the wall clock.
   */
  committable(nowMs: number): Position | undefined {
    const open = this.entries.undone()
    const offset = open[0]?.offset ?? (this.reach > 0 ? this.reach : undefined)
    if (this.#phase === 'free' || offset === undefined || offset < this.#committed) return undefined
    const isUnstarted = ({ redelivered, state }: Entry): boolean => redelivered && (state === 'held' || state === 'dropped')
    const mayBeOrphaned = this.isOrphaned !== false && open.some(isUnstarted)
    // The mark of the last reader stays until it is known here.
    if (mayBeOrphaned && this.isOrphaned === undefined) return undefined
    // A lane that leaves before such runs have started does not vouch for them.
    const isClosed = !mayBeOrphaned && open.every(({ state }) => state !== 'started')
    const leaving = isClosed ? 'closed' : undefined
    const { metadata, isNew } = this.#told.look(this.#phase === 'owned' ? takenRuns(this, open) : leaving, nowMs)
    if (offset === this.#committed && !isNew) return undefined
    return { topic: this.topic, partition: this.partition, offset, ...(metadata === undefined ? {} : { metadata }) }
  }

  /** Whether it has to be looked at again, although nothing more is done. */
  get isTelling(): boolean {
    return this.#told.isOpen
  }

  committed(offset: number, nowMs: number): void {
    this.#committed = Math.max(this.#committed, offset)
    this.#told.committed(nowMs)
    this.entries.forgetBefore(offset)
  }
}
