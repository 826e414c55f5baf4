/** restoring and warming: from the logs to a store that is nearly up to date. The previous owner is not disturbed and fires on. */

import type { Batch } from '../ports.ts'
import { exactOps } from './following.ts'
import {
  isOfOtherVersion,
  localOp,
  ownerKey,
  positionKey,
  readEntry,
  readLocal,
  readLocalAndClaim,
  unusable,
} from './local-record.ts'
import { endOf, rangeOf } from './log-ends.ts'
import type { Ownership } from './ownership.ts'
import type { PartitionStore } from './ports.ts'
import { changelogOps } from './restore.ts'
import { withStoreFaults } from './store-faults.ts'
import type { TimeIndex } from './time-index.ts'

/** A partition so close to the end of a log goes on; the rest is read behind the claim. */
const nearlyCaughtUp = 1_000

/** More to read than this is a large restore; only so many of them go on side by side (slots.ts), small ones never wait. */
const largeRestore = 50_000

/** Where the logs of a partition end as it is restored. */
export interface Ends {
  state: number
  jobs: number
}

/** Opens the local store, or a new one, and finds out how much there is to read. */
export async function open(own: Ownership): Promise<{ store: PartitionStore; ends: Ends; large: boolean }> {
  own.enter('restoring')
  const { admin, names } = own.shared
  // By a wrong clock a good store may look too old, and an old one fresh.
  await own.untilTrusted()
  const store = await openStore(own)
  const { local, claim } = await readLocalAndClaim(own.shared.codecs, store)
  const state = await endOf(admin, names.state, own.partition)
  const jobs = await endOf(admin, names.jobs, own.partition)
  own.freshness.begin(local?.savedAtMs)
  own.zones.opened(local, claim)
  own.claimOffset = local?.claimOffset ?? -1
  own.applied = { jobs: local?.jobsOffset ?? 0, state: local?.stateOffset ?? 0, commands: 0, events: 0 }
  own.logged = { jobsOffset: 0, aheadUntil: 0 }
  own.catchUp.ends = { state, jobs }
  own.catchUp.read = 0
  const large = state - own.applied.state + jobs - own.applied.jobs > largeRestore
  // What is restored in bulk leaves timers behind that no longer count. A standby avoids it where that costs little.
  own.isExact = own.role === 'standby' && !large
  return { store, ends: { state, jobs }, large }
}

export async function restore(own: Ownership, store: PartitionStore, index: TimeIndex, { state, jobs }: Ends): Promise<void> {
  own.catchUp.restoreEnd = state
  own.catchUp.restoreBegin = own.applied.state
  own.progress()
  own.feed.open('state', own.applied.state)
  while (state - own.applied.state > nearlyCaughtUp && (await own.more()));
  const position = (await readEntry(own.shared.codecs, store, positionKey))?.position
  // Meanwhile a later one may have been read.
  own.logged.jobsOffset = Math.max(own.logged.jobsOffset, position?.jobsOffset ?? 0)
  // Of a log that was made anew nothing is decided; the claim sees to it.
  if (own.logged.jobsOffset > jobs) own.logged.jobsOffset = 0
  own.catchUp.restoreEnd = jobs
  own.catchUp.restoreBegin = own.applied.jobs
  own.enter('warming')
  own.feed.open('jobs', own.applied.jobs)
  while (jobs - own.applied.jobs > nearlyCaughtUp) {
    const { folded, blocked } = await own.turn(store, index)
    // What nobody has decided yet waits for the claim.
    if (blocked || (folded === 0 && !(await own.more()))) break
  }
}

/** Applies a slice of job-state, up to the claim. */
export async function receiveState(own: Ownership, records: Batch['records']): Promise<void> {
  const { store, shared } = own
  const last = records.at(-1)
  if (store === undefined || last === undefined) return
  const ops = own.isExact ? await exactOps(shared.codecs, store, records) : await changelogOps(shared.codecs, records)
  const next = last.offset + 1
  const { claimOffset, applied, savedAtMs, zones } = own
  const offsets = { jobsOffset: applied.jobs, stateOffset: next, claimOffset }
  ops.push(localOp({ clusterId: shared.clusterId, ...offsets, savedAtMs, zoneRules: zones.store }))
  await store.apply(ops)
  own.applied.state = next
  const position = records.findLast(({ key }) => key?.equals(positionKey))?.value
  if (position) own.logged.jobsOffset = (await shared.codecs.state.decode(position)).position?.jobsOffset ?? 0
  const claim = records.findLast(({ key }) => key?.equals(ownerKey))?.value
  if (claim) zones.claimed((await shared.codecs.state.decode(claim)).owner?.zoneRules)
  own.feed.received('state', next)
  own.catchUp.measureRestore()
}

async function openStore(own: Ownership): Promise<PartitionStore> {
  const { stores, logger, clock } = own.shared
  const { partition } = own
  const opened = await stores.open(partition)
  const watched = (store: PartitionStore): PartitionStore => own.catalogue.watch(withStoreFaults(store), () => clock.nowMs())
  own.store = watched(opened.store)
  if (opened.wiped !== undefined) logger.warn({ partition }, `The local store was unreadable and is built anew: ${opened.wiped}`)
  const reason = await problemOf(own, own.store)
  if (reason === undefined) return own.store
  logger.warn({ partition }, `The local store of partition ${partition} is built anew: ${reason}.`)
  own.store = undefined
  await opened.store.close()
  await stores.wipe(partition)
  own.store = watched((await stores.open(partition)).store)
  return own.store
}

/** Why the store cannot be continued, or undefined. */
async function problemOf({ shared, partition }: Ownership, store: PartitionStore): Promise<string | undefined> {
  const { admin, names, clusterId, clock, tombstoneRetentionMs } = shared
  const local = await readLocal(store)
  if (local === undefined) return (await isOfOtherVersion(store)) ? 'another version of Duelog has written it' : undefined
  const log = {
    clusterId,
    jobs: await rangeOf(admin, names.jobs, partition),
    state: await rangeOf(admin, names.state, partition),
  }
  return unusable(local, log, clock.nowMs(), tombstoneRetentionMs)
}
