/**
 * Gives back the runs that this worker has taken and may not start, because its clock is not trusted or it is paused. Running handlers
 * continue here.
 */
import type { AbsenceReason, Clock } from '../../clock/index.ts'
import { withTimeout } from '../../concurrency/index.ts'
import type { Logger } from '../../logging/index.ts'
import type { ExecutionConsumer, OffsetCommitter, PinnedRuns } from '../consume/index.ts'
import type { ReportSender } from '../report/index.ts'
import type { Runner } from './runner.ts'
import type { UntrackedRuns } from './untracked-runs.ts'

/** Time limit for the last reports and offsets to reach the broker, before others get the partitions. */
export const lastReportsMsMax = 5_000

export interface HandBackOptions {
  consumer: ExecutionConsumer
  pinned: PinnedRuns
  runner: Runner
  untracked: UntrackedRuns
  reportSender: ReportSender
  committer: OffsetCommitter
  clock: Clock
  logger: Logger
  /** Time limit for handlers of untracked runs: the next reader would run them again. */
  drainMs: number
  why: AbsenceReason
}

/** Leaves the group. It never rejects. */
export async function handBack(options: HandBackOptions): Promise<void> {
  const { consumer, pinned, runner, untracked, reportSender, committer, clock, logger, drainMs, why } = options
  const left = 'runs that were not started are left to other workers of the pool.'
  if (why === 'clock') logger.error({ event: 'worker-left-for-clock' }, `The wall clock has not been trusted for long; ${left}`)
  else logger.info({ event: 'worker-left-for-pause' }, `This worker is paused; ${left}`)
  consumer.goAway()
  // No commit passes a held entry: entries that were started after it would run again elsewhere. For untracked runs that cannot
  // be avoided.
  const inTheWay = [...consumer.lanes].flatMap((lane) => lane.heldBeforeStarted())
  for (const entry of [...pinned.heldEntries(), ...inTheWay]) {
    if (entry.tracked && entry.execution !== undefined) runner.release(entry, entry.execution)
  }
  // If the clock is trusted again before we have left, no entry may start that others are about to get.
  for (const lane of consumer.lanes) lane.dropHeld()
  await withTimeout(clock, drainMs, untracked.settled())
  await withTimeout(clock, lastReportsMsMax, reportSender.flush())
  await withTimeout(clock, lastReportsMsMax, committer.commitNow())
  await consumer
    .leave()
    .catch((error: unknown) =>
      logger.warn({ event: 'group-not-left', err: error }, 'The group could not be left; it waits until the session ends.'),
    )
}
