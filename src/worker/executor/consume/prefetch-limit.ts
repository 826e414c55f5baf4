/**
 * How much this worker takes before it can start it. All lanes share one limit of records and bytes. A lane may use what the lanes that
 * hold something leave: alone all of it, beside others an even share. What is dealt to lanes without records would be lost to a burst,
 * which is in one topic.
 */
import type { Lane } from './lane.ts'

/** Records taken and not started (ADR 0144). They are exceeded by at most the least share of each lane and one batch. */
export const heldRecordsMax = 120_000
export const heldBytesMax = 32 * 1024 * 1024
/** What a lane may hold whatever the others hold, so that none waits for another, such as that of a higher priority. */
const laneRecordsMin = 250
const laneBytesMin = 512 * 1024
/**
 * Limit of records taken and not committed in one lane: records after one that is held long are done, but cannot be committed.
 */
export const uncommittedPerLaneMax = 50_000

export class PrefetchLimit {
  #records = 0
  #bytes = 0
  /** Lanes that hold something. */
  #loaded = 0

  /** A lane holds so many more records and bytes, or fewer. */
  changed(lane: Lane, records: number, bytes: number): void {
    if (records === 0) return
    this.#records += records
    this.#bytes += bytes
    if (lane.held === 0) this.#loaded--
    else if (lane.held === records) this.#loaded++
  }

  isUsedUp(lane: Lane): boolean {
    return this.#exceeds(lane, 1) || lane.entries.size >= uncommittedPerLaneMax
  }

  /** Below half, so that a lane does not open and close for each record. */
  hasRoom(lane: Lane): boolean {
    return !this.#exceeds(lane, 0.5) && lane.entries.size < uncommittedPerLaneMax
  }

  #exceeds({ held, heldBytes }: Lane, part: number): boolean {
    const least = held < part * laneRecordsMin && heldBytes < part * laneBytesMin
    const share = part / Math.max(this.#loaded, 1)
    const isOverShare = held >= share * heldRecordsMax || heldBytes >= share * heldBytesMax
    const whole = (1 + part) / 2
    return !least && (isOverShare || this.#records >= whole * heldRecordsMax || this.#bytes >= whole * heldBytesMax)
  }
}
