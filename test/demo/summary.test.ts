import { describe, expect, it } from 'vitest'
import { clockText, isProved, summaryText } from '../../src/program/demo/output.ts'
import type { DayVerdict } from '../../src/program/demo/run-accounts.ts'

const clean: DayVerdict = {
  ...{ expected: 1_802, started: 1_802, succeeded: 1_791, retried: 171, dead: 11 },
  ...{ lost: [], duplicate: [], early: [], unexpected: [] },
  lateness: { p50: 0, p99: 12, max: 1_234 },
}
const totals = { occurrences: 1_802, succeeded: 1_791, retried: 171, dead: 11 }
const text = (verdict: DayVerdict, readToEnd = true): string => summaryText({ verdict, totals, startMs: 8_700, readToEnd })

describe('the closing table', () => {
  it('fits 80 columns and has no colors', () => {
    const lost = ['x'.repeat(60), 'b', 'c', 'd', 'e']
    for (const line of text({ ...clean, lost }).split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    expect(text(clean)).not.toContain('\u001b')
  })
  it('has every figure', () => {
    const rows = text(clean)
      .split('\n')
      .filter((line) => line.startsWith('│'))
      .map((line) =>
        line
          .slice(1, -1)
          .split('│')
          .map((cell) => cell.trim()),
      )
    expect(rows).toContainEqual(['succeeded', '1,791', '1,791'])
    expect(rows).toContainEqual(['lost', '0', '0'])
    expect(rows).toContainEqual(['start lateness, max', '', '1,234 ms'])
    expect(rows).toContainEqual(['time to start', '', '8.7 s'])
  })
  it('says that all is proved only if nothing is lost, doubled, early or unexpected, and the log was read to its end', () => {
    expect(text(clean)).toContain('Proved from the log: each of 1,802 occurrences ran exactly once')
    for (const fault of ['lost', 'duplicate', 'early', 'unexpected'] as const) {
      const verdict = { ...clean, [fault]: ['job@2025-06-02T00:00:00.000Z'] }
      expect(isProved({ verdict, readToEnd: true })).toBe(false)
      expect(text(verdict)).toContain(`NOT proved.\n1 ${fault}:\n  job@2025-06-02T00:00:00.000Z`)
    }
    expect(isProved({ verdict: clean, readToEnd: false })).toBe(false)
    expect(text(clean, false)).toContain('The end of the log was not reached in time.')
  })
})

it('the clock of the compressed day runs from 00:00 to 24:00', () => {
  expect([-0.1, 0, 0.25, 0.9999, 1, 3].map(clockText)).toEqual(['00:00', '00:00', '06:00', '23:59', '24:00', '24:00'])
})
