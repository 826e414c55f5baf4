/**
 * Holds reading back while more was read than is folded. A full mailbox holds the next fetch back for a moment, because a pause costs
 * more: the reader notices its end only after the longest wait of a fetch. A partition that does not empty in that moment is paused, so
 * that the others go on.
 */
import type { Clock } from '../../clock/index.ts'
import type { Mailbox } from './input-buffer.ts'
import type { Feed } from './partition-reader.ts'

/** How long a full mailbox holds the next fetch back before reading is paused. */
const roomWaitMs = 250

export class Flow {
  readonly #mailbox: Mailbox
  readonly #feed: Feed
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []

  constructor(mailbox: Mailbox, feed: Feed, clock: Clock) {
    this.#mailbox = mailbox
    this.#feed = feed
    this.#clock = clock
  }

  /** Resolves when more may be read. */
  async room(): Promise<void> {
    if (!this.#mailbox.full) return
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.at(this.#clock.nowMs() + roomWaitMs, resolve)
      this.#waiting.push(() => {
        cancel()
        resolve()
      })
    })
    this.#adjust()
  }

  /** There is room: whoever waits for it goes on. */
  make(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
    this.#adjust()
  }

  #adjust(): void {
    const change = this.#mailbox.flow()
    if (change === undefined) return
    for (const source of ['jobs', 'commands', 'events'] as const) {
      if (change === 'pause') this.#feed.hold(source)
      else this.#feed.release(source)
    }
  }
}
