/** Jobs, runs and partitions as answers show them: times in ISO 8601, results as JSON. */
import type { Execution, FinishedRun } from '../../../schemas/index.ts'
import { definitionToJson } from '../../../streams/definitions/index.ts'
import { hiddenHash } from '../../../streams/hashing/index.ts'
import { isoTime } from '../../../streams/text/index.ts'
import {
  type ActiveRunView,
  activeRunToJson,
  finishedRunToJson,
  type JobView,
  jobToFields,
  runIdOf,
  type WhyView,
} from '../../ports/index.ts'
import type { Role } from '../guards/index.ts'
import { hiddenTexts, redactedLine, redactedRun, shownTo } from './redact.ts'

type Json = Record<string, unknown>

/** How runs of a job are shown to the caller: whole, or redacted (redact.ts). `definition` is JSON; null if there is none. */
export function runsFor(role: Role | null, definition: Json | null): <Run extends Json>(run: Run) => Run {
  if (role !== 'viewer') return (run) => run
  const hidden = definition === null ? undefined : hiddenTexts(definition)
  return (run) => redactedRun(run, hidden)
}

type ShownJob = Pick<JobView, 'definition' | 'offset'>
export interface ShownRuns {
  active(run: ActiveRunView): Json
  finished(run: FinishedRun): Json
  /** A line of a run; of a run that is unknown, nobody knows what is hidden in it. */
  line<Line extends LineJson>(run: ActiveRunView | FinishedRun | undefined, line: Line): Line
}
type LineJson = { text: string; fields: Json | null; shortened: boolean }

/** The runs of a job as the caller may see them; with `stacks` also the stacks of their last errors. If a run was made with another definition, the values to hide are unknown. */
export function runsOf(role: Role | null, id: string, job: ShownJob | undefined, stacks = false): ShownRuns {
  const definition = job?.definition
  const ofThis = runsFor(role, role !== 'viewer' || definition === undefined ? null : definitionToJson(definition))
  const ofOthers = runsFor(role, null)
  const hash = role !== 'viewer' || definition === undefined ? undefined : hiddenHash(definition)
  const isKnown = (run: FinishedRun): boolean => run.hiddenHash === 0 || run.hiddenHash === hash
  // A redriven run names the definition in force, but uses the input of the dead run.
  const isOfThis = (run: ActiveRunView): boolean => run.specOffset === job?.offset && run.trigger !== 'REDRIVE'
  const hidden = role !== 'viewer' || definition === undefined ? undefined : hiddenTexts(definitionToJson(definition))
  // The target is that of the definition in force, so it is told only of its runs.
  const { handler = null, pool = null } = definition?.target ?? {}
  const targetOf = (specOffset: number | null) => (specOffset === job?.offset && handler !== null ? { handler, pool } : {})
  const isShown = (run: ActiveRunView | FinishedRun): boolean => ('finishedAt' in run ? isKnown(run) : isOfThis(run))
  return {
    line: (run, line) => (role === 'viewer' ? redactedLine(line, run !== undefined && isShown(run) ? hidden : undefined) : line),
    active: (run) => (isOfThis(run) ? ofThis : ofOthers)({ ...activeRunToJson(id, run, stacks), ...targetOf(run.specOffset) }),
    finished: (run) => (isKnown(run) ? ofThis : ofOthers)({ ...finishedRunToJson(id, run, stacks), ...targetOf(run.specOffset) }),
  }
}

/**
 * `role`: of the caller; null without authentication. A viewer sees no credentials.
 */
export function jobToJson(job: JobView, role: Role | null, nowMs: number): Json {
  const definition = job.definition === undefined ? null : definitionToJson(job.definition)
  const shown = runsOf(role, job.id, job)
  return {
    ...jobToFields(job, nowMs),
    active: job.active.map(shown.active),
    lastRun: job.lastRun === null ? null : shown.finished(job.lastRun),
    definition: definition === null ? null : shownTo(role, definition),
  }
}

export function whyToJson(id: string, { status, reasons }: WhyView): Json {
  return { id, status, why: reasons.map(({ at, ...reason }) => ({ ...reason, at: at === null ? null : isoTime(at) })) }
}

/** A dead run of which only the input is kept: its end and errors are only in executions.dlq. */
export function deadRunToJson({ jobId, runNo, trigger, scheduledFor, attempt }: Execution): Json {
  return {
    runId: runIdOf(jobId, runNo),
    jobId,
    runNo,
    status: 'DEAD',
    trigger,
    commandId: null,
    scheduledFor: isoTime(scheduledFor),
    ...{ attempt, attempts: attempt },
    startedAt: null,
    finishedAt: null,
    worker: null,
    result: null,
    errors: [],
  }
}
