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
import type { Timer } from '../../streams/keys.ts'
import type { Clock } from '../clock.ts'
import { messageOf } from '../errors.ts'
import type { EndsQuestion } from './ends-question.ts'
import type { Feed } from './feed.ts'
import type { Signal } from './signal.ts'

/** The partition, as it is at any time. */
interface Place {
  readonly partition: number
  readonly shared: { readonly clock: Clock; readonly logger: Logger }
  readonly shares: { readonly eventEnds: Pick<EndsQuestion, 'ask'> }
  readonly feed: Pick<Feed, 'nudge'>
  readonly signal: Pick<Signal, 'wake'>
  hasFolded(source: 'events', end: number): boolean
}

/** Timers that wait in memory; more are written to the store again, for a little later. */
export const awaitingMax = 10_000
/** After a question that was not answered. */
const againMs = 1_000
/** What was not read for so long is asked for once more; after each time it waits twice as long. */
const nudgeMsMin = 2_000
const nudgeMsMax = 60_000

export class EventsWatermark {
  readonly #place: Place
  #awaiting: { timer: Timer; untilMs: number }[] = []
  /** The least `untilMs` of those that wait. */
  #firstMs = Number.POSITIVE_INFINITY
  /** The question under way or answered; `end` once it is. */
  #question: { askedAtMs: number; end?: number } | undefined
  #askAtMs = 0
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
    return this.#question === undefined ? Math.max(this.#askAtMs, this.#firstMs) : this.#nudgeAtMs
  }

  hold(entries: readonly { timer: Timer; untilMs: number }[]): void {
    this.#awaiting.push(...entries)
    this.#firstMs = firstOf(entries, this.#firstMs)
  }

  /** Moves on as far as reports were folded, asks for more where that is needed, and hands out the timers that may judge. */
  look(): Timer[] {
    const nowMs = this.#place.shared.clock.nowMs()
    // A clock that was ahead covers nothing of what is now.
    if (this.#readUntil > nowMs) this.#readUntil = 0
    if (this.#question !== undefined && this.#question.askedAtMs > nowMs) this.#question = undefined
    const { askedAtMs, end } = this.#question ?? {}
    if (askedAtMs !== undefined && end !== undefined) {
      if (this.#place.hasFolded('events', end)) {
        this.#readUntil = askedAtMs
        this.#question = undefined
      } else if (nowMs >= this.#nudgeAtMs) this.#nudge(nowMs)
    }
    const covered = this.#awaiting.filter(({ untilMs }) => untilMs <= this.#readUntil)
    if (covered.length > 0) {
      this.#awaiting = this.#awaiting.filter(({ untilMs }) => untilMs > this.#readUntil)
      this.#firstMs = firstOf(this.#awaiting)
    }
    // Where the clock was set back, an answer of now covers none of them: it would be asked for again and again.
    if (this.#firstMs <= nowMs && this.#question === undefined && nowMs >= this.#askAtMs) this.#ask(nowMs)
    return covered.map(({ timer }) => timer)
  }

  #ask(nowMs: number): void {
    const { shares, signal, shared, partition } = this.#place
    const { clock, logger } = shared
    const question: { askedAtMs: number; end?: number } = { askedAtMs: nowMs }
    this.#question = question
    this.#nudgeAtMs = Number.POSITIVE_INFINITY
    shares.eventEnds
      .ask(partition)
      .then(({ next }) => {
        question.end = next
        this.#nudgeMs = nudgeMsMin
        this.#nudgeAtMs = clock.nowMs() + nudgeMsMin
      })
      .catch((error) => {
        if (this.#question === question) this.#question = undefined
        this.#askAtMs = clock.nowMs() + againMs
        logger.warn(
          { partition, error: messageOf(error), waiting: this.#awaiting.length },
          'Where execution-events ends is not known, so attempts that seem overdue are not given up yet; it is asked again.',
        )
      })
      .finally(() => signal.wake())
  }

  #nudge(nowMs: number): void {
    this.#place.feed.nudge('events')
    this.#nudgeMs = Math.min(2 * this.#nudgeMs, nudgeMsMax)
    this.#nudgeAtMs = nowMs + this.#nudgeMs
  }
}

const firstOf = (entries: readonly { untilMs: number }[], known = Number.POSITIVE_INFINITY): number =>
  entries.reduce((first, { untilMs }) => Math.min(first, untilMs), known)
