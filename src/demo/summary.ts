/** The closing table and its sentence. */
import Table from 'cli-table3'
import type { Totals } from './day-plan.ts'
import type { Verdict } from './ledger.ts'
import { numberText } from './output.ts'

export interface SummaryInput {
  verdict: Verdict
  totals: Totals
  /** From the command to the moment at which everything could fire, ms. */
  startMs: number
  /** False where the end of the log was not reached in time. */
  readToEnd: boolean
}

/** Ids named for each kind of fault. */
const NAMED_MAX = 3

export function isProved({ verdict, readToEnd }: Pick<SummaryInput, 'verdict' | 'readToEnd'>): boolean {
  return readToEnd && faultsOf(verdict).every(({ ids }) => ids.length === 0)
}

/** At most 80 columns wide; no colours. */
export function summaryText(input: SummaryInput): string {
  const { verdict, totals, startMs } = input
  const table = new Table({
    head: ['occurrences', 'planned', 'in the log'],
    colAligns: ['left', 'right', 'right'],
    style: { head: [], border: [] },
  })
  const row = (name: string, planned: number, found: number): void => {
    table.push([name, numberText(planned), numberText(found)])
  }
  row('expected', totals.occurrences, verdict.expected)
  row('started', totals.occurrences, verdict.started)
  row('succeeded', totals.succeeded, verdict.succeeded)
  row('retried', totals.retried, verdict.retried)
  row('dead', totals.dead, verdict.dead)
  for (const { name, ids } of faultsOf(verdict)) row(name, 0, ids.length)
  const { lateness } = verdict
  const times = [
    `Start lateness  ${lateness ? `p50 ${lateness.p50} ms, p99 ${lateness.p99} ms, max ${lateness.max} ms` : 'unknown: nothing started'}`,
    `Time to start   ${(startMs / 1_000).toFixed(1)} s`,
  ]
  return `${table.toString()}\n${times.join('\n')}\n\n${sentencesOf(input).join('\n')}\n`
}

function faultsOf({ lost, duplicate, early, unexpected }: Verdict): { name: string; ids: string[] }[] {
  return [
    { name: 'lost', ids: lost },
    { name: 'duplicate', ids: duplicate },
    { name: 'early', ids: early },
    ...(unexpected.length > 0 ? [{ name: 'unexpected', ids: unexpected }] : []),
  ]
}

function sentencesOf({ verdict, readToEnd }: SummaryInput): string[] {
  if (isProved({ verdict, readToEnd })) {
    return [`Proved from the log: each of ${numberText(verdict.expected)} occurrences ran exactly once, and none early.`]
  }
  const faults = faultsOf(verdict).flatMap(({ name, ids }) => {
    if (ids.length === 0) return []
    const more = ids.length > NAMED_MAX ? `\n  and ${numberText(ids.length - NAMED_MAX)} more` : ''
    return [`${numberText(ids.length)} ${name}:\n  ${ids.slice(0, NAMED_MAX).join('\n  ')}${more}`]
  })
  return ['NOT proved.', ...(readToEnd ? [] : ['The end of the log was not reached in time.']), ...faults]
}
