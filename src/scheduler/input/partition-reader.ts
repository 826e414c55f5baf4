/** One partition's view of the reader: its four topics, where each is read next, and which of them flow. */
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { GroupReader, Position, TopicPartition } from '../../ports/index.ts'
import type { Source } from './input-buffer.ts'

export type ReadSource = Source | 'state'
export const readSources: readonly ReadSource[] = ['jobs', 'commands', 'events', 'state']

export class PartitionReader {
  readonly #reader: GroupReader
  readonly #names: TopicNames
  readonly #partition: number
  readonly #open = new Set<ReadSource>()
  /** Open, but more than can be held was read. */
  readonly #held = new Set<ReadSource>()
  readonly #next = new Map<ReadSource, number>()
  readonly #openings = new Map<ReadSource, number>()
  /** Up to where the reader has shown all that there is to see since the topic was opened or rewound. */
  readonly #passed = new Map<ReadSource, number>()
  /** Where the log ended when that was heard last, with what nobody can read yet. */
  readonly #ends = new Map<ReadSource, number>()
  /** True: nothing more is read, though the group may give it to us: an owner on its way out folds what it has. */
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

  /** The reader has shown all before `next`. */
  passed(source: ReadSource, next: number): void {
    if (this.#open.has(source)) this.#passed.set(source, Math.max(next, this.#passed.get(source) ?? 0))
  }

  end(source: ReadSource): number {
    return this.#ends.get(source) ?? 0
  }

  ended(source: ReadSource, end: number): void {
    if (this.#open.has(source)) this.#ends.set(source, end)
  }

  /** Everything before it that readers can see was received. It may lie behind the next record, where a log ends with what is not shown. */
  reach(source: ReadSource): number {
    return Math.max(this.next(source), this.#passed.get(source) ?? 0)
  }

  /** Reads the topic from an offset on. */
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

  /** Reads no further; what still comes is not wanted. */
  close(source: ReadSource): void {
    this.#openings.set(source, this.openings(source) + 1)
    this.#open.delete(source)
    this.#held.delete(source)
    this.#reader.pause([this.#at(source)])
  }

  /** Reads no further for now; what was fetched already still counts. */
  hold(source: ReadSource): void {
    if (!this.#open.has(source)) return
    this.#held.add(source)
    this.#reader.pause([this.#at(source)])
  }

  /** Reads no further for now, and begins again at the next offset to be received. */
  rewind(source: ReadSource): void {
    if (!this.#open.has(source)) return
    this.hold(source)
    this.#passed.delete(source)
    this.#reader.seek({ ...this.#at(source), offset: this.next(source) })
  }

  /** Asks for what follows once more, in case that what is not shown was passed unnoticed. What is under way is fetched again. */
  nudge(source: ReadSource): void {
    if (this.#flows(source)) this.#reader.seek({ ...this.#at(source), offset: this.next(source) })
  }

  release(source: ReadSource): void {
    if (this.#held.delete(source)) this.#resume(source)
  }

  /** Changes whenever the topic is opened or closed: who waited can tell whether what it holds is still wanted. */
  openings(source: ReadSource): number {
    return this.#openings.get(source) ?? 0
  }

  isOpen(source: ReadSource): boolean {
    return this.#open.has(source)
  }

  /** What the reader has to be told when the group assigns the partition again. */
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
