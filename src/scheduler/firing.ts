/** active: the loop that fires. */
import type { Timer } from '../../streams/keys.ts'
import { Closed, RoleChanged } from './endings.ts'
import type { Ownership } from './ownership.ts'
import type { PartitionStore } from './ports.ts'
import { Sweeper } from './sweeper.ts'
import type { TimeIndex } from './time-index.ts'
import { TimerTaker } from './timer-taker.ts'
import { batchRecordsMax } from './turn.ts'

/** How long definitions from which nothing has followed yet stay unknown to standbys, while nothing else is done. */
const idlePositionMs = 1_000

/** Standbys fold no further than the changelog says that the owner has. */
const isUnlogged = ({ shared, applied, logged }: Ownership): boolean =>
  (shared.standbys ?? 0) > 0 && applied.jobs > logged.jobsOffset

/**
 * Never resolves: it ends with an error, or with Closed. Between two commits it lingers, so that they carry more, unless something is
 * due already, somebody waits for an answer, or a batch is full. Definitions are folded meanwhile.
 */
export async function fireForEver(own: Ownership, store: PartitionStore, index: TimeIndex): Promise<never> {
  const { shared, mailbox } = own
  const { clock, lingerMs, metrics } = shared
  const { partition } = own
  const taker = new TimerTaker(index, store, shared, own.weights)
  const written = (timer: Timer): void => taker.written(timer)
  own.admissions.open(clock.nowMs())
  const sweeper = new Sweeper(store, shared)
  let lingerUntil = 0
  let positionAt = Number.POSITIVE_INFINITY
  for (;;) {
    const now = clock.nowMs()
    if (now >= own.leavingAt) {
      if (own.role === 'standby') throw new RoleChanged()
      own.beginClose()
      throw new Closed()
    }
    const { dueAt } = taker
    const overdue = dueAt <= now
    // Of what is not known without a scan nobody can say how late it is.
    own.dueAt = dueAt === 0 ? now : dueAt
    metrics.timersOverdue.set({ partition }, overdue ? 1 : 0)
    metrics.mailboxDepth.set({ partition }, mailbox.depth)
    if (now < lingerUntil && !overdue && !own.admissions.isPressing(now) && !mailbox.urgent && mailbox.depth < batchRecordsMax) {
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
    const timers = await taker.take(now, mailbox.depth > 0, own.logged.aheadUntil, own.narrowing)
    // What was due when it was taken is due, also when the clock was set back since.
    const result = await own.turn(store, index, timers, { written, notBeforeMs: now })
    taker.defer(result.deferred)
    if (result.committed) lingerUntil = clock.nowMs() + lingerMs
    if (result.folded > 0 || own.admissions.isPressing(clock.nowMs())) continue
    await index.compactPassed()
    // Nothing was due, and nothing was read.
    const idleAt = clock.nowMs()
    if (idleAt >= sweeper.lookAt && taker.dueAt > idleAt) await sweeper.look(idleAt, written)
    if (!isUnlogged(own)) positionAt = Number.POSITIVE_INFINITY
    else if (positionAt <= idleAt) await own.logPosition(store, index)
    else positionAt = Math.min(positionAt, idleAt + idlePositionMs)
    await own.keepFresh(store, index)
    await own.nap(Math.min(taker.wakeAt(clock.nowMs()), own.admissions.wakeAt, own.leavingAt, sweeper.lookAt, positionAt))
  }
}
