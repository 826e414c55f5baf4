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
      "`GET /metrics` of every process, in the Prometheus text format. Times are in seconds. Node's own metrics (`process_…`, `nodejs_…`) stand beside them. The process that was started shows its executor processes (`DUELOG_EXECUTOR_PROCESSES`) as well: what they count is added to its own, what Node says of them has the label `process`, such as `executor-1`. One that does not answer within a second is shown as it was; what one counted stays in the sum when it ends, but for what came after the last look.",
    ),
    table(
      ['Metric', 'Type', 'Labels', 'Meaning'],
      ours.map(({ name, type, labelNames, help }) => [code(name), type, labelNames.map(code).join(' '), help]),
    ),
  )
}
