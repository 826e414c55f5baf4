/** Counts of the owners in one process since its start, from its metrics: the numbers of `listenEvents`. */
import { randomUUID } from 'node:crypto'
import type { LatenessClass } from '../../../streams/text/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'

/** Counts that only grow while the process lives. */
export interface ProcessCounts {
  /** Id of the process, so that none is counted twice. */
  process: string
  /** name@host:pid:boot of the process, its release, and when it started, epoch ms by its clock. Absent from those of the metrics alone. */
  instance?: string
  version?: string
  startedAt?: number
  /** Definitions taken in. */
  definitions: number
  /** Attempts handed to workers. */
  dispatched: number
  /** Records written to topic targets. */
  written: number
  /** Failed attempts that are retried. */
  retries: number
  leasesLost: number
  /** Runs that ended, by status. */
  ended: Record<string, number>
  /** Skipped occurrences, by reason. */
  skipped: Record<string, number>
  /**
   * Reported starts by lateness: upper bound in ms (null: none), and the number of starts up to it and later than the bound
   * before.
   */
  lateness: LatenessClass[]
}

const names = new WeakMap<Metrics, string>()

function nameOf(metrics: Metrics): string {
  const name = names.get(metrics) ?? randomUUID()
  names.set(metrics, name)
  return name
}

interface Values {
  get(): Promise<{ values: { value: number; labels: Partial<Record<string, string | number>>; metricName?: string }[] }>
}

export async function countsOf(metrics: Metrics): Promise<ProcessCounts> {
  const [definitions, dispatched, written, retries, leasesLost, ended, skipped, lateness] = await Promise.all([
    total(metrics.definitions),
    total(metrics.dispatched),
    total(metrics.targetRecords),
    total(metrics.retries),
    total(metrics.leasesLost),
    byLabel(metrics.runs, 'status'),
    byLabel(metrics.skipped, 'reason'),
    buckets(metrics.reportedLateness),
  ])
  return { process: nameOf(metrics), definitions, dispatched, written, retries, leasesLost, ended, skipped, lateness }
}

/** The counts of several processes as one. */
export function sumOf(all: readonly ProcessCounts[]): ProcessCounts {
  const sum: ProcessCounts = {
    process: 'all',
    ...{ definitions: 0, dispatched: 0, written: 0, retries: 0, leasesLost: 0, ended: {}, skipped: {} },
    lateness: [],
  }
  // By the bound of the class: processes of two releases may have different classes.
  const lateness = new Map<number | null, number>()
  for (const counts of new Map(all.map((counts) => [counts.process, counts])).values()) {
    for (const name of ['definitions', 'dispatched', 'written', 'retries', 'leasesLost'] as const) sum[name] += counts[name]
    for (const name of ['ended', 'skipped'] as const) {
      for (const [key, value] of Object.entries(counts[name])) sum[name][key] = (sum[name][key] ?? 0) + value
    }
    for (const [upToMs, starts] of counts.lateness) lateness.set(upToMs, (lateness.get(upToMs) ?? 0) + starts)
  }
  const boundOf = ([upToMs]: LatenessClass): number => upToMs ?? Number.POSITIVE_INFINITY
  return { ...sum, lateness: [...lateness].sort((a, b) => boundOf(a) - boundOf(b)) }
}

async function total(metric: Values): Promise<number> {
  return (await metric.get()).values.reduce((sum, { value }) => sum + value, 0)
}

async function byLabel(metric: Values, label: string): Promise<Record<string, number>> {
  return Object.fromEntries((await metric.get()).values.map(({ value, labels }) => [String(labels[label]), value]))
}

/** Prometheus buckets include all smaller ones; here each has its own count. */
async function buckets(metric: Values): Promise<ProcessCounts['lateness']> {
  const found = (await metric.get()).values.filter(({ metricName }) => metricName?.endsWith('_bucket'))
  let below = 0
  return found.map(({ value, labels }) => {
    const starts = value - below
    below = value
    return [labels.le === '+Inf' ? null : Math.round(Number(labels.le) * 1e6) / 1e3, starts]
  })
}
