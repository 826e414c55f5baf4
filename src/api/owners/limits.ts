/** The concurrency keys and rate limits in use in all partitions, as their owners count them. */
import { isoTime } from '../../../streams/text/index.ts'
import type { LimitUse } from '../../ports/index.ts'
import type { OwnerDirectory } from './owner-directory.ts'

/** Keys in one answer. */
export const limitsListedMax = 200

export interface LimitsOptions {
  owners: Pick<OwnerDirectory, 'ask'>
  partitions: number
}

export interface LimitView extends Omit<LimitUse, 'nextAt'> {
  partition: number
  nextAt?: string
}

/** A partition whose owner does not answer is named, and the others are shown. */
export async function listLimits({ owners, partitions }: LimitsOptions): Promise<{ limits: LimitView[]; missing: number[] }> {
  const numbers = Array.from({ length: partitions }, (_, partition) => partition)
  const answers = await Promise.allSettled(numbers.map((partition) => owners.ask(partition, (owner) => owner.limits(partition))))
  const limits = answers.flatMap((answer, partition) =>
    answer.status === 'fulfilled' ? answer.value.map((use) => viewOf(partition, use)) : [],
  )
  return {
    limits: limits.sort((a, b) => b.waiting - a.waiting || b.held - a.held || (a.key < b.key ? -1 : 1)).slice(0, limitsListedMax),
    missing: numbers.filter((partition) => answers[partition]?.status === 'rejected'),
  }
}

const viewOf = (partition: number, { nextAt, ...use }: LimitUse): LimitView =>
  nextAt === undefined ? { partition, ...use } : { partition, ...use, nextAt: String(isoTime(nextAt)) }
