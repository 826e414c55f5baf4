/**
 * The retry forwarder. In a delay topic every record waits equally long from the broker's append time, so the head of the log is
 * always the earliest. The forwarder reads the head and pauses the partition until it is due. A record that is due, or will be
 * within the owners' lead, is reported to the owner of its partition, who decides what happens. Only then its offset is
 * committed. There is no other state: after a crash some records are reported twice, and the owner ignores the second report.
 *
 *   reading ──► waiting (paused, sought back to the head) ──► reading
 */
import { retryTiers } from '../../../streams/topics/index.ts'
import { ClockAbsence, trustedMs } from '../../ground/clock/index.ts'
import { LazyWriter, RejoinTimer } from '../../ground/concurrency/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import { type Reading, whenRead } from '../../ground/metrics/index.ts'
import type { Batch, GroupReader, Position, RecordIn, TopicPartition } from '../../ground/ports/index.ts'
import type { RetrierOptions } from './options.ts'
import { retryEvents } from './retry-events.ts'
import { TierLane } from './tier-lane.ts'

/** See DUELOG_LEAD_MS. */
const leadMsDefault = 100
/** Events in one write. */
const forwardedPerWriteMax = 1_000
/**
 * Delay before a partition is read again after its records could not be forwarded: the brokers or the registry were unreachable,
 * or the clock is not trusted.
 */
const againMs = 1_000
const rejoinFirstMs = 1_000
const rejoinMaxMs = 30_000

export class Retrier {
  readonly #options: RetrierOptions
  readonly #lanes = new Map<string, TierLane>()
  #reader: GroupReader | undefined
  readonly #writer: LazyWriter
  #generation = -1
  readonly #rejoinTimer: RejoinTimer
  #stopped = false
  #stopping: Promise<void> | undefined
  readonly #absence: ClockAbsence
  /** Writes and commits that have begun. */
  readonly #inFlight = new Set<Promise<unknown>>()

