/**
 * Backpressure: reading waits while the input buffer is full. First the next fetch is delayed for a moment. A pause costs more, because
 * the reader notices its end only after the longest wait of a fetch. If the buffer is still full after that moment, the partition is
 * paused, so that the other partitions continue.
 */
import type { Clock } from '../../clock/index.ts'
import type { InputBuffer } from './input-buffer.ts'
import type { PartitionReader } from './partition-reader.ts'

/** How long a full input buffer delays the next fetch before reading is paused. */
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
      const cancelTimer = this.#clock.at(this.#clock.nowMs() + roomWaitMs, resolve)
      this.#waiting.push(() => {
        cancelTimer()
        resolve()
      })
    })
    this.#adjust()
  }

  /** There is room: the callers that wait for it continue. */
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
