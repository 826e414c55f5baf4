/**
 * Decides when an idle owner logs its positions although it has nothing else to log. Standbys apply definitions only up to the
 * logged position. A successor would take records for lost that expired after it: heartbeats, marks, and records that no reader
 * is shown.
 */
import { atSteady } from '../../clock/index.ts'
import { idleCheckMs } from '../state/index.ts'
import type { PartitionContext } from './partition-context.ts'

/**
 * An owner that lost the partition in the group commits so often. Its next commit fails once the successor has fenced it, and
 * it ends.
 */
const leavingMs = 200
/**
 * A store that lacks more records is not warm (assignment.ts). This also applies without standbys: a new member follows
 * before it owns.
 */
const unloggedMax = 1_000
/** Maximum time that definitions, and ends of transactions after commands, stay unlogged while nothing else is committed. */
const idleMs = 1_000

export class IdlePosition {
  readonly #context: PartitionContext
  /** By the steady clock. */
  #dueAt = Number.POSITIVE_INFINITY

  constructor(context: PartitionContext) {
    this.#context = context
  }

  /** When `logIfDue` must be called again. */
  get nextCheckAt(): number {
    return atSteady(this.#context.shared.clock, this.#dueAt)
  }

  /** Call it while no timer is due and no input is waiting. */
  async logIfDue(): Promise<void> {
    const context = this.#context
    const steadyMs = context.shared.clock.steadyMs()
    const waitMs = this.#waitMs
    if (waitMs < Number.POSITIVE_INFINITY && this.#dueAt <= steadyMs) {
      await context.logPosition(true)
      this.#dueAt = Number.POSITIVE_INFINITY
    } else this.#dueAt = waitMs < Number.POSITIVE_INFINITY ? Math.min(this.#dueAt, steadyMs + waitMs) : waitMs
  }

  get #waitMs(): number {
    const context = this.#context
    const { positions } = context
    if (context.assignment.isLeaving) return leavingMs
    const isFollowed = (context.shared.standbys ?? 0) > 0 || positions.applied.jobs - positions.logged.jobsOffset > unloggedMax
    if (isFollowed && positions.isUnlogged('jobs')) return idleMs
    if (positions.isUnlogged('commands')) return idleMs
    // Reports and definitions arrive all the time. They are not worth a commit each.
    return positions.isUnlogged('events') || positions.isUnlogged('jobs') ? idleCheckMs : Number.POSITIVE_INFINITY
  }
}
