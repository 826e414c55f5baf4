/**
 * Exposition of /metrics: the metrics of this process and of its executor processes. Metrics of Duelog are joined over all of them.
 * Metrics of Node are separate, with the label `process`.
 */
import { AggregatorRegistry, type Gauge, type Registry } from 'prom-client'

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

/** A value of a gauge under its labels. */
export interface Reading {
  labels: Record<string, string | number>
  value: number
}

/** Shows these values of a gauge, read whenever somebody reads the metrics. Values that fail to be read are not shown. */
export function whenRead(gauge: Gauge, read: () => Iterable<Reading> | Promise<Iterable<Reading>>): void {
  const collect = async (): Promise<void> => {
    const readings = await read()
    gauge.reset()
    for (const { labels, value } of readings) gauge.set(labels, value)
  }
  // prom-client takes it in the constructor only, where what is read does not exist yet.
  Object.assign(gauge, { collect })
}

/** The metrics of this process and of the sources as text. */
export async function expose(registry: Registry, sources: Iterable<MetricsSource>): Promise<string> {
  const asked = [...sources].map((source) => source())
  if (asked.length === 0) return registry.metrics()
  const all = await Promise.all([shownOf(registry), ...asked])
  return AggregatorRegistry.aggregate(all.map((metrics) => metrics.map(joined))).metrics()
}

/** The metrics of this process, which gets this name, and of the sources as those of one process. */
export async function allShown(registry: Registry, sources: Iterable<MetricsSource>, name: string): Promise<Shown[]> {
  const [own, ...others] = await Promise.all([shownOf(registry), ...[...sources].map((source) => source())])
  return added([named(own, name), ...others])
}

/**
 * Values of Duelog are joined as their metric says, mostly added up. Those of Node are alone under their labels, so that their sum is
 * the value itself. NaN does not survive JSON.
 */
const joined = (metric: Shown): Shown => ({
  ...metric,
  aggregator: ours(metric.name) ? (metric.aggregator ?? 'sum') : 'sum',
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
  return shownOf(AggregatorRegistry.aggregate(all.map((metrics) => metrics.map(joined))))
}
