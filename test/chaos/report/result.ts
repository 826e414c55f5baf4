/** The result of one fault. */
import type { CheckerVerdict } from '../checker/checker.ts'
import type { Fault } from '../faults/fault.ts'

export interface Result {
  fault: string
  what: string
  /**
   * `passed`: nothing lost, doubled or early. `failed`: something is, or the system did not recover. `not-run`: this machine
   * lacks something.
   */
  outcome: 'passed' | 'failed' | 'not-run'
  /** Why it failed or was not run. */
  why: string[]
  goal?: string
  /** Whether the time goal was reached. It is no part of the outcome. */
  reached?: boolean
  fires: number
  lost: number
  duplicate: number
  early: number
  longestMs: number
  gapMs: number
  /** How long Kafka itself accepted no write: the longest write of the canary. */
  kafkaGapMs: number
  /** Occurrences that were more than a second late. */
  lateCount: number
  /** From the beginning to the last late occurrence; 0: none. */
  lateForMs: number
  /** From the end of the cause to the last late occurrence; 0: none came after it. */
  afterMs: number
  /** How long the cause lasted. */
  causeMs: number
  startedAgain: number
  /** `pending`: the audit runs after the last fault. */
  audit: 'clean' | 'not clean' | 'pending'
}

export interface Measured {
  fault: Fault
  begunAt: number
  overAt: number
  verdict: CheckerVerdict
  kafkaGapMs: number
  /** Why it failed, apart from the findings of the checker. */
  troubles: readonly string[]
  /** The state at the limit, if it was not on time by then. */
  slow: string | undefined
  /** Undefined: the audit runs after the last fault. */
  audit: { clean: boolean; said: string } | undefined
  /** The number of findings before this fault began, by kind. */
  before: Partial<Record<string, number>>
}

export function resultOf({ fault, begunAt, overAt, verdict, kafkaGapMs, troubles, slow, audit, before }: Measured): Result {
  const why: string[] = [...troubles]
  const fresh = (kind: keyof CheckerVerdict['findings']): number =>
    Math.max(0, verdict.findings[kind].count - (before[kind] ?? 0))
  for (const [kind, { count, list }] of Object.entries(verdict.findings)) {
    const more = count - (before[kind] ?? 0)
    if (more > 0) why.push(`${more} ${kind}: ${list.slice(-3).join('; ')}`)
  }
  if (verdict.windowFires === 0) why.push('nothing fired')
  const lateForMs = verdict.lastLateAt === null ? 0 : Math.max(0, verdict.lastLateAt - begunAt)
  const afterMs = verdict.lastLateAt === null ? 0 : Math.max(0, verdict.lastLateAt - overAt)
  const { goal } = fault
  const reached =
    goal === undefined
      ? undefined
      : slow === undefined &&
        verdict.longestMs <= (goal.longestMs ?? Number.POSITIVE_INFINITY) &&
        afterMs <= (goal.afterMs ?? Number.POSITIVE_INFINITY)
  const outcome = why.length === 0 ? 'passed' : 'failed'
  if (slow !== undefined) why.push(slow)
  const result: Result = {
    fault: fault.name,
    what: fault.what,
    outcome,
    why,
    ...(goal === undefined ? {} : { goal: goal.words, reached }),
    fires: verdict.windowFires,
    lost: fresh('lost'),
    duplicate: fresh('duplicate'),
    early: fresh('early') + fresh('early-start'),
    longestMs: verdict.longestMs,
    gapMs: verdict.gapMs,
    kafkaGapMs,
    lateCount: verdict.lateCount,
    lateForMs,
    afterMs,
    causeMs: overAt - begunAt,
    startedAgain: verdict.startedAgain - (before.startedAgain ?? 0),
    audit: 'pending',
  }
  return audit === undefined ? result : withAudit(result, audit)
}

/** A result with the verdict of `duelog audit` about its time, or about the time of all faults. */
export function withAudit(result: Result, { clean, said }: { clean: boolean; said: string }): Result {
  if (result.outcome === 'not-run') return result
  if (clean) return { ...result, audit: 'clean' }
  return { ...result, audit: 'not clean', outcome: 'failed', why: [...result.why, `duelog audit: ${said}`] }
}

export function notRun(fault: Fault, why: string): Result {
  return {
    ...{ fault: fault.name, what: fault.what, outcome: 'not-run', why: [why] },
    ...{
      fires: 0,
      lost: 0,
      duplicate: 0,
      early: 0,
      longestMs: 0,
      gapMs: 0,
      kafkaGapMs: 0,
      lateCount: 0,
      lateForMs: 0,
      afterMs: 0,
      causeMs: 0,
    },
    ...{ startedAgain: 0, audit: 'not clean' },
  } as Result
}
