/**
 * Follow-ups of a run, and the two limits that end every chain of them. No owner sees a whole chain, because its jobs are in different
 * partitions. So each run carries how many runs led to it, and how many may still follow. The latter number is divided among its
 * followers. So a chain has at most 1 + 5,000 runs, even if its jobs trigger each other in a cycle.
 */
import { type Cause, fieldOf, jobCommandSchema } from '../../schemas/index.ts'
import { type Decision, refuse } from '../state/index.ts'

/** Generations of followers. */
export const chainDepthMax = fieldOf(jobCommandSchema, 'chainDepth').maximum ?? 0
/** Runs that may follow from the first run of a chain. */
export const chainRunsMax = fieldOf(jobCommandSchema, 'chainLeft').maximum ?? 0

/** Position of a run in its chain. */
export interface Link {
  chainDepth: number
  chainLeft: number
}

/** The beginning of a chain. */
export const firstLink: Link = { chainDepth: 0, chainLeft: chainRunsMax }

/** Positions of the followers of a run; fewer than `wanted` if the chain ends. The first followers get the remainder of the division. */
export function linksAfter({ chainDepth, chainLeft }: Link, wanted: number): Link[] {
  if (chainDepth >= chainDepthMax) return []
  const count = Math.min(wanted, chainLeft)
  const spare = chainLeft - count
  return Array.from({ length: count }, (_, index) => ({
    chainDepth: chainDepth + 1,
    chainLeft: Math.floor(spare / count) + (index < spare % count ? 1 : 0),
  }))
}

/** Triggers the followers. Their commands are part of the transaction, and the id of the run makes a repetition harmless. */
export function triggerFollowers(
  draft: Decision,
  run: Link,
  { commandId, at, cause }: { commandId: string; at: number; cause: Cause },
  jobIds: string[],
): void {
  const links = linksAfter(run, jobIds.length)
  for (const [index, link] of links.entries()) {
    draft.out.push({ kind: 'trigger', jobId: jobIds[index] ?? '', commandId, at, cause, ...link })
  }
  const count = jobIds.length - links.length
  if (count === 0) return
  const reason = run.chainDepth >= chainDepthMax ? 'chain-depth' : 'chain-runs'
  draft.notes.push({ kind: 'refused', what: 'FOLLOW_UP', reason, count })
  refuse(draft, { at, what: 'DROPPED', reason, count })
}
