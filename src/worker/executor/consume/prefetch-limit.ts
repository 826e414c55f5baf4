/** The prefetch limit of each lane. */
import type { Lane } from './lane.ts'

/**
 * Records taken and not started, divided evenly among the lanes of this worker. A lane that reaches its share is paused until it
 * is below half. It exceeds its share by at most one batch.
 */
export const heldRecordsMax = 60_000
export const heldBytesMax = 32 * 1024 * 1024
const laneRecordsMin = 250
const laneRecordsMax = 5_000
const laneBytesMin = 512 * 1024
/**
 * Limit of records taken and not committed in one lane: records after one that is held long are done, but cannot be committed.
 */
export const uncommittedPerLaneMax = 50_000

export class PrefetchLimit {
  #recordsMax = laneRecordsMax
  #bytesMax = laneBytesMin

  divide(lanes: number): void {
    const share = (total: number): number => Math.floor(total / Math.max(lanes, 1))
    this.#recordsMax = Math.min(Math.max(share(heldRecordsMax), laneRecordsMin), laneRecordsMax)
    this.#bytesMax = Math.max(share(heldBytesMax), laneBytesMin)
  }

  isUsedUp(lane: Lane): boolean {
    return lane.held >= this.#recordsMax || lane.heldBytes >= this.#bytesMax || lane.entries.size >= uncommittedPerLaneMax
  }

  /** Below half, so that a lane does not open and close for each record. */
  hasRoom(lane: Lane): boolean {
    const half = lane.held * 2 <= this.#recordsMax && lane.heldBytes * 2 <= this.#bytesMax
    return half && lane.entries.size < uncommittedPerLaneMax
  }
}
