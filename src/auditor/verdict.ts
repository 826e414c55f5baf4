/** The verdict of a ledger when all records were read, and its closing table. */
import Table from 'cli-table3'
import { type JobAccount, runsOf, unknown } from './accounts/index.ts'
import { type Finding, type FindingKind, findingKinds, type Lateness, latenessOf, latenessRows } from './findings/index.ts'
import type { Ledger } from './ledger.ts'
import { countRun } from './review/index.ts'

export interface Verdict {
  /** Runs whose dispatch was read, or that were written to a topic of the user. */
  runs: number
  jobs: number
  /** Nominal times that were compared with the calendar. */
  occurrences: number
  succeeded: number
  dead: number
  /** Runs that have not ended yet. */
  open: number
  /** Runs that wait for a limit; `runs` counts them only when they are dispatched. */
  waiting: number
  /** Runs with more than one attempt. */
  retried: number
  /** Attempts with more than one start. Workers run at least once, so this is no fault of the schedule. */
  startedAgain: number
  /** Records that are not Duelog's, or broken. */
  unreadable: number
  /**
   * What could not be judged: runs of jobs with too many open runs, calendars that are too long, and calendars whose definition is gone
   * from the log.
   */
  unjudged: number
  /** Start of first attempts after their due time, in ms; undefined when nothing started. */
  lateness: Lateness | undefined
  /** The first ones; `found` counts all. */
  findings: Finding[]
  found: number
}

/** Findings that are listed. */
export const findingsMax = 10_000
/** Findings of each kind that are listed; --json lists all. */
const namedMax = 10

/** To be called when the ledger was settled. Open runs count as runs. */
export async function verdictOf(ledger: Ledger, findings: Finding[], scope: { from: number; to: number }): Promise<Verdict> {
  let [jobs, open, waiting] = [0, 0, 0]
  await ledger.each((account) => {
    if (isThere(account)) jobs++
    for (const run of runsOf(account)) {
      if (run.scheduledFor === unknown || run.scheduledFor < scope.from || run.scheduledFor >= scope.to) continue
      const dispatched = run.attempts.some(({ dispatches }) => dispatches > 0)
      if (dispatched) open++
      else if (run.status === 'WAITING') waiting++
      countRun(run, 'open', ledger.tally)
    }
  })
  const { runs, occurrences, succeeded, dead, retried, startedAgain, unreadable } = ledger.tally
  const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((total, count) => total + count, 0)
  return {
    ...{ runs, jobs, occurrences, succeeded, dead, open, waiting, retried, startedAgain, unreadable },
    unjudged: sum(ledger.tally.unjudged),
    lateness: latenessOf(ledger.tally.lateness),
    findings,
    found: sum(ledger.tally.findings),
  }
}

/** Whether the job is not deleted. */
function isThere({ state, plans, deletedAt }: JobAccount): boolean {
  return state !== undefined || (plans.length > 0 && deletedAt < (plans.at(-1)?.offset ?? 0))
}

export function isClean({ found }: Verdict): boolean {
  return found === 0
}

/** At most 80 columns wide, except for long ids; no colors. */
export function auditText(verdict: Verdict): string {
  const { findings, lateness } = verdict
  const number = (value: number): string => value.toLocaleString('en-US')
  const table = new Table({ colAligns: ['left', 'right'], style: { head: [], border: [], compact: true } })
  const ofKind = (kind: FindingKind) => findings.filter((finding) => finding.kind === kind)
  table.push(
    ['jobs', number(verdict.jobs)],
    ['runs dispatched', number(verdict.runs)],
    ['succeeded', number(verdict.succeeded)],
    ['dead', number(verdict.dead)],
    ['not ended yet', number(verdict.open)],
    ['waiting for a limit', number(verdict.waiting)],
    ['retried', number(verdict.retried)],
    ['attempts started again', number(verdict.startedAgain)],
    ['occurrences by the calendar', number(verdict.occurrences)],
    ['unreadable records', number(verdict.unreadable)],
    ['not judged', number(verdict.unjudged)],
    ...findingKinds.map((kind): [string, string] => [kind, number(ofKind(kind).length)]),
    ...latenessRows(lateness),
  )
  const named = findingKinds.flatMap((kind) => {
    const found = ofKind(kind)
    if (found.length === 0) return []
    const more = found.length > namedMax ? [`  and ${number(found.length - namedMax)} more`] : []
    return [`${kind}:`, ...found.slice(0, namedMax).map(({ what, detail }) => `  ${what}: ${detail}`), ...more]
  })
  const end = isClean(verdict)
    ? "By the log each occurrence that was due ran once, or was skipped by its job's policy; none ran early."
    : ['NOT clean.', ...named].join('\n')
  return `${table.toString()}\n\n${end}\n`
}
