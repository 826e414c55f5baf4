/** How owners and standbys check jobs after a change of time zone rules (timers/zone-rules.ts) beside their other work. */
import { type Timer, timerKind } from '../../../streams/state/index.ts'
import { counted } from '../../../streams/text/index.ts'
import { ZoneWalk, zoneJobsPerCheck } from '../timers/index.ts'
import type { PartitionContext } from './partition-context.ts'

/** The check of an owner, beside firing. */
export class ZoneChecks {
  readonly #context: PartitionContext
  readonly #onTimerScheduled: (timer: Timer) => void

  constructor(context: PartitionContext, onTimerScheduled: (timer: Timer) => void) {
    this.#context = context
    this.#onTimerScheduled = onTimerScheduled
    if (context.local.zones.isStale) begin(context)
  }

  /** When `timers` has work again; Infinity: never. */
  get nextCheckAt(): number {
    return this.#context.local.zones.walk?.nextCheckAt ?? Number.POSITIVE_INFINITY
  }

  get areDone(): boolean {
    return this.nextCheckAt === Number.POSITIVE_INFINITY
  }

  /**
   * Timers for the current commit cycle, which also takes `others` timers: jobs whose next time moves. While failure isolation
   * limits a cycle, this takes no more than the limit, but at least one: an idle partition's limit does not grow, so it would
   * never finish otherwise.
   */
  async timers(others = 0): Promise<Timer[]> {
    const {
      failureIsolation,
      local: { zones },
    } = this.#context
    const { walk } = zones
    const most = failureIsolation.fitting(zoneJobsPerCheck, others)
    return walk === undefined || !walk.isDue || most < 1 ? [] : walk.checkNext(this.#onTimerScheduled, most)
  }

  /** Call it after that commit cycle: its timers are decided then, except the deferred ones. */
  async cycleEnded(deferred: readonly { timer: Timer }[]): Promise<void> {
    if (deferred.some(({ timer }) => timer.kind === timerKind.zone)) return
    const context = this.#context
    if (context.local.zones.walk?.isDone !== true) return
    end(context, true)
    await context.logPosition(true)
  }
}

/** A standby only sets timers; the owner writes to the log. Resolves with the time of the next call. */
export async function followZones(context: PartitionContext): Promise<number> {
  const {
    local: { zones },
  } = context
  if (zones.store === zones.own) return Number.POSITIVE_INFINITY
  zones.walk ??= begin(context)
  const { walk } = zones
  if (walk.isDue) await context.assignment.alone(() => walk.checkNext(() => undefined))
  if (walk.isDone) end(context, false)
  return walk.nextCheckAt
}

function begin(context: PartitionContext): ZoneWalk {
  const {
    partition,
    shared,
    local: { zones, store },
  } = context
  const { logged, store: inStore } = zones
  shared.logger.info(
    { event: 'zone-rules-check-started', partition, logged, store: inStore, own: zones.own },
    `The next times of partition ${partition} may follow other time zone rules than ${zones.own}: its jobs are checked.`,
  )
  zones.walk = new ZoneWalk(partition, store, shared)
  return zones.walk
}

function end(context: PartitionContext, isOwner: boolean): void {
  const {
    partition,
    shared,
    local: { zones },
  } = context
  const { checked = 0, moved = 0 } = zones.walk?.view ?? {}
  zones.checked(isOwner)
  shared.logger.info(
    { event: 'zone-rules-checked', partition, checked, moved },
    `Partition ${partition} follows the time zone rules ${zones.own}: ${counted(checked, 'job')} checked, ${moved} moved.`,
  )
}
