/** The closing table of an audit. */
import Table from 'cli-table3'
import { type FindingKind, findingKinds } from './finding.ts'
import type { Verdict } from './verdict.ts'

/** Findings of each kind that are listed; --json lists all. */
const namedMax = 10

export function isClean({ found }: Verdict): boolean {
  return found === 0
}

/** At most 80 columns wide, except for long ids; no colors. */
export function auditText(verdict: Verdict): string {
  const { findings, lateness } = verdict
  const number = (value: number): string => value.toLocaleString('en-US')
  const table = new Table({ colAligns: ['left', 'right'], style: { head: [], border: [], compact: true } })
  const ms = (value: number | undefined): string => (value === undefined ? 'unknown' : `${number(value)} ms`)
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
    ['start lateness, p50', ms(lateness?.p50)],
    ['start lateness, p99', ms(lateness?.p99)],
    ['start lateness, max', ms(lateness?.max)],
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
