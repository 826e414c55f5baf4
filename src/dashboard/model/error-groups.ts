/** Dead runs grouped by their last error, however its numbers and ids differ. */
import { errorKindOf } from '../../../streams/text/index.ts'
import type { Run } from '../../answers/index.ts'

export interface ErrorGroup {
  /** The same for errors that differ only in words with a digit, such as numbers, ids and hashes. It is in the address of a filtered list. */
  key: string
  type: string
  /** Message of the newest. */
  message: string
  count: number
}

export const endMsOf = ({ finishedAt, scheduledFor }: Run): number => Date.parse(finishedAt ?? scheduledFor)

export function errorKeyOf({ errors }: Run): string {
  const last = errors.at(-1)
  return last === undefined ? '' : errorKindOf(last)
}

/** The largest first. `runs` are newest first. */
export function errorGroupsOf(runs: readonly Run[]): ErrorGroup[] {
  const groups = new Map<string, ErrorGroup>()
  for (const run of runs) {
    const key = errorKeyOf(run)
    const known = groups.get(key)
    if (known !== undefined) known.count++
    else groups.set(key, { key, type: run.errors.at(-1)?.type ?? '', message: run.errors.at(-1)?.message ?? '', count: 1 })
  }
  return [...groups.values()].sort((a, b) => b.count - a.count)
}
