/**
 * Exposition of /metrics: the metrics of this process and of its executor processes. Metrics of Duelog are summed over all of them.
 * Metrics of Node are separate, with the label `process`.
 */
import { AggregatorRegistry, type Registry } from 'prom-client'

/** A metric with its values, as prom-client gives it for another process. */
export interface Shown {
  name: string
  help: string
  type: string
  aggregator?: string
  values: { value: number | null; labels: Record<string, string | number>; metricName?: string }[]
}

/** Source of the metrics of another process; empty while they are unknown. */
export type MetricsSource = () => Promise<Shown[]>

const ours = (name: string): boolean => name.startsWith('duelog_')

/** The values of a registry, for another process. */
export async function shownOf(registry: Registry): Promise<Shown[]> {
  return (await registry.getMetricsAsJSON()) as unknown as Shown[]
}

/** The metrics of this process and of the sources as text. */
export async function expose(registry: Registry, sources: Iterable<MetricsSource>): Promise<string> {
  const asked = [...sources].map((source) => source())
  if (asked.length === 0) return registry.metrics()
  const all = await Promise.all([shownOf(registry), ...asked])
  return AggregatorRegistry.aggregate(all.map((metrics) => metrics.map(summed))).metrics()
}

/** Every value is either added up or alone under its labels; then the sum is the value itself. NaN does not survive JSON. */
const summed = (metric: Shown): Shown => ({
  ...metric,
  aggregator: 'sum',
  values: metric.values.map((each) => ({ ...each, value: each.value ?? Number.NaN })),
})

/** The same metrics; those of Node get the name of their process. */
export function named(metrics: readonly Shown[], process: string): Shown[] {
  return metrics.map((metric) => {
    if (ours(metric.name)) return metric
    return { ...metric, values: metric.values.map((each) => ({ ...each, labels: { ...each.labels, process } })) }
  })
}

/** The counts of a process, which stay valid after it has ended. */
export function countsIn(metrics: readonly Shown[]): Shown[] {
  return metrics.filter(({ name, type }) => ours(name) && (type === 'counter' || type === 'histogram'))
}

/** Adds up the counts of several processes. */
export async function added(all: readonly Shown[][]): Promise<Shown[]> {
  return shownOf(AggregatorRegistry.aggregate(all.map((metrics) => metrics.map(summed))))
}
