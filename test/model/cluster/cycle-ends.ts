/**
 * The ends of commit cycles, seen from outside, also of those that write nothing. An active owner runs one cycle after another, and
 * before each of them it sets the gauges of its partition. So whenever a gauge is set, no cycle runs.
 */
import type { Metrics } from '../../../src/ground/metrics/metrics.ts'

export class CycleEnds {
  readonly #counts = new Map<number, number>()
  /** The metrics for one process. What it sets goes to the metrics of all. */
  readonly metrics: Metrics

  /** `onEnd` is called with the partition, between two commit cycles. */
  constructor(metrics: Metrics, onEnd: (partition: number) => void) {
    const set = (labels: { partition: number }, depth: number): void => {
      this.#counts.set(labels.partition, this.of(labels.partition) + 1)
      onEnd(labels.partition)
      metrics.mailboxDepth.set(labels, depth)
    }
    this.metrics = { ...metrics, mailboxDepth: { set } as unknown as Metrics['mailboxDepth'] }
  }

  /** How many cycles of this partition have ended, at most one more. */
  of(partition: number): number {
    return this.#counts.get(partition) ?? 0
  }
}
