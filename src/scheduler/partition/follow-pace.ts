/**
 * How many runs follow a change of workers or pauses in one commit cycle. Due timers of other jobs wait for the end of a cycle, and how
 * long a run takes depends on the machine: 500 took 20 ms on an idle one and 700 ms on a busy one. So it follows what cycles take.
 */

/** Runs that follow in one commit cycle, at most and at least. Where a cycle of a few runs is slow too, still fewer would take longer together and help nobody. */
const followedMax = 500
const followedMin = 100
/** How long such a cycle should take. */
const cycleMs = 50

export class FollowPace {
  /** The first cycle takes the least: nothing is known yet. */
  #max = followedMin

  /** For the next cycle. */
  get max(): number {
    return this.#max
  }

  /** A cycle has ended in which so many followed. One that had few of them says little about more. */
  cycleEnded(followed: number, tookMs: number): void {
    if (followed < followedMin) return
    const fitting = Math.floor((followed * cycleMs) / Math.max(tookMs, 1))
    this.#max = Math.min(Math.max(Math.min(fitting, this.#max * 2), followedMin), followedMax)
  }
}
