/**
 * One topic-partition of executions as this worker reads it: the taken records, the completed ones, and the position up to which
 * the group may therefore commit.
 *
 * States of an entry:
 *
 *   held ──► started ──► done        done: the broker has acknowledged an event about it, or there is nothing to run;
 *    │                               one that is not tracked has no events, and is done when its handler has settled
 *    └─────► dropped                 its partition went to another worker before it could start
 *
 * States of a lane:
 *
 *   owned ──revoke──► revoking ──lose──► neither        revoking: nothing more is read, and nobody else reads it until what has
 *     └────────────lose───────────────────┘             started here is done and committed
 */
import type { Execution } from '../../../schemas/index.ts'
import { type TraceContext, traceContextOf } from '../../../streams/text/index.ts'
import type { Position, RecordIn, TopicPartition } from '../../ports/index.ts'
import { ToldRuns, takenRuns } from './told-runs.ts'

/** A log that shrinks more often while one worker reads it has some of its records run again. */
const passedMax = 8

export class Entry {
  readonly lane: Lane
  readonly offset: number
  /** By the broker. Together with the offset it identifies the record, even if a topic was recreated. */
  readonly appendedAt: number
  readonly bytes: number
  readonly dueAt: number
  /** False: no events. It is done when its handler has settled. */
  readonly tracked: boolean
  /** The trace context that the record came with. */
  readonly trace: TraceContext | undefined
  /** Released when the entry is done, so that entries that wait for a commit stay small. */
  execution: Execution | undefined
  state: 'held' | 'started' | 'done' | 'dropped'
  /** Whether the batch that it waits in still gathers runs. Then no free slot would start it. Absent: it is in no batch. */
  batch: { readonly isGathering: boolean } | undefined
  /** A worker that is gone may have started it. Its start is reported before its handler is called. */
  startsReported = false
  /** The same of a record that a group commits. It starts in a wave (redelivered-runs.ts). */
  redelivered = false
  /** Starts of an untracked run since a worker died with it, as its lane tells the next reader. */
  restarts = 0

  constructor(lane: Lane, { offset, timestampMs, value, headers }: RecordIn, execution: Execution | undefined) {
    this.lane = lane
    this.offset = offset
    this.appendedAt = timestampMs
    this.bytes = value?.length ?? 0
    this.dueAt = execution?.dueAt ?? 0
    this.tracked = execution?.tracked ?? true
    this.trace = traceContextOf(headers)
    this.execution = execution
    this.state = execution === undefined ? 'done' : 'held'
  }
}

const isWaiting = (state: Entry['state']): boolean => state === 'held' || state === 'dropped'

export class Lane implements TopicPartition {
  readonly topic: string
  readonly partition: number
  /** Index of the priority; 0 is the highest. */
  readonly level: number
  /** Records that are due much later stay in the log. */
  readonly ahead: boolean
  owned = false
  revoking = false
  /** This worker leaves the group. */
  closing = false
  /** Whether its last reader may have died. Undefined: that is not known yet. */
  isOrphaned: boolean | undefined
  #restarts: ReadonlyMap<number, number> = new Map()
  /** Redelivered runs that have started in waves since it was gained. */
  startsInWaves = 0
  /** Grows each time the lane is lost, so that earlier work can detect that. */
  epoch = 0
  /** By the wall clock, when it was gained. Records that were appended before may have been read by a worker that is gone. */
  #gainedAtMs = Number.NEGATIVE_INFINITY
  /** Next offset to take; undefined until something was read since the lane was gained. */
  next: number | undefined
  /** Taken and not yet started. */
  held = 0
  heldBytes = 0
  /** Runs at work here in the slot of another run of their batch. */
  sharing = 0
  /** Reading is paused because too much is held. */
  full = false
  /** Set while reading is paused until an instant: cancels that timer. */
  cancelWait: (() => void) | undefined
  /**
   * From the first entry that is not known to be committed. Completed entries before it, whose commit failed, are read again like
   * the rest.
   */
  #queue: Entry[] = []
  /** Indexes of the first entry that is not known to be committed, and of the first that is not done. */
  #head = 0
  #undone = 0
  #committed = -1
  readonly #told = new ToldRuns()
  #settled: (() => void)[] = []
  /** Everything before it was read, including offsets that are only transaction markers. */
  #passedTo = 0
  /** Entries that started here before the lane was lost: the same records, read again, must not start twice in one process. */
  #startedBeforeLoss: Map<number, Entry> | undefined
  /** Latest append time of the taken records. */
  #readMs = 0
  /**
   * Where the log was found to be shorter than before: records before these offsets, appended by these times, were taken and
   * committed.
   */
  #passed: { offset: number; untilMs: number }[] = []

