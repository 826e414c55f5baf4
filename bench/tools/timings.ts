/** Durations, and their percentiles in ms. */
import { createHistogram } from 'node:perf_hooks'

export interface Spread {
  p50: number
  p90: number
  p99: number
  p999: number
  max: number
}

export class Timings {
  /** In µs, up to an hour. */
  readonly #histogram = createHistogram({ lowest: 1, highest: 3_600_000_000, figures: 3 })

  /** A duration of less than a microsecond counts as one. */
  record(ms: number): void {
    this.#histogram.record(Math.max(1, Math.round(ms * 1_000)))
  }

  get count(): number {
    return this.#histogram.count
  }

  get spread(): Spread {
    const ms = (percentile: number): number => this.#histogram.percentile(percentile) / 1_000
    return { p50: ms(50), p90: ms(90), p99: ms(99), p999: ms(99.9), max: this.#histogram.max / 1_000 }
  }
}
