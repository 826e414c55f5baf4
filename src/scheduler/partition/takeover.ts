/** claiming and draining: from a nearly up-to-date store to the right to fire. */
import { atSteady, trustedMs } from '../../clock/index.ts'
import type { Laps } from '../../concurrency/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { PartitionStore } from '../../ports/index.ts'
import type { TurnResult } from '../commit/index.ts'
import { firstOffset, type Range, rangeOf, readableEnd, type Source, shrunk } from '../input/index.ts'
import { isBesideTheLog, ownerKey, positionKey, putKeptDefinitions, readEntry } from '../state/index.ts'
import type { TimeIndex } from '../timers/index.ts'
import { definitionsBeganAnew, goOn, judgeLoss } from './invalid-positions.ts'
import { type Ownership, quietMs } from './partition-context.ts'
import { leaveLog } from './replaced-changelog.ts'

/** Where each input ended once nobody else could fire, and when that was asked, by the steady clock. */
export type InputEnds = Record<Source, Range> & { askedAtMs: number }

/** After so long nobody goes by these ends any more. */
const endsFreshMs = 1_000

/** What does not come is asked for once more, at last so often. */
const nudgeMsMax = 60_000

/**
 * Takes the transactional id, which ends the previous owner, and reads the changelog up to our own claim record: the state is then the
 * fold of all committed transactions. Resolves with where the inputs ended when the previous owner had been fenced.
 */
export async function claim(own: Ownership, store: PartitionStore, took: Laps): Promise<InputEnds> {
  own.enter('claiming')
  // Whoever fires still is not fenced by one that could not.
  await own.untilTrusted()
  const { log, prefix, names, codecs, instance, clock } = own.shared
  // Only a live member may fence, or an owner on its way out and its successor would fence each other for ever; and only one that is to own
  // it still: the group may have shared out anew since.
  const mayFence = (): Promise<unknown> => Promise.race([own.orClosed(own.feed.nextHeartbeat()), own.interrupted])
  const first = { topic: names.state, partition: own.partition }
  const writer = await log.transactionalWriter(`${prefix}scheduler-${own.partition}`, { mayFence, first })
  own.writer = writer
  took.lap('fenceMs')
  // Nobody fires from here on. Whatever was decided or acknowledged before stands before these ends.
  const asked = endsOf(own)
  asked.catch(() => undefined)
  const before = (await readEntry(codecs, store, ownerKey))?.owner?.claimedAt ?? 0
  const claimedAt = Math.max(clock.nowMs(), before + 1)
  const value = codecs.state.encode({ owner: { instance, claimedAt, zoneRules: own.zones.own } })
  // The claim itself may be read before its commit is answered.
  const readBefore = own.applied.state
  const offsets = await writer.commit([{ topic: names.state, partition: own.partition, key: ownerKey, value }])
  took.lap('claimMs')
  const claimOffset = firstOffset(offsets, names.state, own.partition)
  if (own.otherLog === undefined && claimOffset < readBefore) throw await leaveLog(own, store, 'ours', readBefore)
  await own.until(() => own.applied.state > claimOffset)
  took.lap('readMs')
  own.feed.close('state')
  const ends = await asked
  await own.otherLog?.log({ claimOffset, claimedAt, value })
  const position = (await readEntry(own.shared.codecs, store, positionKey))?.position ?? null
  if (isBesideTheLog({ jobsOffset: own.applied.jobs, claimOffset: own.claimOffset }, position)) await startOver(own, store)
  if (await definitionsBeganAnew(own, store, { claimOffset, claimedAt }, ends.jobs)) await startOver(own, store)
  own.claimOffset = claimOffset
  goOn(own, position, claimedAt, ends)
  own.zones.taken(position)
  return ends
}

