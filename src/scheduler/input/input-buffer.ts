/** Records that were read and not yet folded, in order for each topic, with limits at which reading pauses. */
import type { ExecutionEvent } from '../../../schemas/index.ts'
import type { ReplyTo } from '../../../streams/jobs/index.ts'
import type { Input } from '../../../streams/state/index.ts'
import { Fifo } from '../../concurrency/index.ts'
import type { Heartbeat } from '../../ports/index.ts'

export type Source = 'jobs' | 'commands' | 'events'

/** One record of an input topic. Without `input` only its position counts. */
export interface InputRecord {
  source: Source
  offset: number
  jobId: string
  input: Input | undefined
  /** With a definition: the record's value, as it is stored. */
  value: Buffer | null
  bytes: number
  /** Of a command: the broker's append time, where that is known. */
  appendedAt?: number
  /** With a record that belongs to another partition: what has to be written so that it gets there. */
  moved: Move | undefined
  /** Who asked to be told what became of it. */
  replyTo?: ReplyTo | undefined
  /** Without `input`: of an attempt that is not known to be active. */
  heartbeat?: { event: ExecutionEvent; heartbeat: Heartbeat }
  /** Without `input`: why it cannot be applied. */
  refusal?: string
}

export interface Move {
  key: Buffer
  value: Buffer | null
  headers: Record<string, Buffer>
  to: number
}

/** Reading pauses above these and resumes below half of them. */
export const inputBufferRecordsMax = 2_000
export const inputBufferBytesMax = 8 * 1024 * 1024
/** Of all partitions of a process together, but a share is never less than one fetch of a partition has. */
const allInputBuffersBytesMax = 16 * 1024 * 1024
const inputBufferBytesMin = 1024 * 1024

/** The share of each of so many partitions. */
export const inputBufferBytesOf = (partitions: number): number =>
  Math.min(Math.max(Math.floor(allInputBuffersBytesMax / Math.max(1, partitions)), inputBufferBytesMin), inputBufferBytesMax)

export class InputBuffer {
  readonly #bytesMax: () => number
  readonly #records = new Fifo<InputRecord>()
  #bytes = 0
  #paused = false
  #commands = 0
  #definitions = 0
  #definitionsOnly = false
  /** Records that were taken last. */
  #taken = 0
  #hasWaited = false

  constructor(bytesMax = (): number => inputBufferBytesMax) {
    this.#bytesMax = bytesMax
  }

  get depth(): number {
    return this.#records.length
  }

  /** Offset of the oldest record; Infinity when there is none. */
  get nextOffset(): number {
    return this.#records.first?.offset ?? Number.POSITIVE_INFINITY
  }

  /** Whether somebody waits for an answer, so that the batch should not linger. */
  get urgent(): boolean {
    return this.#commands > 0
  }

  /** Whether there is a record of jobs, which needs no commit by itself. */
  get hasDefinitions(): boolean {
    return this.#definitions > 0
  }

  get full(): boolean {
    return this.depth > inputBufferRecordsMax || this.#bytes > this.#bytesMax()
  }

  /** Whether it has emptied enough to be filled again. */
  get roomy(): boolean {
    return this.depth <= inputBufferRecordsMax / 2 && this.#bytes <= this.#bytesMax() / 2
  }

  /** Whether the last turn has put back all that it was given: it had no room even for the first. */
  get hasWaited(): boolean {
    return this.#hasWaited
  }

  put(inputRecord: InputRecord): void {
    this.#records.push(inputRecord)
    this.#count(inputRecord, 1)
  }

  /** The next `take` gives records of jobs alone, wherever they stand: between topics there is no order. */
  definitionsNext(): void {
    this.#definitionsOnly = true
  }

  /** The oldest records, at most so many and, but for the first, so many bytes. */
  take(records: number, bytes: number): InputRecord[] {
    // Whoever has waited waits on while definitions alone are taken.
    if (!this.#definitionsOnly) this.#hasWaited = false
    const passedOver = this.#definitionsOnly ? this.#passOver() : []
    const taken = this.#takeOldest(records, bytes)
    this.#taken = taken.length
    if (passedOver.length > 0) this.#records.putBack(passedOver)
    return taken
  }

  /** Takes out what is not of jobs; it is still counted. */
  #passOver(): InputRecord[] {
    this.#definitionsOnly = false
    const waiting = this.#records.drain()
    for (const inputRecord of waiting) if (inputRecord.source === 'jobs') this.#records.push(inputRecord)
    return waiting.filter(({ source }) => source !== 'jobs')
  }

  #takeOldest(records: number, bytes: number): InputRecord[] {
    const taken: InputRecord[] = []
    let sum = 0
    while (taken.length < records) {
      const inputRecord = this.#records.first
      if (inputRecord === undefined || (taken.length > 0 && sum + inputRecord.bytes > bytes)) break
      sum += inputRecord.bytes
      taken.push(inputRecord)
      this.#records.shift()
      this.#count(inputRecord, -1)
    }
    return taken
  }

  /** Puts records back that were taken last and not folded. */
  putBack(inputRecords: InputRecord[]): void {
    this.#records.putBack(inputRecords)
    this.#hasWaited ||= inputRecords.length === this.#taken
    for (const inputRecord of inputRecords) this.#count(inputRecord, 1)
  }

  clear(): void {
    this.#records.clear()
    this.#bytes = 0
    this.#commands = 0
    this.#definitions = 0
    this.#definitionsOnly = false
    this.#hasWaited = false
    this.#paused = false
  }

  /** `pause` or `resume` when reading has to change, else undefined. */
  backpressure(): 'pause' | 'resume' | undefined {
    if (this.full) {
      // Also where it is paused already: what was opened meanwhile flows.
      this.#paused = true
      return 'pause'
    }
    if (this.#paused && this.roomy) {
      this.#paused = false
      return 'resume'
    }
    return undefined
  }

  #count({ source, bytes }: InputRecord, sign: 1 | -1): void {
    this.#bytes += sign * bytes
    if (source === 'commands') this.#commands += sign
    if (source === 'jobs') this.#definitions += sign
  }
}
