/**
 * Jobs that follow on a run, and the two bounds that end every chain of them. No owner sees a chain whole, as its jobs stand in different
 * partitions, so each run carries what is left of it: how many runs led to it, and how many may still follow. What may follow is dealt
 * among its followers. So a chain has at most 1 + 5,000 runs whatever its jobs and however they are joined, a circle included.
 */
import { fieldOf, jobCommandSchema } from '../../schemas/index.ts'
import { type Decision, refuse } from '../state/index.ts'

/** Generations of followers. */
export const chainDepthMax = fieldOf(jobCommandSchema, 'chainDepth').maximum ?? 0
/** Runs that may follow from a run that nothing led to. */
export const chainRunsMax = fieldOf(jobCommandSchema, 'chainLeft').maximum ?? 0

/** Where a run stands in its chain. */
export interface Link {
  chainDepth: number
  chainLeft: number
}

/** The beginning of a chain. */
export const firstLink: Link = { chainDepth: 0, chainLeft: chainRunsMax }

/** Places of the followers of a run; fewer than `wanted` where the chain ends. Whoever comes first gets what cannot be dealt evenly. */
export function linksAfter({ chainDepth, chainLeft }: Link, wanted: number): Link[] {
  if (chainDepth >= chainDepthMax) return []
  const count = Math.min(wanted, chainLeft)
  const spare = chainLeft - count
  return Array.from({ length: count }, (_, index) => ({
    chainDepth: chainDepth + 1,
    chainLeft: Math.floor(spare / count) + (index < spare % count ? 1 : 0),
  }))
}

/** Triggers the jobs that are to follow. Their commands are part of the transaction, and the run's id makes a repetition harmless. */
export function triggerFollowers(
  draft: Decision,
  run: Link,
  { commandId, at }: { commandId: string; at: number },
  jobIds: string[],
): void {
  const links = linksAfter(run, jobIds.length)
  for (const [index, link] of links.entries()) {
    draft.out.push({ kind: 'trigger', jobId: jobIds[index] ?? '', commandId, at, ...link })
  }
  const count = jobIds.length - links.length
  if (count === 0) return
  const reason = run.chainDepth >= chainDepthMax ? 'chain-depth' : 'chain-runs'
  draft.notes.push({ kind: 'refused', what: 'FOLLOW_UP', reason, count })
  refuse(draft, { at, what: 'DROPPED', reason, count })
}
