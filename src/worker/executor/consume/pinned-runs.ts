/** Runs that are pinned to this worker and not done. They have their own lanes, which no group commits. */
import type { Execution } from '../../../../schemas/index.ts'
import { priorities } from '../../../../streams/topics/index.ts'
import { BoundedMap } from '../../../ground/concurrency/index.ts'
import type { RecordIn } from '../../../ground/ports/index.ts'
import { attemptKey } from './cancellations.ts'
import { type Entry, Lane, type LaneHost } from './lane.ts'

/** Limit of pinned runs held at once. Beyond it, worker-control is paused until half of them have started. */
export const pinnedHeldMax = 10_000
/** Limit of their records' bytes. The record that reaches it is still taken. */
export const pinnedHeldBytesMax = 32 * 1024 * 1024
/** Attempts that are remembered as taken. The oldest go first. */
export const pinnedKnownMax = 2 * pinnedHeldMax

export class PinnedRuns {
  readonly #lanes = new Map<string, Lane>()
  readonly #known = new BoundedMap<string, true>(pinnedKnownMax)
  readonly #host: LaneHost = { onReleased: () => this.#released(), onAdvanced: () => {} }
  #room: (() => void)[] = []

  /** Undefined if the record, or another one of the same attempt, was taken before: owners send again what has not started. */
  take(record: RecordIn, execution: Execution): Entry | undefined {
    const { topic, partition } = record
    const attempt = `${attemptKey(execution)}\0${execution.specOffset}`
    if (this.#known.has(attempt)) return undefined
    this.#known.set(attempt, true)
    const level = Math.max(priorities.indexOf(execution.priority), 0)
    const key = `${partition}/${level}`
    let lane = this.#lanes.get(key)
    if (lane === undefined) {
      lane = new Lane({ topic, partition, level, ahead: false }, this.#host)
      this.#lanes.set(key, lane)
    }
    // Known attempts were skipped above, so an offset that comes again is from a recreated topic.
    if (record.offset < (lane.next ?? 0)) lane.next = undefined
    const entry = lane.take(record, execution)
    if (entry !== undefined) entry.startsReported = mayHaveStarted(record, execution)
    return entry
  }

  #released(): void {
    const { held, heldBytes } = this
    if (held * 2 <= pinnedHeldMax && heldBytes * 2 <= pinnedHeldBytesMax) for (const resolve of this.#room.splice(0)) resolve()
  }

  /** Resolves at once unless too many are held. */
  room(): Promise<void> {
    if (this.held < pinnedHeldMax && this.heldBytes < pinnedHeldBytesMax) return Promise.resolve()
    return new Promise((resolve) => this.#room.push(resolve))
  }

  get held(): number {
    let held = 0
    for (const lane of this.#lanes.values()) held += lane.held
    return held
  }

  get heldBytes(): number {
    let bytes = 0
    for (const lane of this.#lanes.values()) bytes += lane.heldBytes
    return bytes
  }

  heldEntries(): Entry[] {
    return [...this.#lanes.values()].flatMap((lane) => lane.entries.held())
  }
}

/**
 * Whether another worker may have started the run and ended before it said so: its owner has sent it again, a lease after it was due, or to
 * another worker, as another attempt.
 */
const mayHaveStarted = ({ timestampMs }: RecordIn, { attempt, dueAt, dispatchedAt, leaseMs }: Execution): boolean =>
  attempt > 1 || timestampMs - Math.max(dueAt, dispatchedAt) >= leaseMs / 2
