/** Says that this worker lacks a handler, once for each: every run of the job comes by here. */
import type { Logger } from '../../logging/index.ts'
import type { Attempt } from '../report/index.ts'

/** Names of missing handlers that are logged, each once. */
export const missingLoggedMax = 100

export class MissingHandlers {
  readonly #logger: Logger
  readonly #logged = new Set<string>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  log({ jobId, entry, execution: { handler } }: Attempt, message: string): void {
    if (this.#logged.has(handler) || this.#logged.size >= missingLoggedMax) return
    this.#logged.add(handler)
    this.#logger.warn(
      { event: 'handler-missing', jobId, handler },
      `A run ${entry.tracked ? 'is left to other workers' : 'fails'}: ${message}. Give this worker the handler, or a pool of its own, if it should run such jobs.`,
    )
  }
}
