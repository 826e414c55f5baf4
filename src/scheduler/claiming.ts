/** claiming and draining: from a nearly up-to-date store to the right to fire. */
import { ownerKey, positionKey } from './local-record.ts'
import { endOf } from './log-ends.ts'
import type { Ownership } from './ownership.ts'
import type { PartitionStore } from './ports.ts'
import { reconcile } from './reconcile.ts'
import type { TimeIndex } from './time-index.ts'

/**
 * Takes the transactional id, which ends the previous owner, and reads the changelog up to our own claim record: the state is then the
 * fold of all committed transactions. Resolves with the claim's number.
 */
export async function claim(own: Ownership, store: PartitionStore): Promise<number> {
  own.enter('claiming')
  const { log, prefix, names, codecs, instance, clock } = own.shared
  // Only a live member may fence, or an owner on its way out and its successor would fence each other for ever.
  await own.orClosed(own.feed.nextHeartbeat())
  const writer = await log.transactionalWriter(`${prefix}scheduler-${own.partition}`)
  own.writer = writer
  const epoch = ((await own.entry(store, ownerKey))?.owner?.epoch ?? 0) + 1
  const value = codecs.state.encode({ owner: { instance, epoch, claimedAt: clock.nowMs() } })
  const offsets = await writer.commit([{ topic: names.state, partition: own.partition, key: ownerKey, value }])
  const claimedAt = offsets.get(`${names.state}/${own.partition}`) ?? 0
  await own.until(() => own.applied.state > claimedAt)
  own.feed.close('state')
  return epoch
}

/** Folds what was sent before the takeover, so that a deletion acknowledged then is seen before any timer fires. */
export async function drain(own: Ownership, store: PartitionStore, index: TimeIndex, epoch: number): Promise<void> {
  own.mailbox.putBack(await reconcile(own.shared.codecs, store, own.touched, own.applied.jobs))
  own.enter('draining')
  const { admin, names } = own.shared
  const position = (await own.entry(store, positionKey))?.position
  own.applied.commands = position?.commandsOffset ?? 0
  own.applied.events = position?.eventsOffset ?? 0
  own.ahead.until = position?.aheadUntil ?? 0
  const jobs = await endOf(admin, names.jobs, own.partition)
  const commands = await endOf(admin, names.commands, own.partition)
  own.restoreEnd = jobs
  own.feed.open('commands', own.applied.commands)
  own.feed.open('events', own.applied.events)
  while (own.applied.jobs < jobs || own.applied.commands < commands || own.mailbox.depth > 0) {
    const { folded } = await own.turn(store, index, epoch, [])
    if (folded === 0 && !(await own.more())) break
  }
}
