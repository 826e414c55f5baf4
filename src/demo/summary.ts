/** The closing table and its sentence. */
import Table from 'cli-table3'
import { latenessRows } from '../auditor/index.ts'
import type { Totals } from './day-plan.ts'
import { numberText } from './output.ts'
import type { DayVerdict } from './run-accounts.ts'

export interface SummaryInput {
  verdict: DayVerdict
  totals: Totals
  /** From the command to the moment at which every job could fire, ms. */
  startMs: number
  /** False if the end of the log was not reached in time. */
  readToEnd: boolean
}

/** Ids named for each kind of fault. */
const namedMax = 3

export function isProved({ verdict, readToEnd }: Pick<SummaryInput, 'verdict' | 'readToEnd'>): boolean {
  return readToEnd && faultsOf(verdict).every(({ ids }) => ids.length === 0)
}

/** At most 80 columns wide; no colors. */
export function summaryText(input: SummaryInput): string {
  const { verdict, totals, startMs } = input
  const table = new Table({
    head: ['occurrences', 'planned', 'in the log'],
    colAligns: ['left', 'right', 'right'],
    style: { head: [], border: [], compact: true },
  })
  table.push(
    ['expected', numberText(totals.occurrences), ''],
    ['started', numberText(totals.occurrences), numberText(verdict.started)],
    ['succeeded', numberText(totals.succeeded), numberText(verdict.succeeded)],
    ['retried', numberText(totals.retried), numberText(verdict.retried)],
    ['dead', numberText(totals.dead), numberText(verdict.dead)],
    ...faultsOf(verdict).map(({ name, ids }) => [name, '0', numberText(ids.length)]),
    ...latenessRows(verdict.lateness).map(([name, value]) => [name, '', value]),
    ['time to start', '', `${(startMs / 1_000).toFixed(1)} s`],
  )
  return `${table.toString()}\n\n${sentencesOf(input).join('\n')}\n`
}

function faultsOf({ lost, duplicate, early, unexpected }: DayVerdict): { name: string; ids: string[] }[] {
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
    const more = ids.length > namedMax ? `\n  and ${numberText(ids.length - namedMax)} more` : ''
    return [`${numberText(ids.length)} ${name}:\n  ${ids.slice(0, namedMax).join('\n  ')}${more}`]
  })
  return ['NOT proved.', ...(readToEnd ? [] : ['The end of the log was not reached in time.']), ...faults]
}
