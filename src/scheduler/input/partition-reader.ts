/** One partition's view of the reader: its four topics, the next offset of each, and which of them are being read. */
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { GroupReader, Position, TopicPartition } from '../../ground/ports/index.ts'
import type { Source } from './input-buffer.ts'

export type ReadSource = Source | 'state'
export const readSources: readonly ReadSource[] = ['jobs', 'commands', 'events', 'state']

export class PartitionReader {
  readonly #reader: GroupReader
  readonly #names: TopicNames
  readonly #partition: number
  readonly #open = new Set<ReadSource>()
  /** Open topics that are paused by backpressure. */
  readonly #held = new Set<ReadSource>()
  readonly #next = new Map<ReadSource, number>()
  readonly #openings = new Map<ReadSource, number>()
  /** Offset up to which the reader has returned every visible record since the topic was opened or rewound. */
  readonly #passed = new Map<ReadSource, number>()
  /** Last known end of the log, with records that nobody can read yet. */
  readonly #ends = new Map<ReadSource, number>()
  /** True: nothing more is read, even if the group assigns the partition. An owner that shuts down applies only the records it has. */
  isSilent = false

  constructor(reader: GroupReader, names: TopicNames, partition: number) {
    this.#reader = reader
    this.#names = names
    this.#partition = partition
  }

  /** The next offset to be received. */
  next(source: ReadSource): number {
    return this.#next.get(source) ?? 0
  }

  received(source: ReadSource, next: number): void {
    this.#next.set(source, next)
  }

  /** The reader has returned every visible record before `next`. */
  passed(source: ReadSource, next: number): void {
    if (this.#open.has(source)) this.#passed.set(source, Math.max(next, this.#passed.get(source) ?? 0))
  }

  end(source: ReadSource): number {
    return this.#ends.get(source) ?? 0
  }

  ended(source: ReadSource, end: number): void {
    if (this.#open.has(source)) this.#ends.set(source, end)
  }

  /** Every visible record before this offset was received. It may be above `next` if the log ends with records that readers do not see. */
  reach(source: ReadSource): number {
    return Math.max(this.next(source), this.#passed.get(source) ?? 0)
  }

  /** Reads the topic from an offset. */
  open(source: ReadSource, offset: number): void {
    this.#next.set(source, offset)
    this.#passed.delete(source)
    this.#ends.delete(source)
    this.#openings.set(source, this.openings(source) + 1)
    this.#open.add(source)
    this.#held.delete(source)
    this.#reader.seek({ ...this.#at(source), offset })
    this.#resume(source)
  }

  /** Stops reading. Records that still arrive are unwanted. */
  close(source: ReadSource): void {
    this.#openings.set(source, this.openings(source) + 1)
    this.#open.delete(source)
    this.#held.delete(source)
    this.#reader.pause([this.#at(source)])
  }

  /** Pauses reading. Records that were fetched already still count. */
  hold(source: ReadSource): void {
    if (!this.#open.has(source)) return
    this.#held.add(source)
    this.#reader.pause([this.#at(source)])
  }

  /** Pauses reading, and later continues at the next offset to be received. */
  rewind(source: ReadSource): void {
    if (!this.#open.has(source)) return
    this.hold(source)
    this.#passed.delete(source)
    this.#reader.seek({ ...this.#at(source), offset: this.next(source) })
  }

  /** Fetches the following records once more, because the reader may have passed invisible records unnoticed. A running fetch is repeated. */
  nudge(source: ReadSource): void {
    if (this.#flows(source)) this.#reader.seek({ ...this.#at(source), offset: this.next(source) })
  }

  release(source: ReadSource): void {
    if (this.#held.delete(source)) this.#resume(source)
  }

  /** Changes each time the topic is opened or closed. So a caller that has waited can tell whether its records are still wanted. */
  openings(source: ReadSource): number {
    return this.#openings.get(source) ?? 0
  }

  isOpen(source: ReadSource): boolean {
    return this.#open.has(source)
  }

  /** Positions and pauses for the reader when the group assigns the partition again. */
  assignment(): { positions: Position[]; paused: TopicPartition[] } {
    const positions: Position[] = []
    for (const [source, offset] of this.#next) positions.push({ ...this.#at(source), offset })
    return {
      positions,
      paused: readSources.filter((source) => !this.#flows(source)).map((source) => this.#at(source)),
    }
  }

  nextHeartbeat(): Promise<void> {
    return this.#reader.nextHeartbeat()
  }

  get isMember(): boolean {
    return this.#reader.isMember
  }

  #flows(source: ReadSource): boolean {
    return this.#open.has(source) && !this.#held.has(source) && !this.isSilent
  }

  #resume(source: ReadSource): void {
    if (this.#flows(source)) this.#reader.resume([this.#at(source)])
  }

  #at(source: ReadSource): TopicPartition {
    return { topic: this.#names[source], partition: this.#partition }
  }
}
