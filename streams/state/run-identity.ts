/**
 * What names a run for whoever has to know it again: the same for each of its attempts, and for no other run of any job, ever.
 *
 * Run numbers begin anew when a job is deleted and defined anew, so the identity names the life as well. A life that began before lives
 * had names goes on as it was: `jobId/runNo`. A job id may hold any printable character; what follows the last slash is digits in the old
 * form and digits, `@` and the life in the new, so no two runs share one.
 */
import type { Execution } from '../../schemas/index.ts'
import type { KnownDefinition } from './job.ts'

/** Names the life that begins with this definition. The append time tells apart what stood at one offset of topics that were made anew. */
export const lifeOf = (definition: Pick<KnownDefinition, 'offset' | 'appendedAt'> | undefined): string =>
  definition === undefined ? '' : `${definition.offset}-${Math.max(0, definition.appendedAt).toString(36)}`

/** The run's number and life: the identity without the job's id. */
export const runNameOf = ({ runNo, life }: Pick<Execution, 'runNo' | 'life'>): string =>
  life === '' ? String(runNo) : `${runNo}@${life}`

/** The identity of a run, for handlers and receivers: `jobId/runNo@life`. */
export const executionIdOf = (execution: Pick<Execution, 'jobId' | 'runNo' | 'life'>): string =>
  `${execution.jobId}/${runNameOf(execution)}`
