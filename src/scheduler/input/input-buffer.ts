/**
 * Input records that were read and are not applied yet, in order for each topic. Reading pauses above the limits of the buffer.
 * Also the names of the inputs of a batch.
 */
import type { ExecutionEvent } from '../../../schemas/index.ts'
import type { ReplyTo } from '../../../streams/jobs/index.ts'
import type { Input, Timer, Waiter } from '../../../streams/state/index.ts'
import { Fifo } from '../../ground/concurrency/index.ts'
import type { Heartbeat } from '../../ground/ports/index.ts'

export type Source = 'jobs' | 'commands' | 'events'

/** One record of an input topic. Without `input` only its offset counts. */
export interface InputRecord {
  source: Source
  offset: number
  jobId: string
  input: Input | undefined
  /** Of a definition: the record's value, as it is stored. */
  value: Buffer | null
  bytes: number
  /** Of a command: the broker's append time, if it is known. */
  appendedAt?: number
  /** Of a record that belongs to another partition: the record to write there. */
  moved: Move | undefined
  /** Where to send the receipt, if one was requested. */
  replyTo?: ReplyTo | undefined
  /** Without `input`: a heartbeat of an attempt that is not known to be active. */
  heartbeat?: { event: ExecutionEvent; heartbeat: Heartbeat }
  /** Of a report: the trace in which the worker ran the attempt. */
  traceparent?: string
  /** Of a report: somebody waits for the end of a run of this job. */
  isAwaited?: boolean
  /** Without `input`: why the record cannot be applied. */
  refusal?: string
}

export interface Move {
  key: Buffer
  value: Buffer | null
  headers: Record<string, Buffer>
  to: number
}

/** A name that no other timer has. */
export const timerName = ({ jobId, kind, runNo, dueAt }: Timer): string => `${kind} ${runNo} ${dueAt} ${jobId}`
export const waiterName = ({ jobId, key, runNo, dueAt }: Waiter): string => `admit ${runNo} ${dueAt} ${jobId} ${key}`

/** An input of a batch, or its name. Names are made only when they are asked for: most cycles succeed. */
export type Named = Timer | InputRecord | string
export const nameOf = (input: Named): string =>
  typeof input === 'string' ? input : 'source' in input ? `${input.source} ${input.offset}` : timerName(input)

/** The run that an input is about; 0: none. */
export function runOf(input: Input): number {
  if (input.kind === 'timer') return input.timer.runNo
  if (input.kind === 'event') return input.event.runNo
  return input.kind === 'admit' ? input.waiter.runNo : 0
}

/** Reading pauses above these limits and resumes below half of them. */
export const inputBufferRecordsMax = 2_000
export const inputBufferBytesMax = 8 * 1024 * 1024
/** Limit of all partitions of a process together. The share of a partition is never less than one fetch of it may hold. */
const allInputBuffersBytesMax = 16 * 1024 * 1024
const inputBufferBytesMin = 1024 * 1024

/** The share of each partition. */
export const inputBufferBytesOf = (partitions: number): number =>
  Math.min(Math.max(Math.floor(allInputBuffersBytesMax / Math.max(1, partitions)), inputBufferBytesMin), inputBufferBytesMax)

export class InputBuffer {
  readonly #bytesMax: () => number
  readonly #records = new Fifo<InputRecord>()
  #bytes = 0
  #paused = false
  #urgent = 0
  #definitions = 0
  #definitionsOnly = false
  /** Number of records that the last `take` returned. */
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

  /** Whether the buffer holds commands, or reports of runs whose end is awaited. Somebody waits for an answer, so the batch should not linger. */
  get urgent(): boolean {
    return this.#urgent > 0
  }

  /** Whether the buffer holds a record of jobs, which needs no commit by itself. */
  get hasDefinitions(): boolean {
    return this.#definitions > 0
  }

  get full(): boolean {
    return this.depth > inputBufferRecordsMax || this.#bytes > this.#bytesMax()
  }

  /** Whether it is empty enough to be filled again. */
  get roomy(): boolean {
    return this.depth <= inputBufferRecordsMax / 2 && this.#bytes <= this.#bytesMax() / 2
  }

  /** Whether the last commit cycle has put back all that it took: it had no room even for the first record. */
  get hasWaited(): boolean {
    return this.#hasWaited
  }

  put(inputRecord: InputRecord): void {
    this.#records.push(inputRecord)
    this.#count(inputRecord, 1)
  }

  /** The next `take` returns records of jobs only, wherever they are: between topics there is no order. */
  definitionsNext(): void {
    this.#definitionsOnly = true
  }

  /** The oldest records, at most `records` of them and at most `bytes`. The first one may be larger. */
  take(records: number, bytes: number): InputRecord[] {
    // A record that has waited continues to wait while only definitions are taken.
    if (!this.#definitionsOnly) this.#hasWaited = false
    const passedOver = this.#definitionsOnly ? this.#passOver() : []
    const taken = this.#takeOldest(records, bytes)
    this.#taken = taken.length
    if (passedOver.length > 0) this.#records.putBack(passedOver)
    return taken
  }

  /** Removes the records that are not of jobs. They stay counted. */
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

  /** Puts back records of the last `take` that were not applied. */
  putBack(inputRecords: InputRecord[]): void {
    this.#records.putBack(inputRecords)
    this.#hasWaited ||= inputRecords.length === this.#taken
    for (const inputRecord of inputRecords) this.#count(inputRecord, 1)
  }

  clear(): void {
    this.#records.clear()
    this.#bytes = 0
    this.#urgent = 0
    this.#definitions = 0
    this.#definitionsOnly = false
    this.#hasWaited = false
    this.#paused = false
  }

  /** `pause` or `resume` if reading has to change, else undefined. */
  backpressure(): 'pause' | 'resume' | undefined {
    if (this.full) {
      // Also if it is paused already: a topic that was opened meanwhile is not.
      this.#paused = true
      return 'pause'
    }
    if (this.#paused && this.roomy) {
      this.#paused = false
      return 'resume'
    }
    return undefined
  }

  #count({ source, bytes, isAwaited }: InputRecord, sign: 1 | -1): void {
    this.#bytes += sign * bytes
    if (source === 'commands' || isAwaited) this.#urgent += sign
    if (source === 'jobs') this.#definitions += sign
  }
}
