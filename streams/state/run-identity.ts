/**
 * Identity of a run: the same for each of its attempts, and different from every other run of any job.
 *
 * Run numbers start again at 1 when a job is deleted and defined again, so the identity includes the life of the job. A life that began in
 * a version without lives keeps the old form `jobId/runNo`. A job id may contain any printable character. After the last slash the old
 * form has digits, and the new form has digits, `@` and the life. So no two runs have the same identity.
 */
import type { Execution } from '../../schemas/index.ts'
import type { KnownDefinition } from './job.ts'

/** Name of the life that begins with this definition. The append time distinguishes equal offsets of a topic that was recreated. */
export const lifeOf = (definition: Pick<KnownDefinition, 'offset' | 'appendedAt'> | undefined): string =>
  definition === undefined ? '' : `${definition.offset}-${Math.max(0, definition.appendedAt).toString(36)}`

/** The run's number and life: the identity without the job's id. */
export const runNameOf = ({ runNo, life }: Pick<Execution, 'runNo' | 'life'>): string =>
  life === '' ? String(runNo) : `${runNo}@${life}`

/** The identity of a run, for handlers and receivers: `jobId/runNo@life`. */
export const executionIdOf = (execution: Pick<Execution, 'jobId' | 'runNo' | 'life'>): string =>
  `${execution.jobId}/${runNameOf(execution)}`
