/** Collects records into batches and keeps a bounded number of them on their way. */
import type { LogWriter, RecordOut } from '../ports/index.ts'

export const batchRecordsMax = 1_000
export const batchBytesMax = 512 * 1024
/** Batches on their way at once. The writer joins those that wait into one request, so several keep it busy. */
export const batchesInFlightMax = 8

export class BatchSender {
  readonly #writer: LogWriter
  #records: RecordOut[] = []
  #bytes = 0
  #inFlight = 0
  #wake: (() => void) | undefined
  #failure: { error: unknown } | undefined
  /** Records that the log has acknowledged. */
  written = 0

  constructor(writer: LogWriter) {
    this.#writer = writer
  }

  /** True when the caller must await room() before it adds more. */
  add(record: RecordOut, bytes: number): boolean {
    this.#records.push(record)
    this.#bytes += bytes
    if (this.#records.length < batchRecordsMax && this.#bytes < batchBytesMax) return false
    this.#send()
    return this.#inFlight >= batchesInFlightMax || this.#failure !== undefined
  }

  /** Resolves when another batch may go. Rejects when one could not be written. */
  async room(): Promise<void> {
    while (this.#inFlight >= batchesInFlightMax && this.#failure === undefined) await this.#change()
    this.#check()
  }

  /** Sends the rest and resolves when all is written. Rejects when a batch could not be written, after the others have ended. */
  async finish(): Promise<void> {
    if (this.#failure === undefined && this.#records.length > 0) this.#send()
    while (this.#inFlight > 0) await this.#change()
    this.#check()
  }

  #send(): void {
    const records = this.#records
    this.#records = []
    this.#bytes = 0
    this.#inFlight++
    this.#writer.write(records).then(
      () => {
        this.written += records.length
        this.#ended()
      },
      (error: unknown) => {
        this.#failure ??= { error }
        this.#ended()
      },
    )
  }

  #ended(): void {
    this.#inFlight--
    this.#wake?.()
    this.#wake = undefined
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }
}
