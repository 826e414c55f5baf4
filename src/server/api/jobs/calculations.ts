/** The calculations whose rules strangers choose: previews, plans and counts. */
import type { JobDefinition } from '../../../../schemas/index.ts'
import { definitionWarnings, previewOf } from '../../../../streams/definitions/index.ts'
import { type JobPlan, type PlanRange, planJob } from '../../../../streams/jobs/index.ts'
import { countBackfill } from '../../../../streams/runs/index.ts'
import type { Job } from '../../../../streams/state/index.ts'
import { type Problem, readJson } from '../../../../streams/text/index.ts'
import { identifiedDefinitionOf, RequestError, redacted } from '../http/index.ts'

/** A definition as it was sent, whose payload keeps its text, and the job as it is now. */
export interface ToPlan {
  text: string
  job: Job
}

interface PlanOptions {
  range: PlanRange
  /** The caller does not see values that may be credentials. */
  isRedacted: boolean
  partitions: number
}

export type Planned =
  | { id: string; plan: JobPlan; warnings: string[]; definition: Pick<JobDefinition, 'target' | 'onSuccess' | 'onFailure'> }
  | { problems: readonly Problem[] | undefined }

function planOne({ text, job }: ToPlan, { range, isRedacted, partitions }: PlanOptions): Planned {
  try {
    const { id, definition } = identifiedDefinitionOf(readJson(text, JSON.parse, true).value)
    const { target, onSuccess, onFailure } = definition
    const plan = planJob(job, definition, range, isRedacted ? redacted : undefined)
    return { id, plan, warnings: definitionWarnings(id, definition, partitions), definition: { target, onSuccess, onFailure } }
  } catch (error) {
    if (error instanceof RequestError) return { problems: error.problems }
    throw error
  }
}

export const calculations = {
  /** The thread is loaded. */
  begin: () => {},
  preview: previewOf,
  countBackfill,
  plan: (jobs: readonly ToPlan[], options: PlanOptions): Planned[] => jobs.map((each) => planOne(each, options)),
}

export type Calculations = typeof calculations
