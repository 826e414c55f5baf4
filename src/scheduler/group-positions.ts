/**
 * Commits the positions of owners to the group, and their lag to the metrics, for tools that look at consumer groups:
 * kafka-consumer-groups.sh, Burrow, KEDA. No owner reads these positions; its own are in job-state with its decisions
 * (invariant I2).
 */
import type { TopicNames } from '../../streams/topics/index.ts'
import type { Clock } from '../ground/clock/index.ts'
import type { Metrics } from '../ground/metrics/index.ts'
import type { Position } from '../ground/ports/index.ts'
import type { Shared } from './options/index.ts'
import type { Partition } from './partition/index.ts'

/** Interval between two commits of a process. Each commit has the changes of all its partitions. */
export const commitEveryMs = 5_000

/** The part of a partition that is needed. A store means that it fires and that no other member can own it. */
interface OwnedPartition {
  number: number
  store: unknown
  inputs: Partition['inputs']
}

interface Options {
  clock: Clock
  metrics: Metrics
  logger: Shared['logger']
  names: TopicNames
}

export class GroupPositions {
  readonly #options: Options
  readonly #partitions: () => Iterable<OwnedPartition>
  readonly #commit: (positions: Position[]) => Promise<void>
  /** Committed positions by topic and partition; bounded by the owned partitions. */
  #committed = new Map<string, number>()
  #shown = new Map<string, { topic: string; partition: number }>()
  #commitTimer: (() => void) | undefined
  #stopped = false

  constructor(options: Options, partitions: () => Iterable<OwnedPartition>, commit: (positions: Position[]) => Promise<void>) {
    this.#options = options
    this.#partitions = partitions
    this.#commit = commit
  }

  start(): void {
    const { clock } = this.#options
    if (this.#stopped) return
    this.#commitTimer = clock.at(clock.nowMs() + commitEveryMs, () => void this.#commitChanges().finally(() => this.start()))
  }

  stop(): void {
    this.#stopped = true
    this.#commitTimer?.()
  }

  async #commitChanges(): Promise<void> {
    const { logger } = this.#options
    const positions = this.#positions()
    const fresh = positions.filter((position) => this.#committed.get(placeOf(position)) !== position.offset)
    for (const place of this.#committed.keys()) if (!this.#shown.has(place)) this.#committed.delete(place)
    if (fresh.length === 0) return
    try {
      await this.#commit(fresh)
      for (const position of fresh) this.#committed.set(placeOf(position), position.offset)
    } catch (error) {
      // For example during a rebalance. The next commit includes it.
      logger.debug(
        { event: 'group-positions-not-committed', err: error },
        'The positions of the owners could not be committed to the group.',
      )
    }
  }

  #positions(): Position[] {
    const { names, metrics } = this.#options
    const positions: Position[] = []
    const shown = new Map<string, { topic: string; partition: number }>()
    for (const owned of this.#partitions()) {
      const { number: partition, store } = owned
      if (store === undefined) continue
      for (const { source, done, end } of owned.inputs()) {
        const position = { topic: names[source], partition, offset: done }
        positions.push(position)
        shown.set(placeOf(position), { topic: position.topic, partition })
        metrics.inputLag.set({ topic: position.topic, partition }, end - done)
      }
    }
    for (const [place, labels] of this.#shown) if (!shown.has(place)) metrics.inputLag.remove(labels)
    this.#shown = shown
    return positions
  }
}

const placeOf = ({ topic, partition }: { topic: string; partition: number }): string => `${topic}/${partition}`
