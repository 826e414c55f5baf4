/** A step without any limit, fault or missing topic. */

import { step as coreStep } from '../../../streams/jobs/step.ts'
import type { Decision, Input, Job } from '../../../streams/state/job.ts'

export type { Input } from '../../../streams/state/job.ts'

const undisturbed = {
  leadMs: 0,
  aheadFrom: 0,
  eventsReadUntil: Number.POSITIVE_INFINITY,
  topicProblem: () => undefined,
  poolProblem: () => undefined,
  limits: { slots: () => ({ held: 0, waiting: 0 }), starts: () => undefined },
  seenAt: () => 0,
}

export const step = (job: Job, input: Input, now = 0): Decision => coreStep(job, input, { ...undisturbed, now })
