/**
 * following: a standby keeps up with the logs, and decides nothing. Definitions are folded as far as the position says that they are
 * decided, and that comes with job-state; so the store is at any time one that its owner, too, could have after a restore.
 */

import type { Job } from '../../streams/job.ts'
import { indexKeysOf, mayChangeIndex } from '../../streams/job-index.ts'
import { definitionKey, jobIdOfKey, prefix, stateKey, storedDefinition, timerKey } from '../../streams/keys.ts'
import { timersOf } from '../../streams/timers.ts'
import type { RecordIn } from '../ports.ts'
import type { SchedulerCodecs } from './codecs.ts'
import { knownDefinition } from './job-loader.ts'
import type { Ownership } from './ownership.ts'
import type { PartitionStore, StoreOp } from './ports.ts'
import { loggedState } from './stored-entry.ts'
import type { TimeIndex } from './time-index.ts'
import { waiterOps } from './waiter-ops.ts'
import { followZones } from './zone-looks.ts'

/** Resolves when the group has made this standby the owner. */
export async function follow(own: Ownership, store: PartitionStore, index: TimeIndex): Promise<void> {
  own.isExact = true
  own.enter('following')
  const { logger } = own.shared
  const { partition } = own
  logger.info({ partition, behind: own.catchUp.behindRecords }, `Partition ${partition} is followed.`)
  while (own.role === 'standby') {
    own.catchUp.measureBehind()
    if (own.mailbox.nextOffset < own.logged.jobsOffset) await own.turn(store, index)
    else {
      const lookAt = await followZones(own, store)
      await own.keepFresh(store, index)
      await own.nap(lookAt)
    }
  }
  logger.info({ partition, behind: own.catchUp.behindRecords }, `The standby of partition ${partition} takes over.`)
  own.catchUp.read = 0
  // What was learned of runs while others decided about them is out of date.
  own.underWay.clear()
}

const none = Buffer.alloc(0)

/**
 * As changelogOps (restore.ts), and what followed from the states before is removed: a standby may follow for months, and each run leaves
 * timers behind. Costs a read for each state.
 */
export async function exactOps(codecs: SchedulerCodecs, store: PartitionStore, records: readonly RecordIn[]): Promise<StoreOp[]> {
  const ops: StoreOp[] = []
  const states = new Map<string, Buffer | null>()
  for (const { key, value } of records) {
    if (key === null) continue
    ops.push({ key, value })
    if (key[0] === prefix.state) states.set(jobIdOfKey(key), value)
  }
  const ids = [...states.keys()]
  const stored = await store.get(ids.flatMap((id) => [stateKey(id), definitionKey(id)]))
  for (const [at, id] of ids.entries()) {
    const [was, is, definition] = [stored[2 * at], states.get(id), stored[2 * at + 1]]
    const before: Job = { id }
    const after: Job = { id }
    if (was) before.state = await loggedState(codecs, id, was)
    if (is) after.state = await loggedState(codecs, id, is)
    // All follows from the state where there is one.
    if (definition && (before.state === undefined || after.state === undefined)) {
      before.definition = after.definition = await knownDefinition(codecs, storedDefinition(definition))
    }
    ops.push(...differenceOf(before, after))
  }
  return ops
}

function differenceOf(before: Job, after: Job): StoreOp[] {
  const keysOf = (job: Job): Buffer[] => timersOf(job).map(timerKey)
  const gone = keysOf(before)
  const there = keysOf(after)
  if (mayChangeIndex(before, after) || (before.state === undefined) !== (after.state === undefined)) {
    gone.push(...indexKeysOf(before))
    there.push(...indexKeysOf(after))
  }
  const ops = waiterOps(after.id, before.state, after.state, () => undefined)
  for (const key of gone) if (!there.some((other) => other.equals(key))) ops.push({ key, value: null })
  for (const key of there) ops.push({ key, value: none })
  return ops
}
