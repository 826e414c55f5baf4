/**
 * When an idle owner logs how far it has read although it has nothing else to log. Standbys fold definitions no further than that, and
 * a successor would take for lost what has expired behind it: heartbeats, marks, and what is shown to nobody.
 */
import { atSteady } from '../../clock/index.ts'
import type { PartitionStore } from '../../ports/index.ts'
import { lookMs } from '../state/index.ts'
import type { TimeIndex } from '../timers/index.ts'
import type { PartitionContext } from './partition-context.ts'

/** Who gave the partition away and has nothing to fire learns with such a commit that its successor does, and ends. */
const leavingMs = 200
/** A copy that lacks more is not warm (partition-context.ts), also where no standbys are wanted: a newcomer follows before it owns. */
const unloggedMax = 1_000
/** How long definitions, and the ends of transactions behind commands, stay unlogged while nothing else is done. */
const idleMs = 1_000

export class IdlePosition {
  readonly #context: PartitionContext
  /** By the steady clock. */
  #dueAt = Number.POSITIVE_INFINITY

  constructor(context: PartitionContext) {
    this.#context = context
  }

  /** When to call `look` again. */
  get lookAt(): number {
    return atSteady(this.#context.shared.clock, this.#dueAt)
  }

  /** To be called while nothing is due and nothing was read. */
  async look(store: PartitionStore, index: TimeIndex): Promise<void> {
    const context = this.#context
    const steadyMs = context.shared.clock.steadyMs()
    const waitMs = this.#waitMs
    if (waitMs < Number.POSITIVE_INFINITY && this.#dueAt <= steadyMs) {
      await context.logPosition(store, index, true)
      this.#dueAt = Number.POSITIVE_INFINITY
    } else this.#dueAt = waitMs < Number.POSITIVE_INFINITY ? Math.min(this.#dueAt, steadyMs + waitMs) : waitMs
  }

  get #waitMs(): number {
    const context = this.#context
    if (context.isLeaving) return leavingMs
    const isFollowed =
      (context.shared.standbys ?? 0) > 0 || context.applied.jobs - context.changelogState.jobsOffset > unloggedMax
    if (isFollowed && context.isUnlogged('jobs')) return idleMs
    if (context.isUnlogged('commands')) return idleMs
    // Workers report all the time, and clients define; each of that is worth no commit.
    return context.isUnlogged('events') || context.isUnlogged('jobs') ? lookMs : Number.POSITIVE_INFINITY
  }
}
