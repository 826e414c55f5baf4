/** docs/METRICS.md: what /metrics shows, from src/metrics.ts. */
import { createMetrics } from '../../src/metrics.ts'
import { code, heading, page, table } from './markdown.ts'

interface MetricFacts {
  name: string
  help: string
  type: string
  labelNames: string[]
}

export function metricsPage(): string {
  // prom-client's types leave out what each metric is.
  const metrics = createMetrics().registry.getMetricsAsArray() as unknown as MetricFacts[]
  const ours = metrics.filter(({ name }) => name.startsWith('duelog_'))
  return page(
    heading(
      'Metrics',
      'src/metrics.ts',
      "`GET /metrics` of every process, in the Prometheus text format. Times are in seconds. Node's own metrics (`process_…`, `nodejs_…`) stand beside them.",
    ),
    table(
      ['Metric', 'Type', 'Labels', 'Meaning'],
      ours.map(({ name, type, labelNames, help }) => [code(name), type, labelNames.map(code).join(' '), help]),
    ),
  )
}
