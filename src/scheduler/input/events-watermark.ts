/**
 * Up to which time reports were read: what was durable in execution-events by `readUntil` is folded. Timers that would end an attempt for
 * want of a report wait here until that covers the time that they judge (ADR 0033).
 *
 *   timer deferred ──► the end of execution-events is asked for ──► all up to it is folded ──► readUntil is when it was asked for
 *                          └── no answer: asked again
 *
 * Nothing else waits for it: the loop fires on while a question is under way.
 */
import type { Logger } from 'pino'
import type { Timer } from '../../../streams/state/index.ts'
import { atSteady, type Clock } from '../../clock/index.ts'
import type { WakeSignal } from '../../concurrency/index.ts'
import { messageOf } from '../../errors/index.ts'
import type { EndOffsetQueries, Range } from './end-offset-queries.ts'
import { readableEnd, shrunk } from './end-offsets.ts'
import type { PartitionReader } from './partition-reader.ts'

/** The partition, as it is at any time. */
interface Place {
  readonly partition: number
  readonly shared: { readonly clock: Clock; readonly logger: Logger; readonly names: { readonly events: string } }
  readonly resources: { readonly ends: { readonly events: Pick<EndOffsetQueries, 'ask'> } }
  readonly partitionReader: Pick<PartitionReader, 'nudge' | 'next'>
  readonly signal: Pick<WakeSignal, 'wake'>
  hasApplied(source: 'events', end: number): boolean
}

/** Timers that wait in memory; more are written to the store again, for a little later. */
export const awaitingMax = 10_000
/** After a question that was not answered. */
const againMs = 1_000
/** What was not read for so long is asked for once more; after each time it waits twice as long. */
const nudgeMsMin = 2_000
const nudgeMsMax = 60_000

interface Question {
  askedAtMs: number
  readTo: number
  range?: Range
}

export class EventsWatermark {
  readonly #place: Place
  #awaiting: { timer: Timer; untilMs: number }[] = []
  /** Of those the earliest time that they judge. */
  #judgedFromMs = Number.POSITIVE_INFINITY
  /** The question under way or answered; `range` once it is. `readTo`: the next offset to be received when it was asked. */
  #question: Question | undefined
  /** By the steady clock, as is when to nudge: what a clock that was ahead put off would wait until then. */
  #askAtMs = Number.NEGATIVE_INFINITY
  #nudgeAtMs = Number.POSITIVE_INFINITY
  #nudgeMs = nudgeMsMin
  #readUntil = 0

  constructor(place: Place) {
    this.#place = place
  }

  /** The owner's clock, epoch ms; 0 while nothing is known. */
  get readUntil(): number {
    return this.#readUntil
  }

  /** Timers that wait. */
  get depth(): number {
    return this.#awaiting.length
  }

  /** How many more may. */
  get room(): number {
    return awaitingMax - this.#awaiting.length
  }

  /** When to look again at the latest; whatever comes before that wakes the loop. */
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
   * Moves on as far as reports were folded, asks for more where that is needed, and hands out the timers that may judge. Throws
   * DuelogError `log-shrunk` when execution-events ends before what was read of it: what it holds now was not read.
   */
  look(): Timer[] {
    const nowMs = this.#place.shared.clock.nowMs()
    const steadyMs = this.#place.shared.clock.steadyMs()
    // A clock that was ahead covers nothing of what is now.
    if (this.#readUntil > nowMs) this.#readUntil = 0
    if (this.#question !== undefined && this.#question.askedAtMs > nowMs) this.#question = undefined
    this.#hear(steadyMs)
    const covered = this.#awaiting.filter(({ untilMs }) => untilMs <= this.#readUntil)
    if (covered.length > 0) {
      this.#awaiting = this.#awaiting.filter(({ untilMs }) => untilMs > this.#readUntil)
      this.#judgedFromMs = this.#awaiting.reduce((least, { untilMs }) => Math.min(least, untilMs), Number.POSITIVE_INFINITY)
    }
    // No answer covers what is still to come: a timer that was taken before the clock was set back.
    if (this.#judgedFromMs <= nowMs && this.#question === undefined && steadyMs >= this.#askAtMs) this.#ask(nowMs)
    return covered.map(({ timer }) => timer)
  }

  #hear(steadyMs: number): void {
    if (this.#question?.range === undefined) return
    const { askedAtMs, readTo, range } = this.#question
    const { partition, shared } = this.#place
    if (range.next < readTo) throw shrunk(shared.names.events, partition, range.next, readTo)
    if (this.#place.hasApplied('events', readableEnd(range))) {
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
          { partition, error: messageOf(error), waiting: this.#awaiting.length },
          'Where execution-events ends is not known, so attempts that seem overdue are not given up yet; it is asked again.',
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
