/** Turns vitest's report into the counts of the last line, and into what failed tests told. */
import type { Told } from '../tools/story.ts'

/** The part of vitest's JSON report that is read here. */
export interface VitestReport {
  testResults: { status: string; assertionResults: { status: string; fullName?: string; meta?: Told }[] }[]
}

export interface Counts {
  passed: number
  failed: number
  skipped: number
}

/**
 * A file that failed without a failed test (it could not be loaded, or a hook failed) is one failure. So is a run that did not
 * succeed for a reason the report does not show, such as an unhandled error or a crash, and a run without any test.
 */
export function countsOf(report: VitestReport | undefined, succeeded: boolean): Counts {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 }
  for (const file of report?.testResults ?? []) {
    const failedBefore = counts.failed
    for (const { status } of file.assertionResults) {
      if (status === 'passed') counts.passed++
      else if (status === 'failed') counts.failed++
      else counts.skipped++
    }
    if (file.status === 'failed' && counts.failed === failedBefore) counts.failed++
  }
  if (counts.failed === 0 && (!succeeded || counts.passed === 0)) counts.failed = 1
  return counts
}

export function lineOf({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/** The last lines of a story: what the test waited for, and the last that each process said. */
const linesTold = 12
const lineLengthMax = 200

/** What failed tests told: the only lines that are read where just the end of the output is kept. */
export function storiesOf(report: VitestReport | undefined): string[] {
  const failed = (report?.testResults ?? []).flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed'),
  )
  return failed.flatMap(({ fullName, meta }) => {
    const lines = (meta?.stories ?? []).flatMap((story) => story.split('\n').slice(-linesTold))
    return lines.length === 0 ? [] : [`${fullName}:`, ...lines.map((line) => line.slice(0, lineLengthMax))]
  })
}
