/** What a review is given. */
import type { Find, Scope, Unjudged } from './finding.ts'
import type { Tally } from './tally.ts'

export interface ReviewContext {
  scope: Scope
  /** All topics were read up to it, epoch ms. */
  watermark: number
  /** Whether that is the present: what is absent then is not about to come. */
  isPresent: boolean
  /** Nothing more will be read: what came last is judged without a grace. */
  isFinal?: boolean
  /** Since when dispatches of workers' topics, and those by worker-control, are complete: retention took what was before. */
  completeFrom: { executions: number; control: number }
  /** Topics of the user's that were read from their beginning. */
  targetTopics?: ReadonlySet<string>
  find: Find
  unjudged(reason: Unjudged, count?: number): void
  tally: Tally
}
