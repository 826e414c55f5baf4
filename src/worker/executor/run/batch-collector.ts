/**
 * Collects due runs of one batch handler. A batch is ripe when it is full, or when its oldest run has waited long enough. It then
 * takes its turn among all due runs, with the highest priority in it.
 */
import { priorityOf, rankMax, rankOf } from '../../../../streams/topics/index.ts'
import { atInstant, type Clock } from '../../../ground/clock/index.ts'
import type { Entry } from '../consume/index.ts'
import type { BatchHandler } from '../handlers/index.ts'
import { ReadyQueue } from './ready-queue.ts'

/** Represents a ripe batch in the ready queue. */
export class BatchTurn {
  readonly batchCollector: BatchCollector
  readonly level: number
  readonly dueAt: number

  constructor(batchCollector: BatchCollector, level: number, dueAt: number) {
    this.batchCollector = batchCollector
    this.level = level
    this.dueAt = dueAt
  }
}

/** The place of an entry in the order. */
export const rankOfEntry = ({ execution }: Entry): number =>
  execution === undefined ? 0 : rankOf(priorityOf(execution), execution.attempt)

export class BatchCollector {
  readonly handler: BatchHandler
  readonly #clock: Clock
  readonly #onReady: (turn: BatchTurn) => void
  readonly #onWoken: () => void
  readonly #waiting: ReadyQueue<Entry>
  /** Levels that have a turn in the ready queue. */
  readonly #offered = new Set<number>()
  #cancelTimer: (() => void) | undefined

  /**
   * `onRipe` gets the turn of a ripe batch. `onWoken` is called if a timer made it ripe.
   */
  constructor(handler: BatchHandler, clock: Clock, onRipe: (turn: BatchTurn) => void, onWoken: () => void) {
    this.handler = handler
    this.#clock = clock
    this.#onReady = onRipe
    this.#onWoken = onWoken
    this.#waiting = new ReadyQueue(rankMax + 1)
  }

  /** Whether it waits for more runs: neither is it full, nor has its first run waited long enough. */
  get isGathering(): boolean {
    return this.#waiting.size > 0 && !this.#ripe
  }

  add(entry: Entry): void {
    entry.batch = this
    this.#waiting.push(rankOfEntry(entry), entry)
    this.#callIfReady()
  }

  /** The runs of the batch for this turn; none if an earlier turn took them. */
  take(turn: BatchTurn): Entry[] {
    this.#offered.delete(turn.level)
    const batch: Entry[] = []
    if (this.#ripe) {
      while (batch.length < this.handler.batch.maxSize) {
        const entry = this.#waiting.next()
        if (entry === undefined) break
        batch.push(entry)
      }
    }
    this.#callIfReady()
    return batch
  }

  clear(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#waiting.clear()
    this.#offered.clear()
  }

  get #ripe(): boolean {
    const { maxSize, maxWaitMs } = this.handler.batch
    return this.#waiting.size >= maxSize || this.#waiting.oldestDueAt + maxWaitMs <= this.#clock.nowMs()
  }

  #callIfReady(): void {
    const level = this.#waiting.top
    if (level < 0) return
    if (this.#ripe) {
      if (this.#offered.has(level)) return
      this.#offered.add(level)
      this.#onReady(new BatchTurn(this, level, this.#waiting.oldestDueAt))
      return
    }
    this.#cancelTimer ??= atInstant(this.#clock, this.#waiting.oldestDueAt + this.handler.batch.maxWaitMs, () => {
      this.#cancelTimer = undefined
      this.#callIfReady()
      this.#onWoken()
    })
  }
}
