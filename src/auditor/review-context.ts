/** The inputs of a review. It is a file of its own, so that review and calendar import it without a circle. */
import type { Find, Scope, Unjudged } from './finding.ts'
import type { Tally } from './tally.ts'

export interface ReviewContext {
  scope: Scope
  /** All topics were read up to it, epoch ms. */
  watermark: number
  /** Whether the watermark is the present: a record that is absent then will not come. */
  isPresent: boolean
  /** Nothing more will be read: the last facts are judged without a grace. */
  isFinal?: boolean
  /** Times from which dispatches in executions topics, and those in worker-control, are complete. Retention removed earlier ones. */
  completeFrom: { executions: number; control: number }
  /** Topics of the user that were read from their beginning. */
  targetTopics?: ReadonlySet<string>
  find: Find
  unjudged(reason: Unjudged, count?: number): void
  tally: Tally
}
