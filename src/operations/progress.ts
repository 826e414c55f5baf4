/** The progress of an operation: how it begins, and what it says about refusals. */
import type { OperationPart, OperationProgress } from '../../schemas/index.ts'
import type { CutOff } from '../ports/index.ts'
import type { Refused } from './page-changes.ts'

const reasonsMax = 20

/** `before`: of the process that carried it out until now. */
export function progressFrom(before: OperationProgress | undefined, startedAt: number, driver: string): OperationProgress {
  return {
    ...{ status: 'RUNNING', total: null, applied: 0, refused: 0, reasons: [], parts: [], effectiveAt: null, endedAt: null },
    ...{ startedAt, ...before },
    ...{ problem: null, driver },
  }
}

export const partOf = ({ jobsOffset, at: startedAt }: CutOff, partition: number): OperationPart => ({
  ...{ partition, jobsOffset, startedAt, after: null, pendingTo: null, pending: 0, left: 0, ended: false },
})

export const cutOffOf = ({ jobsOffset, startedAt: at }: OperationPart): CutOff => ({ jobsOffset, at })

export function noteRefusal({ reasons }: OperationProgress, { code, reason, example }: Refused, count: number): void {
  const known = reasons.find((one) => one.code === code)
  if (known !== undefined) known.count += count
  else if (reasons.length < reasonsMax) reasons.push({ code, reason: reason.slice(0, 1_000), count, example })
  reasons.sort((a, b) => b.count - a.count)
}
