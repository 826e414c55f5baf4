/**
 * How far the topics of a partition were read, and from when on dispatches are complete. The records of one run are in several topics, so a run is judged only when all
 * topics were read up to its time. No topic is read much further than the others, because open runs would fill the memory.
 */

import type { TopicNames } from '../../../../streams/topics/index.ts'
import type { RecordIn, TopicPartition } from '../../../ground/ports/index.ts'
import { poolOf } from './record-facts.ts'

/** Largest lead of one topic over another, by record time. */
const paceMs = 30_000
/** Rounds without progress after which the end of a compacted topic counts as reached: compaction may have removed its last records. */
const stillRoundsMax = 3

interface Lane extends TopicPartition {
  /** Offset to read next; undefined: from the beginning. */
  next: number | undefined
  /** End offset of the topic at the last query. */
  end: number
  latestMs: number
  paused: boolean
  stillRounds: number
  nextBefore: number | undefined
}

export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  /** When the end offsets were queried, epoch ms. */
  #endsAt: number | undefined

  constructor(places: readonly TopicPartition[], positions: ReadonlyMap<string, number>) {
    for (const { topic, partition } of places) {
      const next = positions.get(topic)
      const lane = { topic, partition, next, end: 0, latestMs: 0, paused: false, stillRounds: 0, nextBefore: undefined }
      this.#lanes.set(topic, lane)
    }
  }

  get places(): TopicPartition[] {
    return [...this.#lanes.values()].map(({ topic, partition }) => ({ topic, partition }))
  }

  get paused(): TopicPartition[] {
    return [...this.#lanes.values()].filter(({ paused }) => paused)
  }

  /** Next offsets of the topics that were read. */
  positions(): Map<string, number> {
    return new Map([...this.#lanes].flatMap(([topic, { next }]) => (next === undefined ? [] : [[topic, next]])))
  }

  nextOf(topic: string): number {
    return this.#lanes.get(topic)?.next ?? 0
  }

  get behindRecords(): number {
    return [...this.#lanes.values()].reduce((sum, lane) => sum + Math.max(0, lane.end - (lane.next ?? 0)), 0)
  }

  /** Everything before `next` was read; `latestMs`: time of the last record. */
  passed(topic: string, next: number, latestMs?: number): void {
    const lane = this.#lanes.get(topic)
    if (lane === undefined) return
    lane.next = Math.max(lane.next ?? 0, next)
    if (latestMs !== undefined) lane.latestMs = Math.max(lane.latestMs, latestMs)
  }

  /** End offsets of the topics at `atMs`. `isCompacted`: compaction may have removed the last records. */
  ended(topic: string, { earliest, next: end }: { earliest: number; next: number }, isCompacted: boolean): void {
    const lane = this.#lanes.get(topic)
    if (lane === undefined) return
    if (earliest === end || (lane.next !== undefined && lane.next < earliest)) lane.next = Math.max(lane.next ?? 0, earliest)
    const isStill = lane.next === lane.nextBefore && end === lane.end
    lane.stillRounds = isStill && isCompacted && (lane.next ?? 0) < end ? lane.stillRounds + 1 : 0
    lane.nextBefore = lane.next
    lane.end = end
    if (lane.stillRounds >= stillRoundsMax) lane.next = end
  }

  /** To be called after the end offsets were queried. */
  looked(atMs: number): void {
    this.#endsAt = atMs
  }

  /** Time up to which all topics were read: the time of the end query, or the record time of the topics that are behind. */
  watermark(): { watermark: number; isAtEnd: boolean } | undefined {
    if (this.#endsAt === undefined) return undefined
    const behind = this.#behind()
    if (behind.length === 0) return { watermark: this.#endsAt, isAtEnd: true }
    return { watermark: Math.min(this.#endsAt, ...behind.map(({ latestMs }) => latestMs)), isAtEnd: false }
  }

  /** Topics that must wait for others, and topics that may continue. */
  pace(): { pause: TopicPartition[]; resume: TopicPartition[] } {
    const until = Math.min(...this.#behind().map(({ latestMs }) => latestMs)) + paceMs
    const change = { pause: [] as TopicPartition[], resume: [] as TopicPartition[] }
    for (const lane of this.#lanes.values()) {
      const ahead = lane.latestMs > until
      if (ahead === lane.paused) continue
      lane.paused = ahead
      change[ahead ? 'pause' : 'resume'].push({ topic: lane.topic, partition: lane.partition })
    }
    return change
  }

  #behind(): Lane[] {
    return [...this.#lanes.values()].filter(({ next = 0, end }) => next < end)
  }
}

/**
 * The time from which dispatches are complete. If retention has removed the beginning of a partition, it is the time of the
 * oldest record there.
 */
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
