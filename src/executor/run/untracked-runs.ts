/**
 * Runs of jobs with trackRuns false. Nothing is reported about them. Their offset is done when the handler has settled, whatever
 * the outcome, so a worker that crashes before loses none. A failure shows only in a metric and in the log.
 */
import { httpHandlerName } from '../../../streams/runs/index.ts'
import type { Clock } from '../../clock/index.ts'
import type { Logger } from '../../logging/index.ts'
import type { Metrics } from '../../metrics/index.ts'
import type { Entry } from '../consume/index.ts'
import { withoutAnswer } from '../handlers/index.ts'
import type { Attempt } from '../report/index.ts'

/** Failures that are logged individually in each second. Further ones are counted. */
export const failuresLoggedPerSecondMax = 20

export interface UntrackedRunsOptions {
  pool: string
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** The entry's offset may be committed. */
  onDone(entry: Entry): void
}

export class UntrackedRuns {
  readonly #options: UntrackedRunsOptions
  readonly #failures: { inc(): void }
  readonly #open = new Set<Entry>()
  #settled: (() => void)[] = []
  #second = 0
  #logged = 0
  #leftOut = 0

  constructor(options: UntrackedRunsOptions) {
    this.#options = options
    this.#failures = options.metrics.untrackedFailures.labels(options.pool)
  }

  /** Its handler is about to run here. */
  opened(entry: Entry): void {
    this.#open.add(entry)
  }

  /** An attempt has ended or has news. One that is given back is read again by the partition's next owner. */
  ended(attempt: Attempt): void {
    const { outcome, entry } = attempt
    if (outcome === undefined || outcome.type === 'RELEASED') return
    if (outcome.type === 'FAILED') this.#failed(attempt, outcome.error)
    this.#options.onDone(entry)
  }

  closed(entry: Entry): void {
    if (!this.#open.delete(entry) || this.#open.size > 0) return
    for (const resolve of this.#settled.splice(0)) resolve()
  }

  /** Resolves when all opened runs are done. */
  settled(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#settled.push(resolve))
  }

  #failed({ jobId, runNo, execution }: Attempt, { type, message }: { type: string; message: string }): void {
    const { clock, logger } = this.#options
    this.#failures.inc()
    const second = Math.floor(clock.nowMs() / 1_000)
    if (second !== this.#second) {
      if (this.#leftOut > 0)
        logger.warn(
          { event: 'untracked-failures-left-out', failures: this.#leftOut },
          'More runs that are not tracked failed than were logged.',
        )
      this.#second = second
      this.#logged = 0
      this.#leftOut = 0
    }
    if (this.#logged++ >= failuresLoggedPerSecondMax) {
      this.#leftOut++
      return
    }
    const { handler } = execution
    // What a server answers may repeat the headers that it was sent, and logs have more readers than definitions.
    const error = handler === httpHandlerName ? withoutAnswer(message) : message
    const place = { jobId, runNo, handler, errorType: type, error }
    logger.warn({ event: 'untracked-run-failed', ...place }, 'A run that is not tracked failed; it is not repeated.')
  }
}
