/** What becomes of what the auditor finds: metrics, and the log of the process. */
import type { PartitionListeners } from './audited-partition.ts'
import { findingKinds, unjudgedReasons } from './finding.ts'
import type { AuditorRoleOptions } from './role-options.ts'

export function findingListenersOf({ metrics, logger }: Pick<AuditorRoleOptions, 'metrics' | 'logger'>): PartitionListeners {
  // A series that begins with the first fault shows Prometheus no increase: each begins with 0.
  for (const kind of findingKinds) metrics.auditFindings.inc({ kind }, 0)
  for (const reason of unjudgedReasons) metrics.auditUnjudged.inc({ reason }, 0)
  return {
    onFinding: (finding) => {
      metrics.auditFindings.inc({ kind: finding.kind })
      logger.error(finding, 'the audit found a fault')
    },
    onJudged: ({ runs, occurrences, records, unreadable }) => {
      metrics.auditRuns.inc(runs)
      metrics.auditOccurrences.inc(occurrences)
      metrics.auditRecords.inc(records)
      metrics.auditUnreadable.inc(unreadable)
    },
    onUnjudged: (counts) => {
      for (const [reason, count] of Object.entries(counts)) {
        metrics.auditUnjudged.inc({ reason }, count)
        logger.warn({ reason, count }, 'the audit cannot judge something')
      }
    },
  }
}
