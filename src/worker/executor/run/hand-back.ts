/**
 * What happens to runs that this worker has taken and may not start: its clock is not trusted, it is paused, it stops, its pool is paused, or
 * their partition goes to another worker. Running handlers continue here.
 *
 * The next reader of a partition begins at the committed offset. So everything that has started must be before it, and nothing that
 * has not started:
 *
 *   ✓ done   ► started   · held            ✓ ✓ ► · ► · ·
 *                                                │   └─┴─ dropped: the next reader reads them
 *                                                └─ in the way: given back to its owner, which sends it again
 */
import type { AbsenceReason, Clock } from '../../../ground/clock/index.ts'
import { withTimeout } from '../../../ground/concurrency/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { Pauses } from '../../../ground/ports/index.ts'
import type { Entry, ExecutionConsumer, Lane, OffsetCommitter, PinnedRuns } from '../consume/index.ts'
import type { ReportSender } from '../report/index.ts'
import type { Runner } from './runner.ts'

/** Time limit for the last reports and offsets to reach the broker, before others get the partitions. */
export const lastReportsMsMax = 5_000
/** If that was needed for what has started, what has ended in time is still committed: time limit for this. */
const lastCommitMsMax = 500
/** How long a run that was taken while the pool is paused is held before it is given back. */
export const heldMs = 1_000

export interface HandBackOptions {
  consumer: ExecutionConsumer
  pinned: PinnedRuns
  runner: Runner
  reportSender: ReportSender
  committer: OffsetCommitter
  clock: Clock
  logger: Logger
}

export class HandBack {
  readonly #options: HandBackOptions
  #hasLeft = false

  constructor(options: HandBackOptions) {
    this.#options = options
  }

  /** Whether others do not count it as a worker of its name any more. */
  get hasLeft(): boolean {
    return this.#hasLeft
  }

  /** Gives back all that is held. */
  all(): void {
    const { consumer, pinned, runner } = this.#options
    runner.release([...pinned.heldEntries(), ...[...consumer.lanes].flatMap(({ entries }) => entries.held())])
  }

  /**
   * Gives back the held entries that no commit could pass, and those that were sent to this worker and are not pinned to its name. (Its owner
   * would send what is pinned to the name here again, until this worker has left its group.)
   */
  clearTheWay(): void {
    const { consumer, pinned } = this.#options
    this.#clear(
      consumer.lanes,
      pinned.heldEntries().filter(({ execution }) => execution?.pinTo === null),
    )
  }

  /**
   * These lanes go to other workers as soon as it resolves, after 5.5 s at the latest. Until then it waits for what has started in them.
   * Runs that are not committed then may run twice, as after a crash. It never rejects.
   */
  async handOver(lanes: readonly Lane[]): Promise<void> {
    const { committer, clock } = this.#options
    const beganMs = clock.steadyMs()
    this.#clear(lanes)
    for (const lane of lanes) {
      lane.dropHeld()
      committer.touch(lane)
    }
    await withTimeout(clock, lastReportsMsMax, Promise.all(lanes.map((lane) => lane.settled())))
    await committer.commitWithin(Math.max(lastReportsMsMax - (clock.steadyMs() - beganMs), lastCommitMsMax))
  }

  /** Leaves the group until it comes back. It never rejects. */
  async goAway(why: AbsenceReason): Promise<void> {
    const { consumer, logger } = this.#options
    const left = 'runs that were not started are left to other workers of the pool.'
    if (why === 'clock') logger.error({ event: 'worker-left-for-clock' }, `The wall clock has not been trusted for long; ${left}`)
    else logger.info({ event: 'worker-left-for-pause' }, `This worker is paused; ${left}`)
    consumer.goAway()
    this.clearTheWay()
    // If the clock is trusted again before we have left, no entry may start that others are about to get.
    for (const lane of consumer.lanes) lane.dropHeld()
    await this.leave()
  }

  /** Leaves the group when what has started is reported and committed, after 10 s at the latest. It never rejects. */
  async leave(): Promise<void> {
    const { consumer, pinned, runner, reportSender, committer, clock, logger } = this.#options
    await withTimeout(clock, lastReportsMsMax, reportSender.flush())
    await committer.commitWithin(lastReportsMsMax)
    await consumer
      .leave()
      .catch((error: unknown) =>
        logger.warn({ event: 'group-not-left', err: error }, 'The group could not be left; it waits until the session ends.'),
      )
    this.#hasLeft = true
    // From now on, other workers of its name take what is pinned to it. So this is given back here, and not before.
    runner.release(pinned.heldEntries())
  }

  async comeBack(): Promise<void> {
    this.#hasLeft = false
    await this.#options.consumer.comeBack()
  }

  #clear(lanes: Iterable<Lane>, routed: readonly Entry[] = []): void {
    const inTheWay = [...lanes].flatMap(({ entries }) => entries.heldBeforeStarted())
    this.#options.runner.release([...routed, ...inTheWay])
  }
}

export interface PoolPauseWatchOptions {
  /** Undefined: nothing is ever paused. */
  pauses: Pauses | undefined
  pool: string
  clock: Clock
  /** Any pool or worker was paused, drained or resumed. */
  onChanged(): void
  /** Gives back the runs that were not started. */
  giveBack(): void
}

/**
 * Whether the pool of a worker is paused. Then nothing starts, and what the worker has taken and not started goes back to the owners,
 * where it waits with its reason. A run that an owner sends in ignorance of the pause is given back after a second and not at once, so
 * that owner and worker cannot keep each other busy.
 */
export class PoolPauseWatch {
  readonly #options: PoolPauseWatchOptions
  #endChanges: (() => void) | undefined
  #giveBackTimer: (() => void) | undefined

  constructor(options: PoolPauseWatchOptions) {
    this.#options = options
  }

  get isPaused(): boolean {
    return this.#options.pauses?.ofPool(this.#options.pool)?.isDrained === false
  }

  start(): void {
    this.#endChanges = this.#options.pauses?.onChange(() => this.#changed())
    if (this.#options.pauses !== undefined) this.#changed()
  }

  /** A run was taken. */
  taken(): void {
    if (!this.isPaused || this.#giveBackTimer !== undefined) return
    const { clock, giveBack } = this.#options
    this.#giveBackTimer = clock.at(clock.nowMs() + heldMs, () => {
      this.#giveBackTimer = undefined
      if (this.isPaused) giveBack()
    })
  }

  stop(): void {
    this.#endChanges?.()
    this.#giveBackTimer?.()
  }

  #changed(): void {
    this.#options.onChanged()
    if (this.isPaused) this.#options.giveBack()
  }
}
