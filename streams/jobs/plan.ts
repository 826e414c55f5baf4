/** Plan of a definition: what would change if its owner read it now. The decision core makes the decision, and the future times before and after are compared. */
import type { JobDefinition } from '../../schemas/index.ts'
import { definitionToJson } from '../definitions/index.ts'
import { nextFire } from '../schedules/index.ts'
import { emptyValue, type Job, pristineState } from '../state/index.ts'
import { writeJson } from '../text/index.ts'
import { step } from './step.ts'

/** From `from`, inclusive, to `to`, exclusive, epoch ms. At most `max` times of each side are compared. */
export interface PlanRange {
  from: number
  to: number
  max: number
}

export interface FireChanges {
  added: number[]
  removed: number[]
  /** A removed and an added time next to one another. */
  moved: { from: number; to: number }[]
  kept: number
  /** End of the range in which both sides are known. */
  until: number
}

export interface JobPlan {
  action: 'CREATE' | 'UPDATE' | 'UNCHANGED' | 'DROPPED'
  changed: string[]
  /** Why the definition would be dropped, or the job would be INVALID. */
  reason: string | null
  fires: FireChanges
}

/** Filter for the JSON of a definition that the caller may see. Redacted parts of both sides are not compared. */
export type Redact = (definition: Record<string, unknown>) => Record<string, unknown>

/** `job` is the present job; the bytes of its definition are not used. The definition must be valid. */
export function planJob(job: Job, next: JobDefinition, range: PlanRange, redact: Redact = (definition) => definition): JobPlan {
  const before = timesAhead(job, range)
  const spec = job.definition?.spec
  const changed = spec === undefined ? [] : changedFields(spec, next, redact)
  if (spec !== undefined && changed.length === 0) {
    return { action: 'UNCHANGED', changed, reason: null, fires: compareTimes(before, before, range) }
  }
  const offset = Math.max(job.definition?.offset ?? -1, job.state?.specOffset ?? -1, job.state?.droppedOffset ?? -1) + 1
  const definition = { offset, appendedAt: range.from, bytes: emptyValue, spec: next }
  const decision = step(job, { kind: 'definition', definition }, { ...undisturbed, now: range.from, seenAt: () => range.from })
  const { state } = decision.job
  if (decision.job.definition?.offset !== offset) {
    const reason = state?.decisions.at(-1)?.reason ?? null
    return { action: 'DROPPED', changed, reason, fires: compareTimes(before, before, range) }
  }
  const fires = compareTimes(before, timesAhead(decision.job, range), range)
  const action = job.definition === undefined ? 'CREATE' : 'UPDATE'
  return { action, changed, reason: state?.status === 'INVALID' ? state.reason : null, fires }
}
/** A plan is about times, so it assumes that topics and pools exist and that no limit is reached. */
const undisturbed = {
  leadMs: 0,
  aheadFrom: Number.POSITIVE_INFINITY,
  eventsReadUntil: Number.POSITIVE_INFINITY,
  topicProblem: () => undefined,
  poolProblem: () => undefined,
  limits: { slots: () => ({ held: 0, waiting: 0 }), starts: () => undefined },
}

/** Payloads differ if their bytes do, because white space also reaches handlers and topics. */
function changedFields(old: JobDefinition, next: JobDefinition, redact: Redact): string[] {
  const [left, right] = [redact(definitionToJson(old)), redact(definitionToJson(next))]
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...names].filter((name) => writeJson(left[name]) !== writeJson(right[name]))
}

interface Times {
  times: number[]
  /** All times before this one are included. */
  until: number
}

function timesAhead(job: Job, { from, to, max }: PlanRange): Times {
  const spec = job.definition?.spec
  const { status, nextFireAt, anchorAt, scheduledRuns } = job.state ?? pristineState(job)
  const times: number[] = []
  if (spec === undefined || status !== 'ACTIVE') return { times, until: to }
  let left = spec.maxRuns === null ? Number.POSITIVE_INFINITY : spec.maxRuns - scheduledRuns
  // Overdue occurrences are not future ones.
  let at = nextFireAt !== null && nextFireAt < from ? nextFire(spec, anchorAt, from - 1) : nextFireAt
  for (; at !== null && left > 0 && at < to && at <= (spec.expireAt ?? at); left--) {
    if (times.length === max) return { times, until: at }
    times.push(at)
    at = nextFire(spec, anchorAt, at)
  }
  return { times, until: to }
}

function compareTimes(before: Times, after: Times, { to }: PlanRange): FireChanges {
  const until = Math.min(before.until, after.until, to)
  const known = ({ times }: Times): number[] => times.filter((at) => at < until)
  const [old, young] = [known(before), known(after)]
  const [wasDue, isDue] = [new Set(old), new Set(young)]
  const changes = [
    ...old.filter((at) => !isDue.has(at)).map((at) => ({ at, added: false })),
    ...young.filter((at) => !wasDue.has(at)).map((at) => ({ at, added: true })),
  ].sort((left, right) => left.at - right.at)
  const result: FireChanges = { added: [], removed: [], moved: [], kept: old.filter((at) => isDue.has(at)).length, until }
  for (let index = 0; index < changes.length; index++) {
    const here = changes[index] as { at: number; added: boolean }
    const following = changes[index + 1]
    if (following !== undefined && following.added !== here.added) {
      result.moved.push(here.added ? { from: following.at, to: here.at } : { from: here.at, to: following.at })
      index++
    } else if (here.added) result.added.push(here.at)
    else result.removed.push(here.at)
  }
  return result
}
