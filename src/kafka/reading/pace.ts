/** Reads partitions in parallel by record time: pauses those that are ahead of the slowest one. */
import type { Consumer } from 'kafkajs'
import type { TopicPartition } from '../../ports/index.ts'

export class Pace {
  readonly #consumer: Consumer
  readonly #places: Map<string, TopicPartition>
  readonly #open: ReadonlySet<string>
  readonly #paceMs: number
  readonly #reachedMs = new Map<string, number>()
  readonly #held = new Set<string>()

  constructor(consumer: Consumer, spans: readonly TopicPartition[], open: ReadonlySet<string>, paceMs: number) {
    this.#consumer = consumer
    this.#places = new Map(spans.map((span) => [`${span.topic}/${span.partition}`, span]))
    this.#open = open
    this.#paceMs = paceMs
  }

  holds(place: string): boolean {
    return this.#held.has(place)
  }

  watermark(): number {
    let least = Number.POSITIVE_INFINITY
    for (const place of this.#open) least = Math.min(least, this.#reachedMs.get(place) ?? 0)
    return least
  }

  reached(place: string, ms: number): void {
    // A producer whose clock was set back writes earlier times later. The watermark never goes back.
    this.#reachedMs.set(place, Math.max(ms, this.#reachedMs.get(place) ?? 0))
    this.adjust()
  }

  adjust(): void {
    if (this.#paceMs === Number.POSITIVE_INFINITY) return
    const until = this.watermark() + this.#paceMs
    for (const place of this.#open) {
      const ahead = (this.#reachedMs.get(place) ?? 0) > until
      const { topic, partition } = this.#places.get(place) as TopicPartition
      if (ahead === this.#held.has(place)) continue
      if (ahead) this.#held.add(place)
      else this.#held.delete(place)
      this.#consumer[ahead ? 'pause' : 'resume']([{ topic, partitions: [partition] }])
    }
  }

  /** The consumer has rejoined, and reads all open partitions. */
  forget(): void {
    this.#held.clear()
    this.adjust()
  }
}
