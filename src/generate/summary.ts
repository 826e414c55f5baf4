/** The closing table of a load. */
import Table from 'cli-table3'
import { numberText } from '../demo/index.ts'
import type { Outcome } from './generate.ts'

export function isWhole({ sent, result }: Outcome): boolean {
  return result.lost === 0 && result.duplicate === 0 && sent.rejected === 0
}

/** At most 80 columns wide; no colors. */
export function summaryOf(outcome: Outcome): string {
  const { sent, result } = outcome
  const { lateness } = result
  const table = new Table({ colAligns: ['left', 'right'], style: { head: [], border: [], compact: true } })
  const ms = (value: number | undefined): string => (value === undefined ? 'unknown' : `${numberText(value)} ms`)
  const counts: [string, number][] = [
    ['jobs sent', sent.accepted],
    ['jobs refused', sent.rejected],
    ['jobs per second', Math.round(sent.accepted / Math.max(sent.tookMs / 1_000, 0.001))],
    ['runs expected', result.expected],
    ['runs dispatched', result.dispatched],
    ['runs started', result.started],
    ['runs succeeded', result.succeeded],
    ['runs dead', result.dead],
    ['attempts failed', result.failedAttempts],
    ['lost', result.lost],
    ['duplicate', result.duplicate],
  ]
  table.push(
    ...counts.map(([what, count]) => [what, numberText(count)]),
    ['start lateness, p50', ms(lateness?.p50)],
    ['start lateness, p99', ms(lateness?.p99)],
    ['start lateness, max', ms(lateness?.max)],
  )
  const refusal = sent.rejection === undefined ? '' : `The first refusal: ${sent.rejection}\n`
  const verdict = isWhole(outcome) ? 'Nothing was lost, nothing ran twice.' : 'NOT whole: see lost, duplicate and refused.'
  return `${table.toString()}\n\n${refusal}${verdict}\n`
}
