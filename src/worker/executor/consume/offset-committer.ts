/**
 * Commits for each lane the offset up to which every record is done. A commit means accepted, not finished: the owner's lease
 * covers what runs. There is a timer only while there is something to commit, or to tell with a commit (told-runs.ts). A commit that
 * fails, for example during a rebalance, leaves its lanes to the next one. Until then a crash would mean redelivery. So the last
 * commit before a lane goes to another worker is repeated.
 */
import type { TopicNames } from '../../../../streams/topics/index.ts'
import { type Clock, waitFor } from '../../../ground/clock/index.ts'
import { withTimeout } from '../../../ground/concurrency/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { Log, Position } from '../../../ground/ports/index.ts'
import { isClosed } from '../../../ground/records/index.ts'
import type { Lane } from './lane.ts'

export const commitIntervalMs = 1_000
/** A group refuses commits between the two steps of a join, which takes about this long. */
const commitAgainMs = 100
/** How long redelivered runs wait until the group takes the offsets that pass them. */
const startCommitMsMax = 3_000

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
      await waitFor(commitAgainMs, this.#clock)
  }

  /** The same before redelivered runs start. */
  commitStarts(): Promise<void> {
    return this.commitWithin(startCommitMsMax)
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

/** How long a look may take, and how long one without an answer takes. */
const lookMs = 2_000

export interface OrphanedLanesOptions {
  log: Log
  names: TopicNames
  pool: string
  clock: Clock
  logger: Logger
  committer: OffsetCommitter
}

/**
 * Finds out whether the last readers of these lanes may have died: they have not closed what they had read. Sets isOrphaned, and leaves it
 * unknown without an answer. A closed lane is committed as open before any of its runs starts. It never rejects.
 */
export async function lookForOrphans(lanes: readonly Lane[], options: OrphanedLanesOptions): Promise<void> {
  const { clock, logger, pool, committer } = options
  const epochs = lanes.map(({ epoch }) => epoch)
  const told = await withTimeout(clock, lookMs, toldOf(lanes, options))
  if (told === undefined) return
  for (const [at, lane] of lanes.entries()) {
    if (lane.epoch !== epochs[at]) continue
    lane.isOrphaned = !isClosed(told.get(`${lane.topic}/${lane.partition}`), clock.nowMs())
  }
  const partitions = lanes.filter(({ isOrphaned }) => isOrphaned).length
  if (partitions > 0)
    logger.info(
      { event: 'partitions-orphaned', pool, partitions },
      'The last workers of some partitions did not say that they left. What they may have started starts again, one by one at first.',
    )
  const closed = lanes.filter(({ isOrphaned }) => isOrphaned === false)
  for (const lane of closed) committer.touch(lane)
  if (closed.length > 0) await committer.commitStarts()
}

/** The metadata of their committed offsets. */
async function toldOf(lanes: readonly Lane[], { log, names, pool, logger }: OrphanedLanesOptions): Promise<Map<string, string>> {
  try {
    const told = new Map<string, string>()
    const admin = await log.admin()
    const topics = [...new Set(lanes.map(({ topic }) => topic))]
    const committed = await admin
      .committedOf(names.group(`exec.${pool}`), topics)
      .finally(() => void admin.close().catch(() => {}))
    for (const [topic, offsets] of committed)
      for (const { partition, metadata } of offsets) if (metadata !== undefined) told.set(`${topic}/${partition}`, metadata)
    return told
  } catch (error) {
    logger.debug({ event: 'offsets-not-read', err: error }, 'The committed offsets could not be read.')
    // The next look begins when the time for this one is over.
    return new Promise(() => {})
  }
}
