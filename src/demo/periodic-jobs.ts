/** The real input: periodic CI jobs of the Kubernetes project, one JSON object a line. */
import type { JobDefinition } from '../../schemas/index.ts'
import { definitionFromJson } from '../../streams/definitions/index.ts'
import { DuelogError, messageOf } from '../errors/index.ts'

export interface PeriodicJob {
  name: string
  /** The project that owns the job. */
  group: string
  /** Where the job builds. */
  cluster: string
  definition: JobDefinition
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
