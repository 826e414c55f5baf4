/**
 * The embedded registry runs while it is used. Duelog knows the ids of its own schemas, so hours pass in which nobody asks, and a Java process
 * that waits takes 145 MB (ADR 0148).
 *
 *   asleep ──acquire──► starting ──answers──► up ──nobody for idleMs──► ending ──► asleep
 *      ▲                   │ fails: told for againMs  │ ends by itself
 *      └───────────────────┴──────────────────────────┘
 */
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import type { GuardedProcess } from './guarded-process.ts'
import type { EmbeddedOptions } from './options.ts'
import type { Place } from './registry.ts'

export interface OnDemandOptions extends Pick<EmbeddedOptions, 'dataDir' | 'logger'> {
  /** Starts the process, tells it to `onStart` as soon as there is one, and resolves when it answers. */
  start(onStart: (process: GuardedProcess) => void): Promise<Place>
  /** It ends when nobody has used it for this long, ms. Absent: it stays. */
  idleMs?: number | undefined
  /** After a failed start, the same failure is told for this long before another start, ms. Default 10,000. */
  againMs?: number
}

export class OnDemandRegistry {
  readonly #options: OnDemandOptions
  /** Of the present run, from its start on. */
  #place: Promise<Place> | undefined
  #process: GuardedProcess | undefined
  /** The end of the run before. Two would use one storage. */
  #ended: Promise<void> = Promise.resolve()
  #users = 0
  #idleTimer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: OnDemandOptions) {
    this.#options = options
  }

  /**
   * Where it listens, as soon as it answers there. It does not end before this user has called `release`, which it must also do
   * when this rejects: with DuelogError `embedded-failed` in one sentence.
   */
  acquire(): Promise<Place> {
    this.#users++
    clearTimeout(this.#idleTimer)
    this.#place ??= this.#begin()
    return this.#place
  }

  release(): void {
    this.#users--
    const { idleMs } = this.#options
    if (this.#users > 0 || idleMs === undefined || this.#isStopped) return
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => this.#sleep(), idleMs).unref()
  }

  /** As a use that ends when it answers. Rejects as `acquire` does. */
  async start(): Promise<void> {
    await this.acquire().finally(() => this.release())
  }

  /** Ends it for good. Resolves when its process is gone. Safe to call twice. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#idleTimer)
    await this.#process?.stop()
    // It may be about to start, and then ends at once.
    await this.#place?.catch(() => {})
    await this.#ended
  }

  #begin(): Promise<Place> {
    const { againMs = 10_000 } = this.#options
    const place = this.#run()
    place.catch((error) => {
      this.#failed(`The embedded registry could not be started: ${messageOf(error)}`)
      setTimeout(() => this.#forget(place), againMs).unref()
    })
    return place
  }

  async #run(): Promise<Place> {
    await this.#ended
    if (this.#isStopped) throw new DuelogError('embedded-failed', 'The embedded registry was stopped before it started.')
    const { start, dataDir, logger } = this.#options
    let process: GuardedProcess | undefined
    try {
      const place = await start((started) => {
        process = started
        this.#process = started
        if (this.#isStopped) void started.stop()
      })
      void process?.exited.then(() => this.#exited(process))
      logger.info({ event: 'embedded-registry-up', dataDir }, 'The embedded registry is up.')
      return place
    } catch (error) {
      await process?.stop()
      throw error
    }
  }

  /** What it has acknowledged is on disk, so that the next user may start it again. */
  #exited(process: GuardedProcess | undefined): void {
    if (process === undefined || process.stopping) return
    this.#place = undefined
    // Where only its guard was killed, the program is still there and has the storage.
    this.#ended = process.stop()
    this.#failed(process.failure('ended by itself').message)
  }

  #failed(sentence: string): void {
    const { logger, dataDir } = this.#options
    if (!this.#isStopped) logger.warn({ event: 'embedded-registry-failed', dataDir }, sentence)
  }

  #sleep(): void {
    const { logger, dataDir } = this.#options
    const place = this.#place
    if (place === undefined) return
    this.#place = undefined
    this.#ended = place.then(
      async () => {
        await this.#process?.stop()
        logger.info({ event: 'embedded-registry-asleep', dataDir }, 'The embedded registry has ended until it is asked again.')
      },
      () => {},
    )
  }

  #forget(place: Promise<Place>): void {
    if (this.#place === place) this.#place = undefined
  }
}
