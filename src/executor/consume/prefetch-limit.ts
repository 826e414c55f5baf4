/** How much of the hold each lane may have. */
import type { Lane } from './lane.ts'

/**
 * Records taken and not started, shared evenly by the lanes of this worker; a lane at its share is paused until it is
 * below half. A share is overrun by at most the one batch that reached it.
 */
export const HELD_RECORDS_MAX = 60_000
export const HELD_BYTES_MAX = 32 * 1024 * 1024
const LANE_RECORDS_MIN = 250
const LANE_RECORDS_MAX = 5_000
const LANE_BYTES_MIN = 512 * 1024
/** Taken and not committed in one lane: what stands behind a record that is held long is done, but cannot be committed. */
export const UNCOMMITTED_PER_LANE_MAX = 50_000

export class PrefetchLimit {
  #recordsMax = LANE_RECORDS_MAX
  #bytesMax = LANE_BYTES_MIN

  divide(lanes: number): void {
    const share = (total: number): number => Math.floor(total / Math.max(lanes, 1))
    this.#recordsMax = Math.min(Math.max(share(HELD_RECORDS_MAX), LANE_RECORDS_MIN), LANE_RECORDS_MAX)
    this.#bytesMax = Math.max(share(HELD_BYTES_MAX), LANE_BYTES_MIN)
  }

  isUsedUp(lane: Lane): boolean {
    return lane.held >= this.#recordsMax || lane.heldBytes >= this.#bytesMax || lane.uncommitted >= UNCOMMITTED_PER_LANE_MAX
  }

  /** Below half, so that a lane is not opened and closed for each record. */
  hasRoom(lane: Lane): boolean {
    const half = lane.held * 2 <= this.#recordsMax && lane.heldBytes * 2 <= this.#bytesMax
    return half && lane.uncommitted < UNCOMMITTED_PER_LANE_MAX
  }
}
