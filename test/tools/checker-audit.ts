/** The findings of the checker: a pure comparison of expected occurrences with the Executions and events it has read. */
import type { Execution, ExecutionEvent } from '../../schemas/generated.ts'

/** A nominal time of a job at which exactly one run must begin. */
export interface Occurrence {
  jobId: string
  scheduledFor: number
  /**
   * The occurrence may be missing: it is the first of a recurring job whose definition may have been appended just before or
   * after it.
   */
  optional?: boolean
}

export interface SeenExecution extends Execution {
  topic: string
  partition: number
  offset: number
  /** The clock of the producer when it wrote the record, epoch ms. */
  appendedAt: number
  /** Whether it came through an ahead topic. */
  ahead: boolean
}

export interface SeenEvent extends ExecutionEvent {
  partition: number
  offset: number
}

/** How long before its due time a run may be dispatched. */
export interface Lead {
  leadMs: number
  leadMsMax: number
}

/** Each list has one line for each violation; `counts` is for messages only. */
export interface Findings {
  /** An expected occurrence without a first attempt. */
  lost: string[]
  /** One attempt dispatched twice, or two runs for one nominal time. */
  duplicate: string[]
  /** Dispatched earlier than the lead allows, or started before it was due. */
  early: string[]
  /** Run numbers of a job that are not 1, 2, 3, … */
  gaps: string[]
  /** Dispatched by the schedule for a time that the test does not expect. */
  unexpected: string[]
}

export const clean: Findings = { lost: [], duplicate: [], early: [], gaps: [], unexpected: [] }

export const occurrenceId = ({ jobId, scheduledFor }: Occurrence): string => `${jobId}@${scheduledFor}`

const usualLead: Lead = { leadMs: 100, leadMsMax: 120_000 }

export function audit(
  expected: readonly Occurrence[],
  executions: readonly SeenExecution[],
  events: readonly SeenEvent[],
  lead: Lead = usualLead,
): Findings {
  const findings: Findings = { lost: [], duplicate: [], early: [], gaps: [], unexpected: [] }
  const wanted = new Set(expected.map(occurrenceId))
  const first = new Map<string, SeenExecution>()
  const attempts = new Map<string, SeenExecution>()
  const runs = new Map<string, Set<number>>()
  for (const seen of executions) {
    const attempt = `${seen.jobId}/${seen.runNo}#${seen.attempt}`
    const before = attempts.get(attempt)
    if (before !== undefined) findings.duplicate.push(`${attempt} at ${placeOf(before)} and at ${placeOf(seen)}`)
    attempts.set(attempt, seen)
    earliness(seen, lead, findings.early)
    const numbers = runs.get(seen.jobId) ?? new Set()
    runs.set(seen.jobId, numbers.add(seen.runNo))
    if (seen.attempt !== 1 || seen.trigger !== 'SCHEDULE') continue
    const id = occurrenceId(seen)
    const rival = first.get(id)
    if (rival !== undefined && rival.runNo !== seen.runNo)
      findings.duplicate.push(`${id} is run ${rival.runNo} at ${placeOf(rival)} and run ${seen.runNo} at ${placeOf(seen)}`)
    first.set(id, seen)
    if (!wanted.has(id)) findings.unexpected.push(`${id} at ${placeOf(seen)}`)
  }
  for (const occurrence of expected) {
    const id = occurrenceId(occurrence)
    if (!occurrence.optional && !first.has(id)) findings.lost.push(id)
  }
  for (const [jobId, numbers] of runs) {
    for (let runNo = 1; runNo <= numbers.size; runNo++) {
      if (numbers.has(runNo)) continue
      findings.gaps.push(`${jobId} has ${numbers.size} runs and no ${runNo}`)
      break
    }
  }
  for (const { jobId, runNo, attempt, startedAt } of events) {
    const dueAt = attempts.get(`${jobId}/${runNo}#${attempt}`)?.dueAt
    if (startedAt !== null && dueAt !== undefined && startedAt < dueAt)
      findings.early.push(`${jobId}/${runNo}#${attempt} started ${dueAt - startedAt} ms before it was due`)
  }
  return findings
}

function earliness(seen: SeenExecution, { leadMs, leadMsMax }: Lead, early: string[]): void {
  const allowedMs = seen.ahead ? leadMsMax : leadMs
  const aheadMs = seen.dueAt - Math.min(seen.dispatchedAt, seen.appendedAt)
  if (aheadMs > allowedMs) early.push(`${seen.jobId}/${seen.runNo} at ${placeOf(seen)} was dispatched ${aheadMs} ms ahead`)
  if (seen.attempt === 1 && seen.dueAt < seen.scheduledFor)
    early.push(`${seen.jobId}/${seen.runNo} at ${placeOf(seen)} is due before its nominal time`)
}

const placeOf = ({ topic, partition, offset }: SeenExecution): string => `${topic}/${partition}@${offset}`
