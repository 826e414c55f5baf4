/** Checks that the schedule goes first: no occurrence is skipped only because runs that make up for the past are active. */
import type { JobState } from '../../../schemas/generated.ts'
import type { Lives } from './lives.ts'
import type { Change, Decided } from './transactions.ts'

const pastTriggers: ReadonlySet<string> = new Set(['BACKFILL', 'REDRIVE'])
const overlapReasons: ReadonlySet<string> = new Set(['overlap', 'max-concurrent-runs'])

export function precedenceProblems(lives: Lives, transactions: readonly Decided[]): string[] {
  return transactions.flatMap(({ changes }) => changes.flatMap((change) => problemsOf(lives, change)))
}

/** Judged only where one definition was in force for the whole transaction. */
function problemsOf(lives: Lives, { jobId, before, after, ended }: Change): string[] {
  if (before === undefined || after === undefined || before.specOffset !== after.specOffset) return []
  const definitions = (lives.get(jobId) ?? []).flatMap((life) => life.definitions)
  const overlap = definitions.find(({ offset }) => offset === after.specOffset)?.spec?.overlap
  if (overlap === undefined || overlap === 'CANCEL_PREVIOUS') return []
  const runs = [...before.active, ...after.active, ...ended, ...(after.lastRun ? [after.lastRun] : [])]
  if (!runs.every(({ trigger }) => pastTriggers.has(trigger))) return []
  return skipsOf(before, after).map(
    ({ scheduledFor, reason }) => `${jobId} skipped ${scheduledFor} (${reason}) for runs of the past`,
  )
}

function skipsOf(before: JobState, after: JobState): JobState['decisions'] {
  const known = new Set(before.decisions.map((decision) => JSON.stringify(decision)))
  return after.decisions.filter(
    (decision) => decision.what === 'SKIPPED' && overlapReasons.has(decision.reason) && !known.has(JSON.stringify(decision)),
  )
}
