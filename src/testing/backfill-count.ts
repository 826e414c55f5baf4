/** How many runs a backfill of a test system would make, as the API counts them. */
import { countBackfill } from '../../streams/runs/index.ts'
import { isoTime } from '../../streams/text/index.ts'
import type { BackfillCount } from '../answers/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { JobView } from '../ports/index.ts'

const countMax = 100_000

/** Throws `command-refused` if the definition of the job cannot be read. Times in epoch ms. */
export function backfillCountOf(
  { definition, anchorAt }: JobView,
  { from, to }: { from: number; to: number },
  nowMs: number,
): BackfillCount {
  if (definition === undefined) throw new DuelogError('command-refused', 'The definition of the job cannot be read.')
  const count = countBackfill(definition, anchorAt, { from, to: Math.min(to, nowMs), max: countMax })
  return { ...count, first: timeOrNull(count.first), last: timeOrNull(count.last) }
}

const timeOrNull = (at: number | null): string | null => (at === null ? null : String(isoTime(at)))
