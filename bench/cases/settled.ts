/** Waits until a worker has started every run, or starts none any more. */
import { setTimeout as delay } from 'node:timers/promises'

/** A worker that started nothing for this long is finished. Runs that are missing then are reported as lost. */
const quietMs = 15_000
const lookMs = 500

export async function settled<Report extends { starts: number; distinct: number }>(
  executor: { report(): Promise<Report> },
  n: number,
  lastDueAt: number,
): Promise<Report> {
  // It does not ask earlier: each report iterates over all counted starts.
  await delay(Math.max(0, lastDueAt - Date.now()) + lookMs)
  let changedAt = Date.now()
  let before = -1
  for (;;) {
    const report = await executor.report()
    if (report.distinct >= n) return report
    if (report.starts !== before) {
      before = report.starts
      changedAt = Date.now()
    } else if (Date.now() - changedAt > quietMs) return report
    await delay(lookMs)
  }
}
