/** claiming and draining: from a nearly up-to-date store to the right to fire. */

import { markHeader, markKey } from '../../streams/mark.ts'
import { DuelogError } from '../errors.ts'
import { putKeptDefinitions } from './kept-definitions.ts'
import { isBesideTheLog, ownerKey, positionKey, readEntry } from './local-record.ts'
import { rangeOf } from './log-ends.ts'
import { type Ownership, quietMs } from './ownership.ts'
import type { PartitionStore } from './ports.ts'
import type { TimeIndex } from './time-index.ts'
import type { TurnResult } from './turn.ts'

/**
 * Takes the transactional id, which ends the previous owner, and reads the changelog up to our own claim record: the state is then the
 * fold of all committed transactions.
 */
export async function claim(own: Ownership, store: PartitionStore): Promise<void> {
  own.enter('claiming')
  // Whoever fires still is not fenced by one that could not.
  await own.untilTrusted()
  const { log, prefix, names, codecs, instance, clock } = own.shared
  // Only a live member may fence, or an owner on its way out and its successor would fence each other for ever.
  await own.orClosed(own.feed.nextHeartbeat())
  const writer = await log.transactionalWriter(`${prefix}scheduler-${own.partition}`)
  own.writer = writer
  const value = codecs.state.encode({ owner: { instance, claimedAt: clock.nowMs(), zoneRules: own.zones.own } })
  const offsets = await writer.commit([{ topic: names.state, partition: own.partition, key: ownerKey, value }])
  const claimOffset = offsets.get(`${names.state}/${own.partition}`) ?? 0
  await own.until(() => own.applied.state > claimOffset)
  own.feed.close('state')
  const position = (await readEntry(own.shared.codecs, store, positionKey))?.position ?? null
  if (isBesideTheLog({ jobsOffset: own.applied.jobs, claimOffset: own.claimOffset }, position)) await startOver(own, store)
  own.claimOffset = claimOffset
  own.applied.commands = position?.commandsOffset ?? 0
  own.applied.events = position?.eventsOffset ?? 0
  own.zones.taken(position)
  own.logged = { jobsOffset: position?.jobsOffset ?? 0, aheadUntil: position?.aheadUntil ?? 0 }
}

/** Reopens the partition with an empty store. */
async function startOver(own: Ownership, store: PartitionStore): Promise<never> {
  own.store = undefined
  await store.close()
  await own.shared.stores.wipe(own.partition)
  throw new DuelogError('fenced', 'The local store went on while another process owned the partition; it is built anew.')
}

/**
 * Folds what was sent before the takeover, so that a deletion acknowledged then is seen before any timer fires. Definitions come first:
 * no event, command or timer may find a state whose definition is still unread. It has no time limit: where the log is slow, the
 * partition waits for it.
 */
export async function drain(own: Ownership, store: PartitionStore, index: TimeIndex): Promise<void> {
  await putKeptDefinitions(own.shared.codecs, store)
  own.enter('draining')
  const foldMail = (): Promise<TurnResult> => own.turn(store, index)
  await readToEnd(own, 'jobs', foldMail)
  await own.logPosition(store, index)
  own.feed.open('commands', own.applied.commands)
  own.feed.open('events', own.applied.events)
  await readToEnd(own, 'commands', foldMail)
}

/** Folds all mail, and that of the source up to where its log ends now. */
async function readToEnd(own: Ownership, source: 'jobs' | 'commands', foldMail: () => Promise<TurnResult>): Promise<void> {
  const { admin, names, clock } = own.shared
  let end = readableEnd(await rangeOf(admin, names[source], own.partition))
  if (source === 'jobs') own.catchUp.restoreEnd = end
  let seen = { at: -1, since: 0 }
  let marked = false
  for (;;) {
    const at = own.feed.next(source)
    if (at >= end && own.mailbox.depth === 0) return
    if (at !== seen.at) seen = { at, since: clock.steadyMs() }
    else if (!marked && at < end && clock.steadyMs() - seen.since >= quietMs) {
      marked = true
      end = await mark(own, source)
    }
    const { folded } = await foldMail()
    if (folded === 0) await own.nap(marked ? Number.POSITIVE_INFINITY : clock.nowMs() + seen.since + quietMs - clock.steadyMs())
  }
}

/** A log whose records have all expired has an end that is never read. */
const readableEnd = ({ earliest, next }: { earliest: number; next: number }): number => (earliest < next ? next : 0)

/**
 * Writes a record that says nothing behind what is still to be read, and resolves with the offset after it. A log may end with what no
 * reader is shown, such as the end of a foreign client's transaction; from outside that looks like a broker that does not answer.
 */
async function mark(own: Ownership, source: 'jobs' | 'commands'): Promise<number> {
  const topic = own.shared.names[source]
  const headers = { [markHeader]: own.shared.instance }
  const offsets = await own.shares.asides.write([{ topic, partition: own.partition, key: markKey, value: null, headers }])
  return (offsets.get(`${topic}/${own.partition}`) ?? 0) + 1
}
