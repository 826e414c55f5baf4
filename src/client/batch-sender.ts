/** Collects records into batches and sends a bounded number of them concurrently. */
import type { LogWriter, RecordOut } from '../ports/index.ts'

export const batchRecordsMax = 1_000
export const batchBytesMax = 512 * 1024
/** Maximum batches in-flight. The writer joins waiting batches into one request, so several keep it busy. */
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

  /** True if the caller must await room() before it adds more. */
  add(record: RecordOut, bytes: number): boolean {
    this.#records.push(record)
    this.#bytes += bytes
    if (this.#records.length < batchRecordsMax && this.#bytes < batchBytesMax) return false
    this.#send()
    return this.#inFlight >= batchesInFlightMax || this.#failure !== undefined
  }

  /** Resolves when another batch may be sent. Rejects if one could not be written. */
  async room(): Promise<void> {
    while (this.#inFlight >= batchesInFlightMax && this.#failure === undefined) await this.#change()
    this.#check()
  }

  /** Sends the rest and resolves when all are written. Rejects if a batch could not be written, after the others have ended. */
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
