/**
 * The time up to which reports were read: every report that was durable in execution-events by `readUntil` is applied. A timer that would
 * end an attempt because of a missing report waits here until `readUntil` covers the time that the timer judges (ADR 0033).
 *
 *   timer deferred ──► query for the end of execution-events ──► all reports up to it are applied ──► readUntil = time of the query
 *                          └── no answer: the query is repeated
 *
 * Nothing else waits for it: the loop continues to fire during a query.
 */
import type { Timer } from '../../../streams/state/index.ts'
import { atSteady, type Clock } from '../../ground/clock/index.ts'
import type { WakeSignal } from '../../ground/concurrency/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import { type EndOffsetQueries, type Range, readableEnd, shrunk } from './end-offsets.ts'
import type { LogPositions } from './log-positions.ts'
import type { PartitionReader } from './partition-reader.ts'

/** The partition, as it is at any time. */
export interface WatermarkPlace {
  readonly partition: number
  readonly shared: { readonly clock: Clock; readonly logger: Logger; readonly names: { readonly events: string } }
  readonly resources: { readonly ends: { readonly events: Pick<EndOffsetQueries, 'ask'> } }
  readonly partitionReader: Pick<PartitionReader, 'nudge' | 'next'>
  readonly signal: Pick<WakeSignal, 'wake'>
  readonly positions: Pick<LogPositions, 'hasApplied'>
}

/** Timers that wait in memory. Further ones are written to the store again, with a slightly later due time. */
export const awaitingMax = 10_000
/** Wait after a query without an answer. */
const againMs = 1_000
/** If the end is not reached after this wait, the records are fetched once more. The wait doubles each time, up to the maximum. */
const nudgeMsMin = 2_000
const nudgeMsMax = 60_000

interface Question {
  askedAtMs: number
  readTo: number
  range?: Range
}

export class EventsWatermark {
  readonly #place: WatermarkPlace
  #awaiting: { timer: Timer; untilMs: number }[] = []
  /** The earliest time that a waiting timer judges. */
  #judgedFromMs = Number.POSITIVE_INFINITY
  /** The current query; `range` is its answer. `readTo`: the next offset to be received at the time of the query. */
  #question: Question | undefined
  /** Both by the steady clock: a wall clock that was ahead would delay them for as long as it was ahead. */
  #askAtMs = Number.NEGATIVE_INFINITY
  #nudgeAtMs = Number.POSITIVE_INFINITY
  #nudgeMs = nudgeMsMin
  #readUntil = 0

  constructor(place: WatermarkPlace) {
    this.#place = place
  }

  /** Epoch ms by the owner's clock; 0 while nothing is known. */
  get readUntil(): number {
    return this.#readUntil
  }

  /** Number of waiting timers. */
  get depth(): number {
    return this.#awaiting.length
  }

  /** Number of timers that may still be added. */
  get room(): number {
    return awaitingMax - this.#awaiting.length
  }

  /** Latest time of the next call to `released`. An earlier event wakes the loop by itself. */
  get wakeAtMs(): number {
    if (this.#awaiting.length === 0) return Number.POSITIVE_INFINITY
    const { clock } = this.#place.shared
    return this.#question === undefined
      ? Math.max(this.#judgedFromMs, atSteady(clock, this.#askAtMs))
      : atSteady(clock, this.#nudgeAtMs)
  }

  hold(entries: readonly { timer: Timer; untilMs: number }[]): void {
    this.#awaiting.push(...entries)
    for (const { untilMs } of entries) this.#judgedFromMs = Math.min(this.#judgedFromMs, untilMs)
  }

  /**
   * Advances `readUntil` as far as reports were applied, starts a query if one is needed, and returns the timers that may judge.
   * Throws DuelogError `log-shrunk` if execution-events ends before the offset up to which it was read: its present records were
   * not read.
   */
  released(): Timer[] {
    const nowMs = this.#place.shared.clock.nowMs()
    const steadyMs = this.#place.shared.clock.steadyMs()
    // A time set by a clock that was ahead covers nothing.
    if (this.#readUntil > nowMs) this.#readUntil = 0
    if (this.#question !== undefined && this.#question.askedAtMs > nowMs) this.#question = undefined
    this.#takeAnswer(steadyMs)
    const covered = this.#awaiting.filter(({ untilMs }) => untilMs <= this.#readUntil)
    if (covered.length > 0) {
      this.#awaiting = this.#awaiting.filter(({ untilMs }) => untilMs > this.#readUntil)
      this.#judgedFromMs = this.#awaiting.reduce((least, { untilMs }) => Math.min(least, untilMs), Number.POSITIVE_INFINITY)
    }
    // No answer covers the future. Such a timer was taken before the clock was set back.
    if (this.#judgedFromMs <= nowMs && this.#question === undefined && steadyMs >= this.#askAtMs) this.#ask(nowMs)
    return covered.map(({ timer }) => timer)
  }

  #takeAnswer(steadyMs: number): void {
    if (this.#question?.range === undefined) return
    const { askedAtMs, readTo, range } = this.#question
    const { partition, shared } = this.#place
    if (range.next < readTo) throw shrunk(shared.names.events, partition, range.next, readTo)
    if (this.#place.positions.hasApplied('events', readableEnd(range))) {
      this.#readUntil = askedAtMs
      this.#question = undefined
    } else if (steadyMs >= this.#nudgeAtMs) this.#nudge(steadyMs)
  }

  #ask(nowMs: number): void {
    const { resources, signal, shared, partition, partitionReader } = this.#place
    const { clock, logger } = shared
    const question: Question = { askedAtMs: nowMs, readTo: partitionReader.next('events') }
    this.#question = question
    this.#nudgeAtMs = Number.POSITIVE_INFINITY
    resources.ends.events
      .ask(partition)
      .then((range) => {
        question.range = range
        this.#nudgeMs = nudgeMsMin
        this.#nudgeAtMs = clock.steadyMs() + nudgeMsMin
      })
      .catch((error) => {
        if (this.#question === question) this.#question = undefined
        this.#askAtMs = clock.steadyMs() + againMs
        logger.warn(
          { event: 'reports-end-unknown', partition, err: error, waiting: this.#awaiting.length },
          'The end of execution-events is not known, so attempts that seem overdue are not given up yet; the query is repeated.',
        )
      })
      .finally(() => signal.wake())
  }

  #nudge(steadyMs: number): void {
    this.#place.partitionReader.nudge('events')
    this.#nudgeMs = Math.min(2 * this.#nudgeMs, nudgeMsMax)
    this.#nudgeAtMs = steadyMs + this.#nudgeMs
  }
}
