/** The text about a change that its owner had not applied within the wait time, with the owner's reason if it has one. */
import { appliedWaitMs } from '../schemas/index.ts'
import type { OwnerDirectory } from './owner-directory.ts'

/** The body of such a 202. */
export interface WaitTimeout {
  code: 'wait-timeout'
  detail: string
}

/**
 * `what`: the subject of the sentence. It asks the owner only after the wait, and never rejects: the change is durable in any
 * case.
 */
export async function waitTimeout(
  owners: Pick<OwnerDirectory, 'problem'>,
  partitions: Iterable<number>,
  what = 'The change is durable in the log, but its owner',
): Promise<WaitTimeout> {
  const problems = await Promise.all([...partitions].map((partition) => owners.problem(partition).catch(() => undefined)))
  const known = [...new Set(problems)].find((problem) => problem !== undefined)
  const why = known === undefined ? '. It will be applied later.' : `. ${known} After that it will be applied.`
  return { code: 'wait-timeout', detail: `${what} had not applied it within ${appliedWaitMs / 1_000} s${why}` }
}
