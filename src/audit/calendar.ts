/** What should have fired by the calendar of each definition, against what did. */
import type { ActiveRun, JobDefinition } from '../../schemas/generated.ts'
import { firstFire, nextFire } from '../../streams/schedules/next-fire.ts'
import type { JobAccount, RunAccount } from './books.ts'
import type { Finding, Scope } from './finding.ts'

/** Nominal times of one job that are looked at; of a job with more the first ones are. */
export const TIMES_MAX = 100_000
/** Owners count the occurrences of one skip up to here: beyond, their count says nothing. */
const SKIPS_COUNTED_MAX = 1_000

/** A job that waits for a time which has passed. */
export function overdueIn(jobId: string, { definition, state }: JobAccount, { from, to, now, graceMs }: Scope): Finding[] {
  if (definition === undefined || (state !== undefined && (state.status !== 'ACTIVE' || state.waiting))) return []
  const { spec, appendedAt } = definition
  const undecided = state === undefined && !spec.paused ? firstFire(spec, appendedAt) : null
  const dueAt = state === undefined ? undecided : (state.nextDueAt ?? state.nextFireAt)
  const jitterMs = state === undefined ? spec.jitterMs : 0
  if (dueAt === null || dueAt < from || dueAt >= to || dueAt + jitterMs + graceMs >= now) return []
  const late = Math.round((now - dueAt) / 1_000)
  return [
    {
      kind: 'overdue',
      what: jobId,
      detail: `it was due at ${new Date(dueAt).toISOString()}, ${late} s ago, and nothing was decided`,
    },
  ]
}

const isLimited = ({ concurrencyKey, rateLimit }: JobDefinition): boolean => concurrencyKey !== null || rateLimit !== null

/** Runs that a limit has not let go yet: nothing of them is in the log but the state of their job. */
export const waitingIn = ({ state }: JobAccount): ActiveRun[] => state?.active.filter(({ status }) => status === 'WAITING') ?? []

/** Those, and the runs that ended before a limit let them go. Undefined: compaction has taken some of these. */
function keptBack(job: JobAccount): Pick<RunAccount, 'trigger' | 'scheduledFor'>[] | undefined {
  const ended = [...job.finished.values()].filter(({ status }) => status !== 'SUCCEEDED')
  const { failed = 0, cancelled = 0 } = job.state ?? {}
  return failed + cancelled > ended.length ? undefined : [...waitingIn(job), ...ended]
}

/**
 * Occurrences between the definition and the next one that is due, without a run. Those that the owner counts as skipped, or queues, are
 * none. Only where the log can tell: the definition counts from its own append time, its runs are dispatched to workers of a pool, and
 * an end of a run moves no time.
 */
export function missedIn(jobId: string, job: JobAccount, runs: readonly RunAccount[], { from, to }: Scope): Finding[] {
  const { definition, state } = job
  if (definition === undefined || state?.status !== 'ACTIVE' || state.nextFireAt === null) return []
  const { spec, offset, appendedAt } = definition
  const tells = state.specOffset === offset && state.anchorAt === appendedAt && spec.schedule.from !== 'END'
  if (!tells || spec.target.topic !== null || spec.pinTo !== null || state.skipped >= SKIPS_COUNTED_MAX) return []
  const kept = isLimited(spec) ? keptBack(job) : []
  if (kept === undefined) return []
  const fired = new Set(
    [...runs, ...kept].filter(({ trigger }) => trigger === 'SCHEDULE').map(({ scheduledFor }) => scheduledFor),
  )
  const until = Math.min(to, state.nextFireAt)
  const missed: number[] = []
  let at = nextFire(spec, appendedAt, Math.max(from, appendedAt) - 1)
  for (let times = 0; at !== null && at < until && times < TIMES_MAX; times++) {
    if (!fired.has(at)) missed.push(at)
    at = nextFire(spec, appendedAt, at)
  }
  const excused = state.skipped + (state.queuedFor === null ? 0 : 1)
  if (missed.length <= excused) return []
  const first = new Date(missed[0] ?? 0).toISOString()
  const counted = excused === 0 ? '' : ` of which ${excused} were skipped by its policies,`
  return [{ kind: 'missed', what: jobId, detail: `${missed.length} occurrences have no run,${counted} the first ${first}` }]
}
