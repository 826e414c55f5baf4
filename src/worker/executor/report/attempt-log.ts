/** The lines of one attempt that are not written yet, and the limits of an attempt. */
import type { Execution, RunLogLine } from '../../../../schemas/index.ts'
import { lineBytes, runLogLine } from './run-log-line.ts'

/** Lines of an attempt in one second, and in all; bytes in all. Further lines are counted and left out. */
export const linesPerSecondMax = 100
export const linesPerAttemptMax = 1_000
export const bytesPerAttemptMax = 1_048_576

/** Memory of a pending line besides its texts, about. */
const lineOverheadBytes = 200

export class AttemptLog {
  /** The attempt, without its payload, which may be large. */
  readonly execution: Pick<Execution, 'jobId' | 'runNo' | 'life' | 'attempt'>
  readonly partition: number
  /** The outcome of the attempt is known. */
  hasEnded = false
  /** Writes that the brokers have not answered. */
  inFlight = 0
  /** Settles with the last of them. */
  sent: Promise<void> = Promise.resolve()
  /** The last report of the attempt need not wait for lines any more. */
  reportMayGo = false
  #lines: RunLogLine[] = []
  #bytes = 0
  #count = 0
  #bytesInAll = 0
  #second = 0
  #countOfSecond = 0
  #leftOut = 0
  #fullSaid = false
  /** Lines before the pending ones. */
  #before = 0

  constructor({ jobId, runNo, life, attempt }: Execution, partition: number) {
    this.execution = { jobId, runNo, life, attempt }
    this.partition = partition
  }

  /** Bytes that wait to be sent. */
  get bytes(): number {
    return this.#bytes
  }

  get isFull(): boolean {
    return this.#count >= linesPerAttemptMax || this.#bytesInAll >= bytesPerAttemptMax
  }

  /** Whether the next write says that the attempt is full. */
  get saysFull(): boolean {
    return this.isFull && this.#leftOut > 0 && !this.#fullSaid
  }

  /** Whether one more line may be taken at this time. */
  admits(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1_000)
    if (second !== this.#second) {
      this.#second = second
      this.#countOfSecond = 0
    }
    return !this.isFull && this.#countOfSecond < linesPerSecondMax
  }

  /** Returns its bytes. */
  add(line: RunLogLine): number {
    const bytes = lineBytes(line) + lineOverheadBytes
    this.#lines.push(line)
    this.#bytes += bytes
    this.#bytesInAll += bytes
    this.#count++
    this.#countOfSecond++
    return bytes
  }

  /** Lines that are not taken, or that were lost. */
  leaveOut(lines: number): void {
    this.#leftOut += lines
  }

  /** The pending lines, with one that says how many were left out. Of a full attempt that number is said at its end. */
  take(nowMs: number): { firstNo: number; lines: RunLogLine[]; bytes: number } {
    const lines = this.#lines
    const bytes = this.#bytes
    if (this.#leftOut > 0 && (this.hasEnded || !this.isFull)) {
      const text = `${this.#leftOut} lines were left out: more than the limits of run.log allow, or lost because no broker took them.`
      lines.push(runLogLine('warn', text, { leftOut: this.#leftOut }, nowMs))
      this.#leftOut = 0
    } else if (this.saysFull) {
      this.#fullSaid = true
      lines.push(runLogLine('warn', 'Further lines of this attempt are left out: its limit is reached.', undefined, nowMs))
    }
    const firstNo = this.#before + 1
    this.#before += lines.length
    this.#lines = []
    this.#bytes = 0
    return { firstNo, lines, bytes }
  }
}
