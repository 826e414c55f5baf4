/** Dead runs grouped by their last error, however its numbers differ. */
import type { Run } from '../../answers/index.ts'

export interface ErrorGroup {
  /** The same for errors that differ only in numbers. It is in the address of a filtered list. */
  key: string
  type: string
  /** Message of the newest. */
  message: string
  count: number
}

/** Longest part of a message that tells errors apart, in characters. */
const keyChars = 120

export const endMsOf = ({ finishedAt, scheduledFor }: Run): number => Date.parse(finishedAt ?? scheduledFor)

export function errorKeyOf({ errors }: Run): string {
  const last = errors.at(-1)
  return last === undefined ? '' : `${last.type}: ${last.message.slice(0, keyChars)}`.replace(/[0-9]+|\b[0-9a-f]{8,}\b/gi, '#')
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
