/**
 * Whether a record of an attempt can be one that an owner wrote. The topics are open to every client that may write to them, and nothing
 * that such a record says may stop who reads it: ids become keys and reports, so they have to fit there.
 */
import type { Execution } from '../../schemas/index.ts'
import { validateJobId } from '../definitions/index.ts'

/** Longest value of a record that is looked at. What an owner writes has at most a megabyte; compressed, more fits a batch. */
export const valueBytesMax = 2 * 1024 * 1024
const wordCharsMax = 255

/** What is wrong with it, or undefined. */
export function executionProblem({ jobId, runNo, attempt, life, handler, pool, dueAt }: Execution): string | undefined {
  const problem = validateJobId(jobId)
  if (problem !== undefined) return problem.message
  if (!(runNo >= 1 && attempt >= 1)) return `Run ${runNo}, attempt ${attempt}: both begin with 1.`
  if (!Number.isSafeInteger(dueAt)) return `The time ${dueAt} is none.`
  if (Math.max(life.length, handler.length, pool.length) > wordCharsMax) return `A name has more than ${wordCharsMax} characters.`
  return undefined
}

/** Why the value of a record is not decoded at all, or undefined. */
export function sizeProblem(value: Buffer): string | undefined {
  return value.length <= valueBytesMax ? undefined : `The value has ${value.length} bytes; at most ${valueBytesMax}.`
}
