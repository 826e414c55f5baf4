/** What a partition reads and has not decided: its reader, the records that wait, how far its logs are applied, and when its reading waits. */
import type { Clock } from '../../ground/clock/index.ts'
import { EventsWatermark, type WatermarkPlace } from './events-watermark.ts'
import { InputBuffer } from './input-buffer.ts'
import { type AppliedOffsets, LogPositions } from './log-positions.ts'
import type { PartitionReader } from './partition-reader.ts'

interface Options {
  place: Omit<WatermarkPlace, 'partitionReader' | 'positions'> & { shared: { clock: Clock } }
  reader: PartitionReader
  bytesMax: () => number
  /** False once the partition takes nothing from its reader any more. */
  receives: () => boolean
  /** As the store was opened. */
  applied: Readonly<AppliedOffsets>
}

export class PartitionInput {
  readonly reader: PartitionReader
  readonly buffer: InputBuffer
  readonly backpressure: Backpressure
  readonly positions: LogPositions
  readonly reports: EventsWatermark

  constructor({ place, reader, bytesMax, receives, applied }: Options) {
    this.reader = reader
    this.buffer = new InputBuffer(bytesMax)
    this.backpressure = new Backpressure(this.buffer, reader, place.shared.clock)
    this.positions = new LogPositions(reader, receives, applied)
    this.reports = new EventsWatermark({ ...place, partitionReader: reader, positions: this.positions })
  }

  /** Drops what waits. Callers that wait for room continue. */
  end(): void {
    this.buffer.clear()
    this.backpressure.make()
  }
}

/** How long a full input buffer delays the next fetch before reading is paused. */
const roomWaitMs = 250

/**
 * Backpressure: reading waits while the input buffer is full. First the next fetch is delayed for a moment. A pause costs more, because
 * the reader notices its end only after the longest wait of a fetch. If the buffer is still full after that moment, the partition is
 * paused, so that the other partitions continue.
 */
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

/** For this long after a commit, or after a caller began to wait, reading is not delayed. */
const busyMs = 1_000

/**
 * The pace of reading while definitions trickle in. A fetch ends as soon as one record is there, so a client that writes one job after
 * the other wakes the owner for each of them, and the owner takes the processor from the client and the broker. So after a fetch that
 * brought only definitions, and all that were there, the next one waits a moment and brings several (ADR 0081). It never waits while
 * runs are committed or somebody waits for what was written.
 */
export class ReadingPace {
  readonly #clock: Clock
  readonly #paceMs: number
  readonly #waiting = new Set<() => void>()
  #hurriedAtMs = Number.NEGATIVE_INFINITY

  /** `paceMs`: by how many ms the next fetch is delayed; 0 never delays it. */
  constructor(clock: Clock, paceMs: number) {
    this.#clock = clock
    this.#paceMs = paceMs
  }

  /** Resolves when the next records may be fetched. */
  async next(): Promise<void> {
    if (this.#paceMs === 0 || this.#clock.steadyMs() - this.#hurriedAtMs < busyMs) return
    await new Promise<void>((resolve) => {
      const go = (): void => {
        cancelTimer()
        this.#waiting.delete(go)
        resolve()
      }
      const cancelTimer = this.#clock.at(this.#clock.nowMs() + this.#paceMs, go)
      this.#waiting.add(go)
    })
  }

  /** Something was committed, a partition entered another phase, or a caller waits for a record: reading goes on at once. */
  hurry(): void {
    this.#hurriedAtMs = this.#clock.steadyMs()
    for (const go of this.#waiting) go()
  }
}
