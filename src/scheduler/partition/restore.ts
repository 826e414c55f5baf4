/** restoring and warming: from the logs to a store that is nearly up to date. The previous owner is not disturbed and fires on. */
import { prefix } from '../../../streams/state/index.ts'
import type { Batch, PartitionStore, StoreOp } from '../../ports/index.ts'
import { endOf, type Range, rangeOf } from '../input/index.ts'
import {
  changelogOps,
  entryOf,
  isOfOtherVersion,
  type LocalRecord,
  localOp,
  nothingLogged,
  outdated,
  ownerKey,
  positionKey,
  readEntry,
  readLocal,
  readLocalAndClaim,
  unusable,
  withStoreFaults,
} from '../state/index.ts'
import type { TimeIndex } from '../timers/index.ts'
import { entriesOf, loggedAgainHeader } from './changelog-rewrite.ts'
import type { Ownership } from './partition-context.ts'
import { isOfOtherLog, leaveLog, OtherLog } from './replaced-changelog.ts'
import { exactOps } from './standby.ts'

/** A partition so close to the end of a log goes on; the rest is read behind the claim. */
const nearlyCaughtUp = 1_000

/** More to read than this is a large restore; only so many of them go on side by side (concurrency/semaphore.ts), small ones never wait. */
const largeRestore = 50_000

/** Definitions that are deleted in one step. */
const forgottenTogether = 10_000

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
  const { store, other } = await openStore(own)
  const { local, claim } = await readLocalAndClaim(own.shared.codecs, store)
  const state = await endOf(admin, names.state, own.partition)
  const jobs = await endOf(admin, names.jobs, own.partition)
  if (local !== undefined && other !== undefined) {
    const log = new OtherLog(own, store, local.stateOffset, other)
    await log.begin(local, claim)
    own.otherLog = log
  }
  own.freshness.begin(local?.savedAtMs)
  own.zones.opened(local, claim)
  own.claimOffset = local?.claimOffset ?? -1
  const isOther = own.otherLog !== undefined
  const jobsOffset = local?.jobsOffset ?? 0
  // Of another log nothing is part of the store, and of definitions that began anew the claim says what counts.
  const offsets = { jobs: isOther && jobsOffset > jobs ? 0 : jobsOffset, state: isOther ? 0 : (local?.stateOffset ?? 0) }
  own.applied = { ...offsets, commands: 0, events: 0 }
  own.read = { stateOffset: offsets.state, claimedAt: claim?.claimedAt ?? 0, isProven: false }
  own.logged = nothingLogged()
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
  while (state - own.done('state') > nearlyCaughtUp && (await own.more()));
  const position = (await readEntry(own.shared.codecs, store, positionKey))?.position
  // Meanwhile a later one may have been read.
  own.logged.jobsOffset = Math.max(own.logged.jobsOffset, position?.jobsOffset ?? 0)
  // Of a log that was made anew nothing is decided; the claim sees to it.
  if (own.logged.jobsOffset > jobs) own.logged.jobsOffset = 0
  own.catchUp.restoreEnd = jobs
  own.catchUp.restoreBegin = own.applied.jobs
  own.enter('warming')
  own.feed.open('jobs', own.applied.jobs)
  while (jobs - own.done('jobs') > nearlyCaughtUp) {
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
  const next = last.offset + 1
  if (own.otherLog !== undefined) {
    await own.otherLog.receive(records)
    return received(own, next)
  }
  await proveLog(own, store, records)
  const ops = own.isExact ? await exactOps(shared.codecs, store, records) : await changelogOps(shared.codecs, records)
  const { claimOffset, applied, savedAtMs, zones } = own
  const offsets = { jobsOffset: applied.jobs, stateOffset: next, claimOffset }
  ops.push(localOp({ clusterId: shared.clusterId, ...offsets, savedAtMs, zoneRules: zones.store }))
  await store.apply(ops)
  const position = records.findLast(({ key }) => key?.equals(positionKey))?.value
  if (position) own.logged.jobsOffset = (await shared.codecs.state.decode(position)).position?.jobsOffset ?? 0
  const claim = records.findLast(({ key }) => key?.equals(ownerKey))?.value
  const owner = claim ? (await shared.codecs.state.decode(claim)).owner : undefined
  if (claim) zones.claimed(owner?.zoneRules)
  // Until the log is proved, only what the store had read counts: of what is behind it compaction may have taken the claim.
  if (own.read.isProven) Object.assign(own.read, { stateOffset: next, claimedAt: owner?.claimedAt ?? own.read.claimedAt })
  received(own, next)
}

function received(own: Ownership, next: number): void {
  own.applied.state = next
  own.feed.received('state', next)
  own.catchUp.measureRestore()
}

/**
 * Whether the log is the one that the store was made from is told by the first position behind what the store has read. Who follows looks at
 * each: the log may lose its end, and be logged again beyond that, between two fetches. Else compaction may have taken the claim.
 */
