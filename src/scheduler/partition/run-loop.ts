/** active: the loop that fires. */
import type { Timer } from '../../../streams/state/index.ts'
import { trustedMs } from '../../clock/index.ts'
import type { PartitionStore } from '../../ports/index.ts'
import { batchRecordsMax, TimerTaker } from '../commit/index.ts'
import { Sweeper, type TimeIndex } from '../timers/index.ts'
import { IdlePosition } from './idle-position.ts'
import { Closed, RoleChanged } from './interruption.ts'
import type { Ownership } from './partition-context.ts'
import { ZoneLooks } from './zone-checks.ts'

/** Ahead lanes hold nothing that is due later than this from now: twice the most that DUELOG_LEAD_MS_MAX allows. */
const aheadMsMax = 120_000

/** A timer that waits for reports is overdue and not lost. */
const sweepAt = ({ reports }: Ownership, sweeper: Sweeper): number =>
  reports.depth === 0 ? sweeper.lookAt : Number.POSITIVE_INFINITY

/**
 * Never resolves: it ends with an error, or with Closed. Between two commits it lingers, so that they carry more, unless something is
 * due already, somebody waits for an answer, or a batch is full. Definitions are folded meanwhile.
 */
export async function fireForEver(own: Ownership, store: PartitionStore, index: TimeIndex): Promise<never> {
  const { shared, mailbox, partition } = own
  const { clock, lingerMs, metrics } = shared
  const taker = new TimerTaker(index, store, shared, own.weights)
  const written = (timer: Timer): void => taker.written(timer)
  own.admissions.open(trustedMs(clock) ?? 0)
  const sweeper = new Sweeper(store, shared)
  const zones = new ZoneLooks(own, store, index, written)
  let lingerUntil = 0
  let isStopped = false
  const position = new IdlePosition(own)
  for (;;) {
    const now = trustedMs(clock)
    endIfLeft(own, now)
    if (now === undefined) {
      isStopped = true
      await own.nap(Number.POSITIVE_INFINITY)
      continue
    }
    // What was heard meanwhile was noted by the wrong time, or not read yet.
    if (isStopped) own.leases.grant(now)
    isStopped = false
    taker.defer(own.reports.look().map((timer) => ({ timer, untilMs: now })))
    const { dueAt } = taker
    const overdue = dueAt <= now
    // Of what is not known without a scan nobody can say how late it is.
    own.dueAt = dueAt === 0 ? now : dueAt
    metrics.timersOverdue.set({ partition }, overdue ? 1 : 0)
    metrics.mailboxDepth.set({ partition }, mailbox.depth)
    // The end of a linger may have been read by a clock that was ahead.
    const lingers = now < lingerUntil && now >= lingerUntil - lingerMs
    if (lingers && !overdue && !own.admissions.isPressing(now) && !mailbox.urgent && mailbox.depth < batchRecordsMax) {
      if (!mailbox.hasDefinitions) {
        await own.nap(lingerUntil)
        continue
      }
      // They mostly need no commit (invariant I2), so whoever waits for one of them need not wait for the next.
      mailbox.definitionsNext()
      const { committed } = await own.turn(store, index, [], { written })
      if (committed) lingerUntil = clock.nowMs() + lingerMs
      continue
    }
    // Asked once: what is taken and what the turn has room for must be of one mind.
    const isForWaiters = own.narrowing.isForWaiters(own.admissions, now)
    const timers = isForWaiters ? [] : await takeTimers(own, taker, zones, now)
    // What was due when it was taken is due, also when the clock was set back since.
    const options = { written, isForWaiters, notBeforeMs: now }
    const result = await own.turn(store, index, timers, options).finally(() => own.shares.heavy.done(own))
    taker.defer(result.deferred)
    own.reports.hold(result.awaiting)
    if (result.committed) lingerUntil = clock.nowMs() + lingerMs
    await zones.looked(result.deferred)
    if (result.folded > 0 || own.admissions.isPressing(clock.nowMs())) continue
    await index.compactPassed()
    // Nothing was due, and nothing was read.
    const idleAt = trustedMs(clock)
    if (idleAt === undefined) continue
    if (own.reports.depth === 0 && sweeper.isDue && zones.areDone && taker.dueAt > idleAt) {
      const stray = await sweeper.look(idleAt, written)
      taker.defer(stray.map((timer) => ({ timer, untilMs: idleAt })))
    }
    await position.look(store, index)
    await own.keepFresh(store, index)
    await own.nap(Math.min(taker.wakeAt(clock.nowMs()), own.wakeAt, position.lookAt, sweepAt(own, sweeper), zones.lookAt))
  }
}

/** Throws what ends the firing of a partition that was given to another member. While the clock is not trusted nobody knows when that is. */
function endIfLeft(own: Ownership, now: number | undefined): void {
  if (now === undefined ? !own.isLeaving : own.shared.clock.steadyMs() < own.leavingAt) return
  if (own.role === 'standby') throw new RoleChanged()
  own.beginClose()
  throw new Closed()
}

/** The timers of the next turn. */
async function takeTimers(own: Ownership, taker: TimerTaker, zones: ZoneLooks, now: number): Promise<Timer[]> {
  // A clock that was ahead may have filled the ahead lanes for hours: workers give that back.
  const { aheadUntil } = own.logged
  const aheadFrom = aheadUntil > now + aheadMsMax ? 0 : aheadUntil
  const mayTakeHeavy = (): boolean => own.shares.heavy.begin(own, () => own.signal.wake())
  const timers = await taker.take(now, own.mailbox.depth > 0, aheadFrom, own.narrowing, mayTakeHeavy)
  return [...timers, ...(await zones.look(timers.length))]
}
