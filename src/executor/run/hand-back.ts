/**
 * What happens to runs that this worker has taken and may not start: its clock is not trusted, it is paused, it stops, or their
 * partition goes to another worker. Running handlers continue here.
 *
 * The next reader of a partition begins at the committed offset. So everything that has started must be before it, and nothing that
 * has not started:
 *
 *   ✓ done   ► started   · held            ✓ ✓ ► · ► · ·
 *                                                │   └─┴─ dropped: the next reader reads them
 *                                                └─ in the way: given back to its owner, which sends it again
 */
import type { AbsenceReason, Clock } from '../../clock/index.ts'
import { withTimeout } from '../../concurrency/index.ts'
import type { Logger } from '../../logging/index.ts'
import type { Entry, ExecutionConsumer, Lane, OffsetCommitter, PinnedRuns } from '../consume/index.ts'
import type { ReportSender } from '../report/index.ts'
import type { Runner } from './runner.ts'
import type { UntrackedRuns } from './untracked-runs.ts'

/** Time limit for the last reports and offsets to reach the broker, before others get the partitions. */
export const lastReportsMsMax = 5_000
/** If that was needed for what has started, what has ended in time is still committed: time limit for this. */
const lastCommitMsMax = 500

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

/**
 * Gives back the held entries that no commit could pass, and those that were sent to this worker and are not pinned to its name. (Its owner would
 * send what is pinned to the name here again, until this worker has left its group.) Returns those that are not tracked: nothing takes them back,
 * and the next reader of their partition would run what started after them again.
 */
export function clearTheWay(lanes: Iterable<Lane>, runner: Runner, pinned?: PinnedRuns): Set<Entry> {
  const inTheWay = [...lanes].flatMap((lane) => lane.heldBeforeStarted())
  const routed = (pinned?.heldEntries() ?? []).filter(({ execution }) => execution?.pinTo === null)
  for (const entry of [...routed, ...inTheWay]) {
    if (entry.tracked && entry.execution !== undefined) runner.release(entry, entry.execution)
  }
  return new Set(inTheWay.filter(({ tracked }) => !tracked))
}

/**
 * These lanes go to other workers as soon as it resolves, after 5.5 s at the latest. Until then it waits for what has started in them,
 * and for untracked runs in the way. What is not committed then may run twice, as after a crash. It never rejects.
 */
export async function handOver(
  lanes: readonly Lane[],
  { runner, committer, clock }: Pick<HandBackOptions, 'runner' | 'committer' | 'clock'>,
): Promise<void> {
  const beganMs = clock.steadyMs()
  const toRun = clearTheWay(lanes, runner)
  for (const lane of lanes) {
    lane.dropHeld(toRun)
    committer.touch(lane)
  }
  await withTimeout(clock, lastReportsMsMax, Promise.all(lanes.map((lane) => lane.settled())))
  await committer.commitWithin(Math.max(lastReportsMsMax - (clock.steadyMs() - beganMs), lastCommitMsMax))
}

/** Leaves the group. It never rejects. */
export async function handBack(options: HandBackOptions): Promise<void> {
  const { consumer, pinned, runner, untracked, reportSender, committer, clock, logger, drainMs, why } = options
  const left = 'runs that were not started are left to other workers of the pool.'
  if (why === 'clock') logger.error({ event: 'worker-left-for-clock' }, `The wall clock has not been trusted for long; ${left}`)
  else logger.info({ event: 'worker-left-for-pause' }, `This worker is paused; ${left}`)
  consumer.goAway()
  const inTheWay = clearTheWay(consumer.lanes, runner, pinned)
  // A worker that is paused starts these, as one that stops does. Without a trusted clock nothing starts.
  const toRun = why === 'told' ? inTheWay : new Set<Entry>()
  for (const entry of toRun) untracked.opened(entry)
  // If the clock is trusted again before we have left, no entry may start that others are about to get.
  for (const lane of consumer.lanes) lane.dropHeld(toRun)
  await withTimeout(clock, drainMs, untracked.settled())
  await withTimeout(clock, lastReportsMsMax, reportSender.flush())
  await committer.commitWithin(lastReportsMsMax)
  await consumer
    .leave()
    .catch((error: unknown) =>
      logger.warn({ event: 'group-not-left', err: error }, 'The group could not be left; it waits until the session ends.'),
    )
}
