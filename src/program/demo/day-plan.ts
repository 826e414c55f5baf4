/**
 * The plan of the day: periodic CI jobs of the Kubernetes project (the input has one JSON object a line), and their occurrences
 * in a compressed day. It is pure: the same jobs give the same plan, so the expected outcome is known before any job runs.
 */
import type { JobDefinition } from '../../../schemas/index.ts'
import { definitionFromJson } from '../../../streams/definitions/index.ts'
import { occurrences } from '../../../streams/schedules/index.ts'
import { hashFraction } from '../../../streams/text/index.ts'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import { type SimulatedOutcome, simulatedOutcomeOf } from './ci-job.ts'

export const dayMs = 86_400_000
/** A Monday, so that the jobs of working days run too. */
export const dayStart = Date.UTC(2025, 5, 2)

export interface PeriodicJob {
  name: string
  /** The project that owns the job. */
  group: string
  /** Where the job builds. */
  cluster: string
  definition: JobDefinition
}

export interface Occurrence {
  /** `<name>@<nominal time>`: the id of its one-shot job. */
  id: string
  job: PeriodicJob
  /** Nominal time by the real schedule, epoch ms. */
  nominalAt: number
  /** The same distance from the start of the day in compressed time, ms. */
  delayMs: number
  fate: SimulatedOutcome
}

/** Every occurrence of one day, in the order of their times. */
export function planDay(jobs: readonly PeriodicJob[], compressedMs: number): Occurrence[] {
  return jobs
    .flatMap((job) =>
      [...occurrences(job.definition, definedAt(job), { from: dayStart, to: dayStart + dayMs })].map((nominalAt) => {
        const id = `${job.name}@${new Date(nominalAt).toISOString()}`
        const delayMs = Math.floor(((nominalAt - dayStart) * compressedMs) / dayMs)
        return { id, job, nominalAt, delayMs, fate: simulatedOutcomeOf(id) }
      }),
    )
    .sort((a, b) => a.nominalAt - b.nominalAt)
}

/** Intervals count from the time of the definition. The real jobs were defined at all times of the day, and so are these. */
function definedAt({ name, definition }: PeriodicJob): number {
  return dayStart - 1 - Math.floor(hashFraction(name) * (definition.schedule.everyMs ?? 0))
}

export interface Totals {
  occurrences: number
  succeeded: number
  /** Occurrences that need more than one attempt. */
  retried: number
  dead: number
}

/** The expected totals of the plan. */
export function totalsOf(plan: readonly Occurrence[]): Totals {
  const count = (which: (fate: SimulatedOutcome) => boolean): number => plan.filter(({ fate }) => which(fate)).length
  return {
    occurrences: plan.length,
    succeeded: count(({ dead }) => !dead),
    retried: count(({ attempts }) => attempts > 1),
    dead: count(({ dead }) => dead),
  }
}

/** Throws DuelogError `bad-definition` with the number of the first line that is wrong. */
export function periodicJobsOf(ndjson: string): PeriodicJob[] {
  return ndjson.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [periodicJobOf(line, index + 1)]))
}

function periodicJobOf(line: string, lineNo: number): PeriodicJob {
  const { name, group, cluster, schedule } = parsed(line, lineNo)
  // The target is not used: only the schedule gives the occurrences.
  const read = definitionFromJson({ id: name, schedule, target: { handler: 'ci' } }, { idRequired: true })
  if (!read.ok) throw wrong(lineNo, read.problems.map(({ message }) => message).join(' '))
  return { name: String(name), group: String(group), cluster: String(cluster), definition: read.definition }
}

function parsed(line: string, lineNo: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch (error) {
    throw wrong(lineNo, messageOf(error))
  }
  throw wrong(lineNo, 'it is not a JSON object')
}

function wrong(lineNo: number, reason: string): DuelogError {
  return new DuelogError('bad-definition', `Line ${lineNo} of the periodic jobs is wrong: ${reason}`)
}
