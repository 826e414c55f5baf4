/**
 * What /metrics shows: the metrics of this process, and of the executor processes that belong to it. Ours are summed over all of them; those
 * of Node itself stand beside one another, told apart by the label `process`.
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

/** Where the metrics of another process come from; empty while nothing is known of it. */
export type MetricsSource = () => Promise<Shown[]>

const ours = (name: string): boolean => name.startsWith('duelog_')

/** The values of a registry, for another process. */
export async function shownOf(registry: Registry): Promise<Shown[]> {
  return (await registry.getMetricsAsJSON()) as unknown as Shown[]
}

/** The text of this process's metrics with those of the sources. */
export async function expose(registry: Registry, sources: Iterable<MetricsSource>): Promise<string> {
  const asked = [...sources].map((source) => source())
  if (asked.length === 0) return registry.metrics()
  const all = await Promise.all([shownOf(registry), ...asked])
  return AggregatorRegistry.aggregate(all.map((metrics) => metrics.map(summed))).metrics()
}

/** Every value is either to be added up, or alone under its labels: then its sum is itself. NaN does not survive JSON. */
const summed = (metric: Shown): Shown => ({
  ...metric,
  aggregator: 'sum',
  values: metric.values.map((each) => ({ ...each, value: each.value ?? Number.NaN })),
})

/** The same metrics with the name of their process where they are Node's own. */
export function named(metrics: readonly Shown[], process: string): Shown[] {
  return metrics.map((metric) => {
    if (ours(metric.name)) return metric
    return { ...metric, values: metric.values.map((each) => ({ ...each, labels: { ...each.labels, process } })) }
  })
}

/** What stays true of a process that has ended: what it counted. */
export function countsIn(metrics: readonly Shown[]): Shown[] {
  return metrics.filter(({ name, type }) => ours(name) && (type === 'counter' || type === 'histogram'))
}

/** Adds up what several processes counted. */
export async function added(all: readonly Shown[][]): Promise<Shown[]> {
  return shownOf(AggregatorRegistry.aggregate(all.map((metrics) => metrics.map(summed))))
}
