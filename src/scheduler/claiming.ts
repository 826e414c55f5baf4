/** claiming and draining: from a nearly up-to-date store to the right to fire. */

import { markHeader } from './intake.ts'
import { ownerKey, positionKey } from './local-record.ts'
import { rangeOf } from './log-ends.ts'
import { type Ownership, quietMs } from './ownership.ts'
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

const drained = ['jobs', 'commands'] as const

/**
 * Folds what was sent before the takeover, so that a deletion acknowledged then is seen before any timer fires, and no timer finds a
 * state whose definition is still unread. It has no time limit: where the log is slow, the partition waits for it.
 */
export async function drain(own: Ownership, store: PartitionStore, index: TimeIndex, epoch: number): Promise<void> {
  own.mailbox.putBack(await reconcile(own.shared.codecs, store, own.touched, own.applied.jobs))
  own.enter('draining')
  const { admin, names, clock } = own.shared
  const position = (await own.entry(store, positionKey))?.position
  own.applied.commands = position?.commandsOffset ?? 0
  own.applied.events = position?.eventsOffset ?? 0
  own.ahead.until = position?.aheadUntil ?? 0
  const ends = {
    jobs: readableEnd(await rangeOf(admin, names.jobs, own.partition)),
    commands: readableEnd(await rangeOf(admin, names.commands, own.partition)),
  }
  own.restoreEnd = ends.jobs
  own.feed.open('commands', own.applied.commands)
  own.feed.open('events', own.applied.events)
  let seen = { at: -1, since: 0 }
  let marked = false
  for (;;) {
    const behind = drained.filter((source) => own.feed.next(source) < ends[source])
    if (behind.length === 0 && own.mailbox.depth === 0) return
    const at = own.feed.next('jobs') + own.feed.next('commands')
    if (at !== seen.at) seen = { at, since: clock.nowMs() }
    else if (!marked && behind.length > 0 && clock.nowMs() - seen.since >= quietMs) {
      marked = true
      for (const source of behind) ends[source] = await mark(own, source)
    }
    const { folded } = await own.turn(store, index, epoch, [])
    if (folded === 0) await own.nap(marked ? Number.POSITIVE_INFINITY : seen.since + quietMs)
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
  const offsets = await own.shares.asides.write([{ topic, partition: own.partition, key: markHeader, value: null, headers }])
  return (offsets.get(`${topic}/${own.partition}`) ?? 0) + 1
}
