/** How far a process has read the partitions of a topic, and waits until it has read up to a place. */
import type { Clock } from '../clock/index.ts'
import type { Position } from '../ports/index.ts'

/** First offset of a partition that is kept, and the offset after its last record. */
export interface PartitionEnd {
  partition: number
  earliest: number
  next: number
}

export class ReadPositions {
  readonly #clock: Pick<Clock, 'at' | 'nowMs'>
  /** Next offset to read of each partition. */
  readonly #next = new Map<number, number>()
  readonly #waiting = new Set<() => void>()

  constructor(clock: Pick<Clock, 'at' | 'nowMs'>) {
    this.#clock = clock
  }

  /** The next offset to read; undefined before `set`. */
  get(partition: number): number | undefined {
    return this.#next.get(partition)
  }

  /** The partition is read from this offset on, also if it was read further before. */
  set(partition: number, offset: number): void {
    this.#next.set(partition, offset)
  }

  /** Everything before this offset has been read. Waits notice it at the next `wake`. */
  advance(partition: number, offset: number): void {
    this.#next.set(partition, Math.max(offset, this.#next.get(partition) ?? 0))
  }

  isRead({ partition, offset }: { partition: number; offset: number }): boolean {
    return offset < (this.#next.get(partition) ?? 0)
  }

  of(topic: string): Position[] {
    return Array.from(this.#next, ([partition, offset]) => ({ topic, partition, offset }))
  }

  /** An empty partition has always been read. */
  hasReached(ends: readonly PartitionEnd[]): boolean {
    return ends.every(({ partition, earliest, next }) => next === earliest || (this.#next.get(partition) ?? 0) >= next)
  }

  /** Waits until all ends are reached. False: they were not within the limit. */
  reached(ends: readonly PartitionEnd[], limitMs: number): Promise<boolean> {
    if (this.hasReached(ends)) return Promise.resolve(true)
    return new Promise((resolve) => {
      const end = (isReached: boolean): void => {
        cancelTimer()
        this.#waiting.delete(look)
        resolve(isReached)
      }
      const look = (): void => {
        if (this.hasReached(ends)) end(true)
      }
      const cancelTimer = this.#clock.at(this.#clock.nowMs() + limitMs, () => end(false))
      this.#waiting.add(look)
    })
  }

  wake(): void {
    for (const look of [...this.#waiting]) look()
  }
}
