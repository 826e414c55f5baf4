/** The outcome of each run of a load, from the records of the log. Records of different topics may come in any order. */
import type { Execution, ExecutionEvent } from '../../../schemas/index.ts'
import type { Fact, Lateness } from '../../tools/auditor/index.ts'
import type { Load } from './plan.ts'

export interface Counts {
  /** Runs of the jobs that are durable. */
  expected: number
  dispatched: number
  started: number
  succeeded: number
  dead: number
}

export interface Result extends Counts {
  /** Runs that were not dispatched, not started or not ended. */
  lost: number
  /** Runs whose first attempt was dispatched or started twice, and runs that are not in the schedule. */
  duplicate: number
  failedAttempts: number
  /** First start of a run after the time it was due, in ms, exact; undefined when nothing started. */
  lateness: Lateness | undefined
}

const isDispatched = 1
const isSucceeded = 2
const isDead = 4
const isFirstStarted = 8

export class Tally {
  readonly #load: Load
  readonly #sent: Uint8Array
  readonly #marks: Uint8Array
  readonly #dueAt: Float64Array
  readonly #startedAt: Float64Array
  readonly #counts = { expected: 0, dispatched: 0, started: 0, succeeded: 0, dead: 0 }
  #duplicate = 0
  #failedAttempts = 0
  #woken: (() => void) | undefined
  /** All jobs were sent. */
  #closed = false

  constructor(load: Load) {
    this.#load = load
    this.#sent = new Uint8Array(load.jobs)
    this.#marks = new Uint8Array(load.runs)
    this.#dueAt = new Float64Array(load.runs)
    this.#startedAt = new Float64Array(load.runs)
  }

  get counts(): Counts {
    return { ...this.#counts }
  }

  /** A job is durable. */
  sent(index: number): void {
    this.#sent[index] = 1
    this.#counts.expected += this.#load.runsPerJob
  }

  /** To be called when all jobs were sent. Resolves when every run was dispatched, has started and has ended. */
  ended(): Promise<void> {
    this.#closed = true
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#woken = resolve
    this.#look()
    return promise
  }

  /** Enters a record of the log. Kinds that do not matter here are ignored. */
  enter(fact: Fact): void {
    const { jobId } = fact
    if (fact.kind === 'dispatch') this.execution({ jobId, ...fact.dispatch })
    else if (fact.kind === 'report') this.event({ jobId, ...fact.report })
    else if (fact.kind === 'dead-letter') this.deadLetter(jobId, fact.run.runNo)
  }

  execution({ jobId, runNo, attempt, dueAt }: Pick<Execution, 'jobId' | 'runNo' | 'attempt' | 'dueAt'>): void {
    const run = this.#runOf(jobId, runNo)
    if (run === undefined || attempt !== 1) return
    if (!this.#markOnce(run, isDispatched)) {
      this.#duplicate++
      return
    }
    this.#dueAt[run] = dueAt
    this.#counts.dispatched++
    this.#look()
  }

  event({
    jobId,
    runNo,
    attempt,
    type,
    startedAt,
  }: Pick<ExecutionEvent, 'jobId' | 'runNo' | 'attempt' | 'type' | 'startedAt'>): void {
    const run = this.#runOf(jobId, runNo)
    if (run === undefined) return
    if (type === 'FAILED') this.#failedAttempts++
    if (startedAt !== null) this.#started(run, attempt, startedAt)
    if (type === 'SUCCEEDED' && this.#markOnce(run, isSucceeded)) this.#counts.succeeded++
    this.#look()
  }

  /** A worker may report a start more than once; another start time is another start. */
  #started(run: number, attempt: number, startedAt: number): void {
    if (this.#startedAt[run] === 0) {
      this.#startedAt[run] = startedAt
      if (attempt === 1) this.#markOnce(run, isFirstStarted)
      this.#counts.started++
    } else if (attempt === 1 && ((this.#marks[run] ?? 0) & isFirstStarted) !== 0 && this.#startedAt[run] !== startedAt) {
      this.#duplicate++
    }
  }

  deadLetter(jobId: string, runNo: number): void {
    const run = this.#runOf(jobId, runNo)
    if (run !== undefined && this.#markOnce(run, isDead)) this.#counts.dead++
    this.#look()
  }

  result(): Result {
    const late: number[] = []
    let lost = 0
    for (let run = 0; run < this.#marks.length; run++) {
      if (this.#sent[Math.floor(run / this.#load.runsPerJob)] === 0) continue
      const marks = this.#marks[run] ?? 0
      const startedAt = this.#startedAt[run] ?? 0
      const ended = (marks & (isSucceeded | isDead)) !== 0
      if ((marks & isDispatched) === 0 || startedAt === 0 || !ended) lost++
      if ((marks & isDispatched) !== 0 && startedAt > 0) late.push(Math.max(0, startedAt - (this.#dueAt[run] ?? 0)))
    }
    const sorted = Float64Array.from(late).sort()
    const share = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
    const lateness = sorted.length === 0 ? undefined : { p50: share(0.5), p99: share(0.99), max: sorted.at(-1) ?? 0 }
    return { ...this.#counts, lost, duplicate: this.#duplicate, failedAttempts: this.#failedAttempts, lateness }
  }

  /** False if the run already had the mark. */
  #markOnce(run: number, mark: number): boolean {
    const marks = this.#marks[run] ?? 0
    if ((marks & mark) !== 0) return false
    this.#marks[run] = marks | mark
    return true
  }

  #runOf(jobId: string, runNo: number): number | undefined {
    const job = this.#load.indexOf(jobId)
    if (job === undefined) return undefined
    if (runNo <= this.#load.runsPerJob) return job * this.#load.runsPerJob + runNo - 1
    this.#duplicate++
    return undefined
  }

  #look(): void {
    const { dispatched, started, succeeded, dead, expected } = this.#counts
    if (this.#closed && Math.min(dispatched, started, succeeded + dead) >= expected) this.#woken?.()
  }
}