  constructor(options: RetrierOptions) {
    this.#options = options
    this.#writer = new LazyWriter(options.log)
    this.#rejoinTimer = new RejoinTimer(options.clock, rejoinFirstMs, rejoinMaxMs)
    this.#absence = new ClockAbsence({ clock: options.clock, leave: () => this.#leave(), join: () => this.#joinAgain() })
    whenRead(options.metrics.retryTierLag, () => this.#lags())
  }

  /** Joins the group. Rejects when the broker cannot be reached. */
  async start(): Promise<void> {
    await this.#join()
    this.#absence.start()
  }

  async #join(): Promise<void> {
    const { log, names, instance } = this.#options
    await this.#writer.open()
    this.#reader = log.reader({
      groupId: names.group('retry'),
      topics: retryTiers.map((tier) => names.retry(tier.name)),
      instance,
      assignment: 'co-partitioned',
      onAssigned: (assigned, generation) => this.#assigned(assigned, generation),
      onBatch: (batch) => this.#batch(batch),
      onPassed: (position) => this.#passed(position),
      onCrash: (error) => this.#crashed(error),
    })
    await this.#reader.start()
  }

  /** Leaves the group. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.#stopped = true
    this.#absence.stop()
    await this.#endReading()
    await this.#writer.close()
  }

  async #endReading(): Promise<void> {
    this.#rejoinTimer.cancel()
    for (const lane of this.#lanes.values()) lane.cancelWait?.()
    // Reported retries are committed too, so that the next forwarder does not report them again.
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight)
    await this.#reader?.stop()
  }

  /** Other forwarders get the partitions: nothing is due by a clock that is not trusted. */
  async #leave(): Promise<void> {
    const { logger } = this.#options
    logger.error(
      { event: 'retrier-left-for-clock' },
      'The wall clock has not been trusted for long; retries are left to other forwarders.',
    )
    await this.#endReading().catch((error: unknown) =>
      logger.warn({ event: 'group-not-left', err: error }, 'The group could not be left; it waits until the session ends.'),
    )
    this.#loseAll()
  }

  async #joinAgain(): Promise<void> {
    this.#rejoinTimer.reset()
    if (!this.#stopped) await this.#join().catch((error: unknown) => this.#crashed(error))
  }

  #loseAll(): void {
    for (const lane of this.#lanes.values()) lane.lose()
    this.#generation = -1
  }

  #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#inFlight.add(work)
    const ended = () => void this.#inFlight.delete(work)
    work.then(ended, ended)
    return work
  }

  #assigned(assigned: TopicPartition[], generation: number) {
    // In a generation that we missed, the group's offsets may have moved beyond our positions.
    const missed = generation !== this.#generation + 1
    this.#generation = generation
    this.#rejoinTimer.reset()
    const kept = new Set(assigned.map(({ topic, partition }) => this.#lane(topic, partition)))
    for (const lane of this.#lanes.values()) if (missed || !kept.has(lane)) lane.lose()
    for (const lane of kept) lane.owned = true
    const place = ({ topic, partition }: TierLane): TopicPartition => ({ topic, partition })
    return {
      positions: [...kept].flatMap((lane) => (lane.next === undefined ? [] : [{ ...place(lane), offset: lane.next }])),
      paused: [...kept].filter((lane) => lane.cancelWait !== undefined).map(place),
    }
  }

  #lane(topic: string, partition: number): TierLane {
    const key = `${topic}/${partition}`
    let lane = this.#lanes.get(key)
    if (lane === undefined) {
      const tier = retryTiers.find(({ name }) => this.#options.names.retry(name) === topic)
      if (tier === undefined) throw new DuelogError('internal', `${topic} is no retry topic`)
      lane = new TierLane(topic, partition, tier)
      this.#lanes.set(key, lane)
    }
    return lane
  }

  #crashed(error: unknown): void {
    this.#loseAll()
    if (this.#stopped || this.#absence.isAway) return
    const { delayMs } = this.#rejoinTimer
    this.#options.logger.error(
      { event: 'retrier-session-lost', err: error, delayMs },
      'The retry forwarder lost its group session and joins again.',
    )
    this.#rejoinTimer.start(
      () => this.#join(),
      (startError) => this.#crashed(startError),
    )
  }

  async #batch(batch: Batch): Promise<void> {
    const lane = this.#lanes.get(`${batch.topic}/${batch.partition}`)
    if (lane === undefined) return
    if (batch.highWatermark < (lane.next ?? 0)) lane.startOver(batch.highWatermark, this.#options)
    lane.isBehind = true
    for (
      let at = 0;
      at < batch.records.length && lane.owned && !this.#stopped && !this.#absence.isAway;
      at += forwardedPerWriteMax
    ) {
      const records = batch.records.slice(at, at + forwardedPerWriteMax)
      if (!(await this.#track(this.#forward(lane, records)))) return
    }
    lane.isBehind = !lane.owned || this.#stopped || this.#absence.isAway
  }

  /** The end of a transaction is an offset too. Without it, an idle group would always show a lag of 1. */
  #passed({ topic, partition, offset }: Position): void {
    const lane = this.#lanes.get(`${topic}/${partition}`)
    if (lane === undefined || !lane.owned || lane.isBehind || this.#stopped || offset <= (lane.next ?? 0)) return
    lane.next = offset
    this.#commit(lane, offset)
  }

  /** Forwards the due records. False if the lane has to wait, for a later record or after a failure. */
  async #forward(lane: TierLane, records: RecordIn[]): Promise<boolean> {
    const { clock } = this.#options
    const [head] = records
    lane.headDueAt = head && this.#forwardAtMs(lane, head)
    const nowMs = trustedMs(clock)
    if (nowMs === undefined) {
      if (head !== undefined) this.#wait(lane, head.offset, clock.nowMs() + againMs)
      return false
    }
    const young = records.find((record) => this.#forwardAtMs(lane, record) > nowMs)
    const due = young === undefined ? records : records.slice(0, records.indexOf(young))
    const first = due[0]
    if (first !== undefined) {
      try {
        const events = await retryEvents(this.#options, due)
        if (events.length > 0) await this.#writer.write(events)
      } catch (error) {
        this.#failed(lane, first.offset, error)
        return false
      }
      const last = due.at(-1) as RecordIn
      if (!lane.owned) return false
      lane.headDueAt = young && this.#forwardAtMs(lane, young)
      lane.next = last.offset + 1
      this.#commit(lane, lane.next)
    }
    if (young === undefined) return true
    this.#wait(lane, young.offset, this.#forwardAtMs(lane, young))
    return false
  }

  /** How late the tiers are of which this process has partitions. */
  #lags(): Reading[] {
    const nowMs = this.#options.clock.nowMs()
    const lags = new Map<string, number>()
    for (const { tier, owned, headDueAt = nowMs } of this.#lanes.values())
      if (owned) lags.set(tier, Math.max(lags.get(tier) ?? 0, nowMs - headDueAt))
    return Array.from(lags, ([tier, lagMs]) => ({ labels: { tier }, value: lagMs / 1_000 }))
  }

  #forwardAtMs(lane: TierLane, { timestampMs }: RecordIn): number {
    return timestampMs + lane.delayMs - (this.#options.leadMs ?? leadMsDefault)
  }

  /** Nothing waits for a commit: records that it does not cover are forwarded again after a crash. */
  #commit({ topic, partition }: TierLane, offset: number): void {
    const committing = this.#reader?.commit([{ topic, partition, offset }]).catch((error: unknown) => {
      this.#options.logger.debug(
        { event: 'retry-position-not-committed', topic, partition, offset, err: error },
        'The position of retries could not be committed; the next commit includes it.',
      )
    })
    if (committing !== undefined) void this.#track(committing)
  }

  #failed(lane: TierLane, offset: number, error: unknown): void {
    const { clock, logger } = this.#options
    if (this.#stopped || !lane.owned) return
    logger.warn(
      { event: 'retries-not-forwarded', topic: lane.topic, partition: lane.partition, err: error },
      'Retries could not be forwarded; they are forwarded again.',
    )
    this.#wait(lane, offset, clock.nowMs() + againMs)
  }

  /** Leaves this offset and all later ones in the log until an instant. */
  #wait(lane: TierLane, offset: number, untilMs: number): void {
    if (this.#stopped || this.#absence.isAway) return
    const { topic, partition } = lane
    this.#reader?.pause([{ topic, partition }])
    this.#reader?.seek({ topic, partition, offset })
    lane.next = offset
    lane.cancelWait?.()
    lane.cancelWait = this.#options.clock.at(untilMs, () => {
      lane.cancelWait = undefined
      if (lane.owned && !this.#stopped) this.#reader?.resume([{ topic, partition }])
    })
  }
}
