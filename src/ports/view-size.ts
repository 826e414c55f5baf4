/** Size of the large parts of a job view, which limits the length of lists. */
import type { JobView } from './log.ts'

/** Bytes or characters of payload, result, headers and error messages. */
export function sizeOfView({ definition, lastRun, active }: Pick<JobView, 'definition' | 'lastRun' | 'active'>): number {
  let size = (definition?.payload?.length ?? 0) + (lastRun?.result?.length ?? 0)
  for (const value of Object.values(definition?.headers ?? {})) size += value.length
  for (const { errors } of active) for (const { message } of errors) size += message.length
  return size
}
