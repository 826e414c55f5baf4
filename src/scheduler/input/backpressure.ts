/**
 * Holds reading back while more was read than is folded. A full mailbox holds the next fetch back for a moment, because a pause costs
 * more: the reader notices its end only after the longest wait of a fetch. A partition that does not empty in that moment is paused, so
 * that the others go on.
 */
import type { Clock } from '../../clock/index.ts'
import type { InputBuffer } from './input-buffer.ts'
import type { PartitionReader } from './partition-reader.ts'

/** How long a full mailbox holds the next fetch back before reading is paused. */
const roomWaitMs = 250

export class Backpressure {
  readonly #inputBuffer: InputBuffer
  readonly #partitionReader: PartitionReader
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []

  constructor(inputBuffer: InputBuffer, partitionReader: PartitionReader, clock: Clock) {
    this.#inputBuffer = inputBuffer
    this.#partitionReader = partitionReader
    this.#clock = clock
  }

  /** Resolves when more may be read. */
  async room(): Promise<void> {
    if (!this.#inputBuffer.full) return
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
    const change = this.#inputBuffer.backpressure()
    if (change === undefined) return
    for (const source of ['jobs', 'commands', 'events'] as const) {
      if (change === 'pause') this.#partitionReader.hold(source)
      else this.#partitionReader.release(source)
    }
  }
}
