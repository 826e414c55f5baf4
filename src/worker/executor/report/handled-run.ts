/**
 * An attempt as its handler sees it. It is an object of its own: a handler may freeze it, or set what it likes, and the worker does not
 * depend on that.
 */
import type { Logger } from 'pino'
import type { HttpTarget } from '../../../../schemas/index.ts'
import { type RunCause, runCauseOf } from '../../../../streams/runs/index.ts'
import { executionIdOf } from '../../../../streams/state/index.ts'
import { type Progress, payloadOf, type Run } from '../handlers/index.ts'
import type { Attempt } from './attempt.ts'

export class HandledRun implements Run {
  readonly #attempt: Attempt
  #payload: { value: unknown } | undefined
  #logger: Logger | undefined

  constructor(attempt: Attempt) {
    this.#attempt = attempt
  }

  get executionId(): string {
    return executionIdOf(this.#attempt.execution)
  }
  get jobId(): string {
    return this.#attempt.jobId
  }
  get runNo(): number {
    return this.#attempt.runNo
  }
  get attempt(): number {
    return this.#attempt.attempt
  }
  get scheduledFor(): number {
    return this.#attempt.execution.scheduledFor
  }
  get dueAt(): number {
    return this.#attempt.dueAt
  }
  get contentType(): string | null {
    return this.#attempt.execution.contentType
  }
  get headers(): Record<string, Buffer> {
    return this.#attempt.execution.headers
  }
  get cause(): RunCause | null {
    const { cause } = this.#attempt.execution
    return cause === null ? null : runCauseOf(cause)
  }
  get http(): HttpTarget | null {
    return this.#attempt.execution.httpTarget
  }
  get payloadBytes(): Buffer | null {
    return this.#attempt.execution.payload
  }
  get payload(): unknown {
    this.#payload ??= { value: payloadOf(this.payloadBytes, this.contentType) }
    return this.#payload.value
  }
  get signal(): AbortSignal {
    return this.#attempt.signal
  }
  get logger(): Logger {
    const { host, attempt } = this.#attempt
    this.#logger ??= host.logger.child({ executionId: this.executionId, attempt, ...this.#attempt.span?.ids })
    return this.#logger
  }

  /** An arrow, so that a handler may destructure it: `({ heartbeat }) => …`. */
  get heartbeat(): (progress?: Progress) => void {
    return (progress) => this.#attempt.beat(progress)
  }

  /** An arrow, like heartbeat. */
  get log(): Run['log'] {
    return (level, text, fields) => this.#attempt.host.logged(this.#attempt, level, text, fields)
  }
}