async function proveLog(own: Ownership, store: PartitionStore, records: Batch['records']): Promise<void> {
  const { read, phase } = own
  if (read.isProven && phase !== 'following') return
  if (await isLoggedAgain(own, records)) throw await leaveLog(own, store, 'ours', read.stateOffset)
  const first = records.find(({ key }) => key?.equals(positionKey) || key?.equals(ownerKey))
  if (first === undefined) return
  const { position } = (await entryOf(own.shared.codecs, first.value)) ?? {}
  if (position && isOfOtherLog(position, read)) throw await leaveLog(own, store, 'theirs', read.stateOffset)
  read.isProven = true
}

/** Whether another owner logs all of its store again, or has died over that, under a claim that stands before what this store has read. */
async function isLoggedAgain({ read, shared }: Ownership, records: Batch['records']): Promise<boolean> {
  let { claimedAt } = read
  for (const { key, value, headers } of records) {
    if (key?.equals(ownerKey)) claimedAt = (await entryOf(shared.codecs, value))?.owner?.claimedAt ?? claimedAt
    const under = headers[loggedAgainHeader]
    if (under !== undefined && Number(under) !== claimedAt && read.stateOffset > 0) return true
  }
  return false
}

/** `other`: what job-state holds, where that is not the log that the store was made from. */
async function openStore(own: Ownership): Promise<{ store: PartitionStore; other: Range | undefined }> {
  const { stores, logger, clock } = own.shared
  const { partition } = own
  const opened = await stores.open(partition)
  const watched = (store: PartitionStore): PartitionStore => own.catalogue.watch(withStoreFaults(store), () => clock.steadyMs())
  own.store = watched(opened.store)
  if (opened.wiped !== undefined) logger.warn({ partition }, `The local store was unreadable and is built anew: ${opened.wiped}`)
  const { reason, other } = await look(own, own.store)
  if (reason === undefined) {
    if (other !== undefined) await forgetDefinitions(own, own.store)
    return { store: own.store, other }
  }
  logger.warn({ partition }, `The local store of partition ${partition} is built anew: ${reason}.`)
  own.store = undefined
  await opened.store.close()
  await stores.wipe(partition)
  own.store = watched((await stores.open(partition)).store)
  return { store: own.store, other: undefined }
}

/**
 * Of a store that holds what no log has, and is older than tombstones are kept, the definitions alone are not trusted: they are read from
 * `jobs` anew, and what was decided about jobs that are not there any more goes with its timers (ADR 0053). A crash on the way does it all again.
 */
async function forgetDefinitions(own: Ownership, store: PartitionStore): Promise<void> {
  const { logger, clock, tombstoneRetentionMs } = own.shared
  const local = await readLocal(store)
  const reason = local && outdated(local, clock.nowMs(), tombstoneRetentionMs)
  if (local === undefined || reason === undefined) return
  const { partition } = own
  logger.warn(
    { partition },
    `The local store of partition ${partition} is the only copy of what was decided, though ${reason}: its definitions are read anew.`,
  )
  const ops: StoreOp[] = []
  for await (const { key } of entriesOf(store, [prefix.definition])) {
    ops.push({ key, value: null })
    if (ops.length >= forgottenTogether) await store.apply(ops.splice(0))
  }
  await store.apply([...ops, localOp({ ...local, otherLog: 'ours', jobsOffset: 0, savedAtMs: clock.nowMs() })])
}

interface Look {
  /** Why the store cannot be continued, or undefined. */
  reason?: string | undefined
  other?: Range | undefined
}

async function look(own: Ownership, store: PartitionStore): Promise<Look> {
  const { admin, names, clusterId, clock, tombstoneRetentionMs } = own.shared
  const local = await readLocal(store)
  if (local === undefined) return (await isOfOtherVersion(store)) ? { reason: 'another version of Duelog has written it' } : {}
  const other = await otherRange(own, local)
  const otherLog = local.otherLog ?? (other === undefined ? undefined : 'ours')
  const log = { clusterId, jobs: await rangeOf(admin, names.jobs, own.partition) }
  const reason = unusable({ ...local, ...(otherLog && { otherLog }) }, log, clock.nowMs(), tombstoneRetentionMs)
  return { reason, other }
}

/**
 * Whether the log is as long as it was, though readers do not get there: who commits is told so before the end of the transaction is in each
 * log, and where a broker is lost that may take half a minute. Until then the claim waits.
 */
async function isHeldBack(own: Ownership, stateOffset: number): Promise<boolean> {
  const { admin, names } = own.shared
  const ends = await admin.highWatermarks?.(names.state)
  return (ends?.get(own.partition) ?? 0) >= stateOffset
}

/** The end of a log may be known late where a transaction has just ended. */
const endKnownMs = 500
const looksMax = 4

/** What job-state holds, if it ends before what the store has read of it, or did so when the store was opened before. */
async function otherRange(own: Ownership, local: LocalRecord): Promise<Range | undefined> {
  const { admin, names } = own.shared
  if (local.otherLog === 'theirs') return undefined
  for (let look = 1; ; look++) {
    const range = await rangeOf(admin, names.state, own.partition)
    if (local.otherLog === 'ours') return range
    if (range.next >= local.stateOffset || (await isHeldBack(own, local.stateOffset))) return undefined
    if (look === looksMax) return range
    await own.rest(endKnownMs)
  }
}
