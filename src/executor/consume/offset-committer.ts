/**
 * Commits for each lane the offset up to which every record is done. A commit means accepted, not finished: the owner's lease
 * covers what runs. There is a timer only while there is something to commit, or to tell with a commit (told-runs.ts). A commit that
 * fails, for example during a rebalance, leaves its lanes to the next one. Until then a crash would mean redelivery. So the last
 * commit before a lane goes to another worker is repeated.
 */
import type { Clock } from '../../clock/index.ts'
import { withTimeout } from '../../concurrency/index.ts'
import type { Logger } from '../../logging/index.ts'
import type { Position } from '../../ports/index.ts'
import type { Lane } from './lane.ts'

export const commitIntervalMs = 1_000
/** A group refuses commits between the two steps of a join, which takes about this long. */
const commitAgainMs = 100

export class OffsetCommitter {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #commit: (positions: Position[]) => Promise<void>
  readonly #dirty = new Set<Lane>()
  #cancelTimer: (() => void) | undefined
  #inFlight: Promise<boolean> = Promise.resolve(true)
  #stopped = false

  constructor(clock: Clock, logger: Logger, commit: (positions: Position[]) => Promise<void>) {
    this.#clock = clock
    this.#logger = logger
    this.#commit = commit
  }

  /** An entry of this lane is done. */
  touch(lane: Lane): void {
    this.#dirty.add(lane)
    this.#arm()
  }

  /**
   * Commits all completed entries now. False if the group refused it. One at a time: if a commit is refused, the one that waited for it
   * includes what it left.
   */
  commitNow(): Promise<boolean> {
    this.#inFlight = this.#inFlight.then(() => this.#run())
    return this.#inFlight
  }

  /** Commits all completed entries, again every 100 ms while the group refuses it. Resolves after `limitMs` at the latest. */
  async commitWithin(limitMs: number): Promise<void> {
    const beganMs = this.#clock.steadyMs()
    const leftMs = (): number => limitMs - (this.#clock.steadyMs() - beganMs)
    while (leftMs() > 0 && (await withTimeout(this.#clock, leftMs(), this.commitNow())) !== true)
      await new Promise<void>((resolve) => this.#clock.at(this.#clock.nowMs() + commitAgainMs, resolve))
  }

  stop(): void {
    this.#stopped = true
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #arm(): void {
    if (this.#cancelTimer !== undefined || this.#stopped) return
    this.#cancelTimer = this.#clock.at(this.#clock.nowMs() + commitIntervalMs, () => {
      this.#cancelTimer = undefined
      void this.commitNow()
    })
  }

  async #run(): Promise<boolean> {
    const lanes = [...this.#dirty]
    this.#dirty.clear()
    const committing: { lane: Lane; epoch: number; position: Position }[] = []
    for (const lane of lanes) {
      const position = lane.committable(this.#clock.nowMs())
      if (position !== undefined) committing.push({ lane, epoch: lane.epoch, position })
      if (lane.isTelling) this.touch(lane)
    }
    if (committing.length === 0) return true
    try {
      await this.#commit(committing.map(({ position }) => position))
      for (const { lane, epoch, position } of committing)
        if (lane.epoch === epoch) lane.committed(position.offset, this.#clock.nowMs())
      return true
    } catch (error) {
      this.#logger.debug(
        { event: 'offsets-not-committed', err: error },
        'Offsets could not be committed; the next commit includes them.',
      )
      for (const { lane } of committing) this.#dirty.add(lane)
      this.#arm()
      return false
    }
  }
}
