/**
 * Check whether an owner can have written a record of an attempt. Every client with the right to write can write to the topics, and no
 * record may stop its reader. Ids become keys and reports, so they must be valid there.
 */
import type { Execution } from '../../schemas/index.ts'
import { validateJobId } from '../definitions/index.ts'

/** Longest value that is decoded. An owner writes at most a megabyte, but a compressed batch can hold more. */
export const valueBytesMax = 2 * 1024 * 1024
const wordCharsMax = 255

/** The problem of an execution, or undefined. */
export function executionProblem({ jobId, runNo, attempt, life, handler, pool, dueAt }: Execution): string | undefined {
  const problem = validateJobId(jobId)
  if (problem !== undefined) return problem.message
  if (!(runNo >= 1 && attempt >= 1)) return `Run ${runNo}, attempt ${attempt}: both begin with 1.`
  if (!Number.isSafeInteger(dueAt)) return `The time ${dueAt} is none.`
  if (Math.max(life.length, handler.length, pool.length) > wordCharsMax) return `A name has more than ${wordCharsMax} characters.`
  return undefined
}

/** Why the value of a record is not decoded, or undefined. */
export function sizeProblem(value: Buffer): string | undefined {
  return value.length <= valueBytesMax ? undefined : `The value has ${value.length} bytes; at most ${valueBytesMax}.`
}
