/** docs/METRICS.md: what /metrics shows, from src/ground/metrics/metrics.ts. */
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { code, heading, page, table } from './markdown.ts'

interface MetricFacts {
  name: string
  help: string
  type: string
  labelNames: string[]
}

const alerts = `## Alerts and dashboard

[docker/prometheus/alerts/duelog.yaml](../docker/prometheus/alerts/duelog.yaml) has alert rules for Prometheus; the [runbook](RUNBOOK.md) has an entry for each. [docker/grafana/dashboards/duelog.json](../docker/grafana/dashboards/duelog.json) is a dashboard for Grafana. [Monitoring](how-to/monitoring.md) says how to set them up.`

export function metricsPage(): string {
  // prom-client's types leave out what each metric is.
  const metrics = newMetrics().registry.getMetricsAsArray() as unknown as MetricFacts[]
  const ours = metrics.filter(({ name }) => name.startsWith('duelog_'))
  return page(
    heading(
      'Metrics',
      'src/ground/metrics/metrics.ts',
      "`GET /metrics` of every process, in the Prometheus text format. Times are in seconds. Node's own metrics (`process_…`, `nodejs_…`) are there too. The address of a `duelog up` shows all its processes. Their values are added up, except those of clocks, pauses and problems. The metrics of Node are those of the front; those of the others have the label `process`, `scheduler` or such as `executor-1`. A process that does not answer in time is shown with its last values. When an executor process ends, its counts up to the last reading stay in the sum.",
    ),
    table(
      ['Metric', 'Type', 'Labels', 'Meaning'],
      ours.map(({ name, type, labelNames, help }) => [code(name), type, labelNames.map(code).join(' '), help]),
    ),
    alerts,
  )
}
