/** What becomes of what the auditor finds: metrics, and the log of the process. */
import type { PartitionHears } from './audited-partition.ts'
import type { AuditorRoleOptions } from './role-options.ts'

export function hearersOf({ metrics, logger }: Pick<AuditorRoleOptions, 'metrics' | 'logger'>): PartitionHears {
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
