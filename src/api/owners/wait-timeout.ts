/** What is said of a change that its owner had not applied within the wait: where the owner knows why, it says so. */
import { appliedWaitMs } from '../schemas/index.ts'
import type { OwnerDirectory } from './owner-directory.ts'

/** Says in the body of a 202 what the status alone does not. */
export interface WaitTimeout {
  code: 'wait-timeout'
  detail: string
}

/** `what`: the subject of the sentence. It asks only after a wait in vain, and never rejects: the change is durable whatever the owner says. */
export async function waitTimeout(
  owners: Pick<OwnerDirectory, 'problem'>,
  partitions: Iterable<number>,
  what = 'The change is durable in the log, but its owner',
): Promise<WaitTimeout> {
  const problems = await Promise.all([...partitions].map((partition) => owners.problem(partition).catch(() => undefined)))
  const known = [...new Set(problems)].find((problem) => problem !== undefined)
  const why = known === undefined ? '; it will.' : `. ${known} Then it will be applied.`
  return { code: 'wait-timeout', detail: `${what} had not applied it within ${appliedWaitMs / 1_000} s${why}` }
}
