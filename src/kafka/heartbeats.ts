/**
 * Lets callers wait for a heartbeat that was sent after they asked: the proof that the group still counts us as a member
 * (ADR 0003). An earlier heartbeat whose answer arrives later proves nothing.
 */
import type { Consumer } from 'kafkajs'
import { DuelogError } from '../errors.ts'

interface Waiter {
  sinceMs: number
  resolve(): void
  reject(error: Error): void
}

export class Heartbeats {
  readonly #intervalMs: number
  #waiters: Waiter[] = []
  #sentAtMs = 0
  /** The group's generation at the last heartbeat; 0 before the first. */
  generation = 0
  /** Sends a heartbeat from within a batch that is being processed. */
  beat: (() => void) | undefined

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /**
   * The interval as kafkajs reads it each time it considers a heartbeat: none while somebody waits, so that a waiter is not
   * held up for the rest of the interval. kafkajs only compares and adds it, for which an object with valueOf is as good as a number.
   */
  get interval(): number {
    return { valueOf: () => (this.#waiters.length > 0 ? 0 : this.#intervalMs) } as unknown as number
  }

  listen(consumer: Consumer): void {
    consumer.on(consumer.events.REQUEST, ({ payload }) => {
      if (payload.apiName === 'Heartbeat') this.#sentAtMs = payload.sentAt
    })
    // Emitted only on success, right after the request's own event.
    consumer.on(consumer.events.HEARTBEAT, ({ payload }) => {
      this.generation = payload.groupGenerationId
      const waiting: Waiter[] = []
      for (const waiter of this.#waiters) {
        // Within the same millisecond the order is not known: such a waiter takes the next one.
        if (waiter.sinceMs < this.#sentAtMs) waiter.resolve()
        else waiting.push(waiter)
      }
      this.#waiters = waiting
    })
  }

  next(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ sinceMs: Date.now(), resolve, reject })
      this.beat?.()
    })
  }

  /** Nobody will send a heartbeat any more. */
  end(reason: string): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const { reject } of waiters) reject(new DuelogError('not-ready', reason))
  }
}
