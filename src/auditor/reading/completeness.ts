/**
 * The time from which dispatches are complete. If retention has removed the beginning of a partition, it is the time of the
 * oldest record there.
 */
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { RecordIn, TopicPartition } from '../../ports/index.ts'
import { poolOf } from './record-facts.ts'

export interface CompleteTimes {
  executions: number
  control: number
}

export class CompleteFrom {
  readonly #names: TopicNames
  readonly #seen = new Set<string>()
  times: CompleteTimes

  /** `least`: nothing before this time is read, epoch ms. */
  constructor(names: TopicNames, least = 0, times: CompleteTimes = { executions: least, control: least }) {
    this.#names = names
    this.times = times
  }

  /** The beginning of the partition was read in an earlier run. */
  known({ topic, partition }: TopicPartition): void {
    this.#seen.add(`${topic}/${partition}`)
  }

  /** Retention has removed all records of the partition. Later ones are complete from `nowMs` on. */
  begins({ topic, partition }: TopicPartition, earliest: number, nowMs: number): void {
    if (earliest > 0 && !this.#seen.has(`${topic}/${partition}`)) this.#cut(topic, nowMs)
  }

  /** Uses the first record of a partition whose beginning is gone. */
  note({ topic, partition, offset, timestampMs }: Pick<RecordIn, 'topic' | 'partition' | 'offset' | 'timestampMs'>): void {
    const place = `${topic}/${partition}`
    if (this.#seen.has(place)) return
    this.#seen.add(place)
    if (offset === 0) return
    this.#cut(topic, timestampMs)
  }

  #cut(topic: string, atMs: number): void {
    const kind = topic === this.#names.control ? 'control' : poolOf(this.#names, topic) === undefined ? undefined : 'executions'
    if (kind !== undefined) this.times = { ...this.times, [kind]: Math.max(this.times[kind], atMs) }
  }
}