/** Where the inputs begin and end, asked for all of them and all partitions together. */
async function endsOf({ shares, shared, partition }: Ownership): Promise<InputEnds> {
  const ends = shares.ends
  const askedAtMs = shared.clock.steadyMs()
  const asked = [ends.jobs.ask(partition), ends.commands.ask(partition), ends.events.ask(partition)] as const
  const [jobs, commands, events] = await Promise.all(asked)
  return { jobs, commands, events, askedAtMs }
}

/** Reopens the partition with an empty store. */
async function startOver(own: Ownership, store: PartitionStore): Promise<never> {
  own.store = undefined
  await store.close()
  await own.shared.stores.wipe(own.partition)
  throw new DuelogError('fenced', 'The local store is not one that these logs make; it is built anew.')
}

/**
 * Folds what was sent before the takeover, so that a deletion acknowledged then is seen before any timer fires. Definitions come first:
 * no event, command or timer may find a state whose definition is still unread. It has no time limit: where the log is slow, the
 * partition waits for it.
 */
export async function drain(own: Ownership, store: PartitionStore, index: TimeIndex, ends: InputEnds): Promise<void> {
  await putKeptDefinitions(own.shared.codecs, store)
  own.enter('draining')
  const foldMail = (): Promise<TurnResult> => own.turn(store, index)
  const { mayBeLost } = own
  if (mayBeLost) {
    // Without a position there is no state that a report could find.
    own.feed.open('events', own.applied.events)
    await readToEnd(own, 'events', ends.events, foldMail)
    judgeLoss(own)
  }
  await readToEnd(own, 'jobs', ends.jobs, foldMail)
  await own.logPosition(store, index)
  // That may have taken minutes, and what was acknowledged meanwhile is older than the first timer that fires.
  const isOld = own.shared.clock.steadyMs() - ends.askedAtMs >= endsFreshMs
  const { jobs, commands } = isOld ? await endsOf(own) : ends
  if (isOld) await readToEnd(own, 'jobs', jobs, foldMail)
  own.feed.open('commands', own.applied.commands)
  if (!mayBeLost) own.feed.open('events', own.applied.events)
  await readToEnd(own, 'commands', commands, foldMail)
}

/**
 * Folds what the source held when its range was asked for: up to where readers of committed records can get. What stands behind a client's
 * open transaction nobody can read before that ends; it is like what is sent later.
 */
async function readToEnd(own: Ownership, source: Source, range: Range, foldMail: () => Promise<TurnResult>): Promise<void> {
  const { clock } = own.shared
  let end = readableEnd(range)
  if (source === 'jobs') own.catchUp.restoreEnd = end
  let waitMs = quietMs
  let seen = { at: -1, since: 0 }
  while (!own.hasFolded(source, end)) {
    const at = own.feed.reach(source)
    if (at !== seen.at) {
      seen = { at, since: clock.steadyMs() }
      waitMs = quietMs
    } else if (at < end && clock.steadyMs() - seen.since >= waitMs) {
      own.feed.nudge(source)
      // What was to come may have expired meanwhile, or its topic was made anew: then it never comes.
      end = Math.min(end, await endToRead(own, source))
      seen = { at, since: clock.steadyMs() }
      waitMs = Math.min(2 * waitMs, nudgeMsMax)
    }
    const { folded } = await foldMail()
    if (folded > 0 || own.hasFolded(source, end)) continue
    // Nothing is folded while the clock is not trusted.
    if (trustedMs(clock) === undefined) {
      await own.untilTrusted()
      continue
    }
    const untilMs = atSteady(clock, seen.since + waitMs)
    await own.nap(own.feed.reach(source) < end ? untilMs : Number.POSITIVE_INFINITY)
  }
}

async function endToRead(own: Ownership, source: Source): Promise<number> {
  const { admin, names } = own.shared
  const readTo = own.feed.next(source)
  const range = await rangeOf(admin, names[source], own.partition)
  if (range.next < readTo) throw shrunk(names[source], own.partition, range.next, readTo)
  return readableEnd(range)
}