  constructor(topic: string, partition: number, level: number, ahead: boolean) {
    this.topic = topic
    this.partition = partition
    this.level = level
    this.ahead = ahead
  }

  /** Entries between the committed offset and the next one. */
  get uncommitted(): number {
    return this.#queue.length - this.#head
  }

  /** Registers a record as taken. Undefined if it must not start: already seen, or started here before the lane was lost. */
  take(record: RecordIn, execution: Execution | undefined): Entry | undefined {
    const { offset, timestampMs } = record
    if (this.next === undefined) this.#forgetSurvivorsBefore(offset)
    else if (offset < this.next) return undefined
    this.next = offset + 1
    if (this.#passed.some((passed) => offset < passed.offset && timestampMs <= passed.untilMs)) return undefined
    this.#readMs = Math.max(this.#readMs, timestampMs)
    const known = this.#startedBeforeLoss?.get(offset)
    const survivor = known?.appendedAt === timestampMs ? known : undefined
    const entry = survivor ?? new Entry(this, record, execution)
    this.#queue.push(entry)
    if (survivor !== undefined || execution === undefined) return undefined
    entry.redelivered = timestampMs < this.#gainedAtMs
    entry.restarts = this.#restarts.get(offset) ?? 0
    this.held++
    this.heldBytes += entry.bytes
    return entry
  }

  /** A held entry starts or is dropped. */
  release(entry: Entry): void {
    this.held--
    this.heldBytes -= entry.bytes
  }

  /** The offset after everything that was read. */
  get reach(): number {
    return Math.max(this.next ?? 0, this.#passedTo)
  }

  /** There is no record before the offset that this lane has not taken. */
  passed(offset: number): void {
    this.#passedTo = Math.max(this.#passedTo, offset)
  }

  gain(nowMs: number): void {
    if (!this.owned) {
      this.#gainedAtMs = nowMs
      this.startsInWaves = 0
      this.#restarts = new Map()
      this.isOrphaned = undefined
    }
    this.owned = true
    this.closing = false
  }

  /** Nothing more is taken, while what was taken can still be done and committed. */
  revoke(): void {
    this.owned = false
    this.revoking = true
    this.cancelWait?.()
    this.cancelWait = undefined
    this.epoch++
  }

  /** Its event is acknowledged, or it needs none. */
  done(entry: Entry): void {
    entry.state = 'done'
    entry.execution = undefined
    if (this.#settled.length > 0 && this.#isSettled) this.#settle()
  }

  /** Resolves when a commit passes all that has started, or when the lane is lost. For lanes whose other entries are dropped. */
  settled(): Promise<void> {
    if (this.#isSettled) return Promise.resolve()
    return new Promise((resolve) => this.#settled.push(resolve))
  }

  get #isSettled(): boolean {
    const open = this.#firstUndone
    return open === undefined || open.state === 'dropped'
  }

  #settle(): void {
    for (const resolve of this.#settled.splice(0)) resolve()
  }

  /** Forgets entries that have not started. The lane's next owner reads them again. */
  lose(): void {
    const survivors = this.#startedBeforeLoss ?? new Map<number, Entry>()
    for (const entry of this.#queue.slice(this.#head)) {
      if (entry.state === 'held') {
        entry.state = 'dropped'
        entry.execution = undefined
      } else if (entry.state !== 'dropped') survivors.set(entry.offset, entry)
    }
    this.#startedBeforeLoss = survivors.size > 0 ? survivors : undefined
    this.#queue = []
    this.#head = 0
    this.#undone = 0
    this.#committed = -1
    this.#passedTo = 0
    this.next = undefined
    this.held = 0
    this.heldBytes = 0
    this.full = false
    this.cancelWait?.()
    this.cancelWait = undefined
    this.owned = false
    this.revoking = false
    this.epoch++
    this.#told.forget()
    this.#settle()
  }

  /**
   * The log was truncated or recreated, and is read from its beginning. It may hold records that were already taken, and new
   * records may reuse old offsets. The append time distinguishes them.
   */
  startOver(): void {
    const { owned } = this
    const offset = this.#queue[this.#head]?.offset ?? this.next
    if (offset !== undefined) this.#passed = [...this.#passed, { offset, untilMs: this.#readMs }].slice(-passedMax)
    this.lose()
    this.owned = owned
  }

  /**
   * The position up to which everything is done, if it is beyond the last committed one, or if there is something new to tell with it.
   * `nowMs`: the wall clock.
   */
  committable(nowMs: number): Position | undefined {
    const offset = this.#firstUndone?.offset ?? (this.reach > 0 ? this.reach : undefined)
    const isOurs = this.owned || this.revoking
    // The log position of a lane of pinned runs has no group that would commit it.
    if (!isOurs) this.#forget(this.#undone)
    if (!isOurs || offset === undefined || offset < this.#committed) return undefined
    const open = this.#queue.slice(this.#undone)
    // What the last reader told stays until it is known here. A lane that leaves before such runs have started does not vouch for them.
    const mayBeOrphaned = this.isOrphaned !== false && open.some(({ redelivered, state }) => redelivered && isWaiting(state))
    if (mayBeOrphaned && this.isOrphaned === undefined) return undefined
    const isClosed = this.isLeaving && !mayBeOrphaned && open.every(({ state }) => state !== 'started')
    const taken = isClosed ? 'closed' : this.isLeaving && !mayBeOrphaned ? undefined : takenRuns(this, open)
    const { metadata, isNew } = this.#told.look(taken, nowMs)
    if (offset === this.#committed && !isNew) return undefined
    return { topic: this.topic, partition: this.partition, offset, ...(metadata === undefined ? {} : { metadata }) }
  }

  /** Whether it has to be looked at again, although nothing more is done. */
  get isTelling(): boolean {
    return this.#told.isOpen
  }

  /** Nothing more of it is taken here, and others get it when what has started is committed. */
  get isLeaving(): boolean {
    return this.revoking || this.closing
  }

  get #firstUndone(): Entry | undefined {
    while (this.#queue[this.#undone]?.state === 'done') this.#undone++
    return this.#queue[this.#undone]
  }

  committed(offset: number, nowMs: number): void {
    this.#committed = Math.max(this.#committed, offset)
    this.#told.committed(nowMs)
    this.#forgetBefore(offset)
    this.#forgetSurvivorsBefore(offset)
  }

  #forgetBefore(offset: number): void {
    let head = this.#head
    while (head < this.#undone && (this.#queue[head] as Entry).offset < offset) head++
    this.#forget(head)
  }

  #forget(head: number): void {
    this.#head = head
    if (this.#head <= 1_024 || this.#head * 2 <= this.#queue.length) return
    this.#queue = this.#queue.slice(this.#head)
    this.#undone -= this.#head
    this.#head = 0
  }

  #forgetSurvivorsBefore(offset: number): void {
    if (this.#startedBeforeLoss === undefined) return
    for (const survivor of this.#startedBeforeLoss.keys()) if (survivor < offset) this.#startedBeforeLoss.delete(survivor)
    if (this.#startedBeforeLoss.size === 0) this.#startedBeforeLoss = undefined
  }

  /** A held entry does not start here, except these. It stays undone, so that no commit passes it. */
  dropHeld(but?: ReadonlySet<Entry>): void {
    for (const entry of this.heldEntries()) {
      if (but?.has(entry)) continue
      this.release(entry)
      entry.state = 'dropped'
      entry.execution = undefined
    }
  }

  /** All entries that were taken and not started. */
  heldEntries(): Entry[] {
    return this.#queue.slice(this.#head).filter((entry) => entry.state === 'held')
  }

  /** What the last reader told of the untracked runs here, by offset. */
  restarted(restarts: ReadonlyMap<number, number>): void {
    this.#restarts = restarts
    for (const entry of this.#queue) entry.restarts = restarts.get(entry.offset) ?? 0
  }

  /** The same of those that are not read yet. */
  get restartsAhead(): [offset: number, count: number][] {
    const { reach } = this
    return [...this.#restarts].filter(([offset]) => offset >= reach)
  }

  /** Whether an entry before it has not started, so that no commit could pass it. */
  hasHeldBefore({ offset }: Entry): boolean {
    for (let at = this.#undone; at < this.#queue.length; at++) {
      const entry = this.#queue[at] as Entry
      if (entry.offset >= offset) return false
      if (entry.state === 'held') return true
    }
    return false
  }

  /** Held entries before one that has started: the committed offset cannot pass them. */
  heldBeforeStarted(): Entry[] {
    const open = this.#queue.slice(this.#head)
    const lastStarted = open.findLastIndex((entry) => entry.state === 'started' || entry.state === 'done')
    return open.slice(0, Math.max(lastStarted, 0)).filter((entry) => entry.state === 'held')
  }
}
