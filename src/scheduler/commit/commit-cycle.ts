/**
 * One turn of an owned partition: take what is due and what was read, fold it, commit it, apply it.
 *
 * Crash points, in order, and what the next owner finds:
 *   before the commit is sent   nothing happened; inputs are read again from the logged position
 *   sent, not committed         the fence aborts the transaction; as above
 *   committed, not applied      the store is behind; the tail of the changelog repairs it
 *   applied                     done; the store's own record says so
 * The store is written only after the commit (invariant I3), in one batch with the record of where it stands.
 */
import type { Timer } from '../../../streams/state/index.ts'
import { trustedMs } from '../../clock/index.ts'
import { type Mail, mailName, timerName } from '../input/index.ts'
import { fold } from './apply-batch.ts'
import type { Folded } from './batch-result.ts'
import type { TurnContext } from './commit-context.ts'
import { count, measureDispatches } from './commit-metrics.ts'
import { commit, localRecord, passed } from './transaction.ts'

/** Records of one commit; timers get at most their share while mail waits, so that a herd cannot hold deletions up. */
export const batchRecordsMax = 1_000
export const timerShare = 0.7
const batchBytesMax = 1024 * 1024
/**
 * Definitions say by themselves what follows from them, so they need no commit. Now and then one says how many were folded: what the
 * position covers a successor may read before it takes over.
 */
const unloggedDefinitionsMax = 10_000

/** What a turn did. `blocked`: the next mail needs a claim first. */
export interface TurnResult {
  folded: number
  committed: boolean
  blocked: boolean
  deferred: Folded['deferred']
  awaiting: Folded['awaiting']
}

export interface TurnOptions {
  /** Hears of each timer before it is put into the store. Default: the time index does. */
  written?: (timer: Timer) => void
  /** Whether the turn is for one run alone that waits for a slot (failure-isolation.ts). Default: no. */
  isForWaiters?: boolean
  /** The turn's time is no earlier, whatever the clock says. Default: 0. */
  notBeforeMs?: number
}

export async function turn(context: TurnContext, timers: Timer[], options: TurnOptions = {}): Promise<TurnResult> {
  const { written = (timer: Timer): void => context.index.written(timer), notBeforeMs = 0 } = options
  const { mailbox, shared, writer } = context
  const readMs = writer === undefined ? shared.clock.nowMs() : trustedMs(shared.clock)
  // Nothing is decided by a clock that is not trusted: timers wait as they were, and mail where it is.
  const asTheyWere = (timer: Timer): Folded['deferred'][number] => ({ timer, untilMs: notBeforeMs })
  if (readMs === undefined) return { folded: 0, committed: false, blocked: false, awaiting: [], deferred: timers.map(asTheyWere) }
  const now = Math.max(readMs, notBeforeMs)
  const most = options.isForWaiters ? timers.length : context.narrowing.max
  const room = most < batchRecordsMax ? most - timers.length : Math.max(most - timers.length, Math.ceil(most * (1 - timerShare)))
  const mailFirst = mailbox.hasWaited
  const mails = mailbox.take(room, batchBytesMax)
  if (timers.length + mails.length === 0 && !context.admissions.isPressing(now))
    return { folded: 0, committed: false, blocked: false, deferred: [], awaiting: [] }
  const { names, codecs, leadMs, targets, metrics, logger } = shared
  const { partition, store, leases, workers, underWay, admissions, weights, narrowing } = context
  const foldContext = {
    partition,
    partitions: shared.partitions,
    ...{ names, codecs, store, leases, workers, underWay, admissions, weights, narrowing, leadMs },
    ...{ mailFirst, aheadFrom: context.logged.aheadUntil },
    eventsReadUntil: context.reports.readUntil,
    awaitingMax: context.reports.room,
    decidedBefore: context.logged.jobsOffset,
    isExact: context.isExact ?? false,
    zonesMayDiffer: context.zones?.mayDiffer ?? false,
    targets,
    metrics,
    logger,
  }
  // Until the fold has chosen, any of them may be what it fails with.
  let tried = [...timers.map(timerName), ...mails.map(mailName)]
  try {
    const folded = await fold(foldContext, timers, mails, now, writer !== undefined)
    tried = folded.names
    if (folded.mailFolded < mails.length) mailbox.putBack(mails.slice(folded.mailFolded))
    const committed = await persist(context, folded, mails.slice(0, folded.mailFolded), written)
    if (tried.length > 0) narrowing.succeeded(tried)
    count(shared, folded.notes)
    const { timersFolded, mailFolded, waitersAsked, blocked, deferred, awaiting } = folded
    return { folded: timersFolded + mailFolded + waitersAsked, committed, blocked, deferred, awaiting }
  } catch (error) {
    narrowing.failed(tried, error)
    throw error
  }
}

async function persist(context: TurnContext, folded: Folded, mails: Mail[], written: (timer: Timer) => void): Promise<boolean> {
  const { effects } = folded
  const { applied, store, shared } = context
  const folding = { ...applied }
  for (const mail of mails) folding[mail.source] = Math.max(folding[mail.source], mail.offset + 1)
  const next = passed(context, folding)
  const { changelog, ops } = effects.finish(written, (waiter) => context.admissions.written(waiter))
  if (effects.asides.length > 0) await context.asides.write(effects.asides)
  // A command that changed nothing must not be folded again when there is something for it to change.
  const logged =
    effects.logged ||
    mails.some(({ source }) => source === 'commands') ||
    next.jobs - context.logged.jobsOffset >= unloggedDefinitionsMax
  const aheadUntil = Math.max(context.logged.aheadUntil, folded.aheadUntil)
  if (logged) {
    await commit(context, next, { ops, records: [...effects.out, ...changelog], targets: effects.targets, aheadUntil, mails })
    measureDispatches(shared, folded)
    return true
  }
  if (ops.length > 0 || mails.length > 0) {
    ops.push(localRecord(context, next))
    await store.apply(ops)
  }
  Object.assign(applied, next)
  return false
}
