/** docs/METRICS.md: what /metrics shows, from src/metrics/metrics.ts. */
import { newMetrics } from '../../src/metrics/metrics.ts'
import { code, heading, page, table } from './markdown.ts'

interface MetricFacts {
  name: string
  help: string
  type: string
  labelNames: string[]
}

const alerts = `## Alerts on the proof

The role auditor says whether the guarantees hold. These are three alerts for Prometheus: it found a fault, it is behind, or it cannot judge.

\`\`\`yaml
groups:
  - name: duelog-proof
    rules:
      - alert: DuelogFaultFound
        expr: sum by (kind) (increase(duelog_audit_findings_total[10m])) > 0
        labels: { severity: page }
        annotations: { summary: "The audit of the log found a fault ({{ $labels.kind }}); GET /v1/proof names it" }
      - alert: DuelogProofBehind
        expr: max(duelog_audit_oldest_unjudged_seconds) > 300 or absent(duelog_audit_oldest_unjudged_seconds)
        for: 5m
        annotations: { summary: "Nobody has judged the log for five minutes" }
      - alert: DuelogCannotJudge
        expr: sum by (reason) (increase(duelog_audit_unjudged_total[1h])) > 0
        annotations: { summary: "Something is not part of the proof ({{ $labels.reason }})" }
\`\`\``

export function metricsPage(): string {
  // prom-client's types leave out what each metric is.
  const metrics = newMetrics().registry.getMetricsAsArray() as unknown as MetricFacts[]
  const ours = metrics.filter(({ name }) => name.startsWith('duelog_'))
  return page(
    heading(
      'Metrics',
      'src/metrics/metrics.ts',
      "`GET /metrics` of every process, in the Prometheus text format. Times are in seconds. Node's own metrics (`process_…`, `nodejs_…`) are there too. The main process also shows its executor processes (`DUELOG_EXECUTOR_PROCESSES`). Their counts are added to its own; their metrics of Node have the label `process`, such as `executor-1`. A process that does not answer within a second is shown with its last values. When such a process ends, its counts up to the last reading stay in the sum.",
    ),
    table(
      ['Metric', 'Type', 'Labels', 'Meaning'],
      ours.map(({ name, type, labelNames, help }) => [code(name), type, labelNames.map(code).join(' '), help]),
    ),
    alerts,
  )
}
