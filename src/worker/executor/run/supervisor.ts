/**
 * Supervises attempts while their handlers run: heartbeats renew their leases, timeouts end them, progress is reported.
 * Everything uses the steady clock: no step of the wall clock ends a handler or delays its heartbeats.
 */
import { type Clock, steadyClock } from '../../../ground/clock/index.ts'
import { namedError, runError } from '../handlers/index.ts'
import type { Attempt, Outcome, ReportSender } from '../report/index.ts'
import { TimerQueue } from './timer-queue.ts'

/** Running attempts are checked at multiples of this interval. Timeouts and heartbeats are late by at most this much. */
const checkIntervalMs = 20
/** Shortest interval of progress reports. */
const progressIntervalMs = 1_000
/** Reports per lease while an attempt runs: two may get lost before the lease expires. */
const beatsPerLease = 3

export class Supervisor {
  readonly #clock: Clock
  readonly #reportSender: ReportSender
  readonly #end: (attempt: Attempt, outcome: Outcome) => void
  readonly #checks: TimerQueue<Attempt>

  constructor(clock: Clock, reportSender: ReportSender, end: (attempt: Attempt, outcome: Outcome) => void) {
    this.#clock = steadyClock(clock)
    this.#reportSender = reportSender
    this.#end = end
    this.#checks = new TimerQueue(this.#clock, (attempt) => this.#check(attempt))
  }

  /** The handler runs from now on. */
  begin(attempt: Attempt): void {
    attempt.beganAt = attempt.beatAt = this.#clock.nowMs()
    this.#watch(attempt, this.#nextLook(attempt))
  }

  /** The handler has returned. */
  forget(attempt: Attempt): void {
    this.#checks.delete(attempt.wakeAt, attempt)
  }

  /** The first progress is reported at once. A report that is not sent yet has it anyway. */
  progressed(attempt: Attempt): void {
    if (!attempt.startedSent || attempt.queued) return
    const atMs = Math.max(this.#clock.nowMs(), attempt.toldAt + progressIntervalMs)
    if (atMs < attempt.wakeAt) this.#watch(attempt, atMs)
  }

  clear(): void {
    this.#checks.clear()
  }

  #nextLook(attempt: Attempt): number {
    const timeoutAt = attempt.beganAt + attempt.execution.attemptTimeoutMs
    return Math.min(timeoutAt, attempt.beatAt + attempt.execution.leaseMs / beatsPerLease)
  }

  #watch(attempt: Attempt, atMs: number): void {
    this.#checks.delete(attempt.wakeAt, attempt)
    attempt.wakeAt = Math.ceil(atMs / checkIntervalMs) * checkIntervalMs
    this.#checks.add(attempt.wakeAt, attempt)
  }

  #check(attempt: Attempt): void {
    if (attempt.outcome !== undefined) return
    const nowMs = this.#clock.nowMs()
    const { attemptTimeoutMs } = attempt.execution
    if (nowMs >= attempt.beganAt + attemptTimeoutMs) {
      const message = `the handler had not returned ${attemptTimeoutMs} ms after its start`
      this.#end(attempt, { type: 'FAILED', error: runError('AttemptTimeout', message, true) })
      attempt.abort(namedError('AttemptTimeout', message))
      return
    }
    attempt.beatAt = nowMs
    if (attempt.progress !== null || attempt.message !== null) attempt.toldAt = nowMs
    this.#reportSender.push(attempt)
    this.#watch(attempt, this.#nextLook(attempt))
  }
}
