/** Turns vitest's report into the counts of the last line. */

/** The part of vitest's JSON report that is read here. */
export interface VitestReport {
  testResults: { status: string; assertionResults: { status: string }[] }[]
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
