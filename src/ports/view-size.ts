/** How much of a job that was asked for may be large: lists of jobs are cut short by it. */
import type { JobView } from './log.ts'

/** In bytes, or characters, of what may be many. */
export function sizeOfView({ definition, lastRun, active }: Pick<JobView, 'definition' | 'lastRun' | 'active'>): number {
  let size = (definition?.payload?.length ?? 0) + (lastRun?.result?.length ?? 0)
  for (const value of Object.values(definition?.headers ?? {})) size += value.length
  for (const { errors } of active) for (const { message } of errors) size += message.length
  return size
}
