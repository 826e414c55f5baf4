/** A job as queries show it. */
import type { ActiveRun, JobState } from '../../../schemas/index.ts'
import { followsZone } from '../../../streams/schedules/index.ts'
import { type Job, pristineState } from '../../../streams/state/index.ts'
import type { ActiveRunView, JobView } from '../../ports/index.ts'

const placeOf = ({ anchorAt, decidedFor, latestFiredFor }: JobState): JobView['place'] => ({
  anchorAt,
  decidedFor,
  latestFiredFor,
})

/** Undefined: it has no definition. */
export function viewOfJob(
  job: Job,
  partition: number,
  withHeartbeats: (active: readonly ActiveRun[]) => ActiveRunView[],
): JobView | undefined {
  const { definition } = job
  if (definition === undefined) return undefined
  const state = job.state ?? pristineState(job)
  return {
    id: job.id,
    partition,
    offset: definition.offset,
    definition: definition.spec,
    status: state.status,
    nextFireAt: state.nextFireAt,
    nextDueAt: state.nextDueAt,
    ...(definition.spec !== undefined && followsZone(definition.spec) && { place: placeOf(state) }),
    runNo: state.runNo,
    scheduledRuns: state.scheduledRuns,
    succeeded: state.succeeded,
    failed: state.failed,
    skipped: state.skipped,
    cancelled: state.cancelled,
    reason: state.reason,
    active: withHeartbeats(state.active),
    lastRun: state.lastRun,
    deadRuns: state.deadRuns,
    deadRunsDropped: state.deadRunsDropped,
    anchorAt: state.anchorAt,
    backfill: state.backfill,
    followUpsWaiting: state.followUps?.count ?? 0,
  }
}
