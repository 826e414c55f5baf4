/** Which workers of a pool can do a run, as the members of its group announce it, and what that means for runs that wait. */
import type { JobDefinition } from '../../../schemas/index.ts'
import type { Reason } from '../../../streams/jobs/index.ts'
import { httpHandlerName } from '../../../streams/runs/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../clock/index.ts'
import { withTimeout } from '../../concurrency/index.ts'
import { type ActiveRunView, type GroupMember, handlersOf, type JobView, type LogAdmin } from '../../ports/index.ts'

/** Runs of a job that get a sentence. */
const runsNamedMax = 3
/** The answer to `why` waits no longer than this for the brokers. */
const membersMsMax = 2_000

/** What a worker must have for the runs of a job. */
interface Need {
  pool: string
  handler: string
  tracked: boolean
}

/** Why these runs do not start, as far as the workers of their pool are the cause. */
export function serviceReasons(
  runs: readonly Pick<ActiveRunView, 'runNo'>[],
  { pool, handler, tracked }: Need,
  members: readonly Pick<GroupMember, 'instance' | 'userData'>[],
): Reason[] {
  const lacking = members.filter(({ userData }) => handlersOf(userData)?.includes(handler) === false)
  const reason = (code: string, text: (run: string) => string): Reason[] =>
    runs.slice(0, runsNamedMax).map(({ runNo }) => ({ code, text: text(`Run ${runNo}`), at: null }))
  if (members.length === 0) return reason('no-worker', (run) => `${run} waits: no worker serves the pool ${pool}.`)
  if (lacking.length === 0) return []
  if (lacking.length === members.length)
    return reason(
      'no-handler',
      (run) => `${run} waits: no worker of pool ${pool} has the handler ${handler}. It loses no attempt.`,
    )
  // Owners send other runs to a worker that has the handler.
  if (tracked) return []
  const example = lacking[0]?.instance ?? ''
  return reason(
    'handler-not-everywhere',
    (run) =>
      `${run} fails where it meets the wrong worker, because trackRuns is false: ${lacking.length} of ${members.length} workers of pool ${pool} lack the handler ${handler}, such as ${example}.`,
  )
}

export interface ServiceContext {
  admin: Pick<LogAdmin, 'groupMembers'>
  names: TopicNames
  clock: Clock
}

/** The reasons for the active runs of a job; none if the brokers do not answer in time. Runs of earlier definitions are left out. */
export async function serviceReasonsOf(job: JobView, { admin, names, clock }: ServiceContext): Promise<Reason[]> {
  const need = needOf(job.definition)
  const waiting = job.active.filter(
    (run) => run.specOffset === job.offset && (run.status === 'DISPATCHED' || run.waitsFor === 'HANDLER'),
  )
  if (need === undefined || waiting.length === 0) return []
  let members: GroupMember[] | undefined
  const asked = admin.groupMembers(names.group(`exec.${need.pool}`)).then((found) => {
    members = found
  })
  await withTimeout(clock, membersMsMax, asked)
  return members === undefined ? [] : serviceReasons(waiting, need, members)
}

function needOf(spec: JobDefinition | undefined): Need | undefined {
  if (spec === undefined || spec.target.topic !== null) return undefined
  const { pool, handler, http } = spec.target
  return { pool, handler: handler ?? (http === null ? '' : httpHandlerName), tracked: spec.trackRuns }
}
