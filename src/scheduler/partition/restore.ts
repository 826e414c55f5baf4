/**
 * The phases restoring and warming: from the logs to a store that is nearly current. The previous owner is not disturbed and
 * keeps firing.
 */
import { prefix } from '../../../streams/state/index.ts'
import type { Batch, PartitionStore, StoreOp } from '../../ports/index.ts'
import { endOf, type Range, rangeOf } from '../input/index.ts'
import { WrittenIds } from '../queries/index.ts'
import {
  type Checkpoint,
  changelogOps,
  checkpointOp,
  entryOf,
  isOfOtherVersion,
  outdated,
  ownerKey,
  positionKey,
  readCheckpoint,
  readCheckpointAndClaim,
  readEntry,
  unusable,
  withStoreFaults,
} from '../state/index.ts'
import type { Assignment } from './assignment.ts'
import { entriesOf, loggedAgainHeader } from './changelog-rewrite.ts'
import { PartitionContext } from './partition-context.ts'
import { isOfReplacedChangelog, leaveLog, ReplacedChangelog } from './replaced-changelog.ts'
import { exactOps } from './standby.ts'

/** A restore ends this many records before the end of the log. The rest is read after the claim. */
const nearlyCaughtUp = 1_000

/**
 * More records than this are a large restore. The number of concurrent large restores is limited (concurrency/semaphore.ts);
 * small ones never wait.
 */
const largeRestore = 50_000

/** Number of definitions that are deleted in one step. */
const forgottenTogether = 10_000

/** Ends of the logs at the start of the restore. */
export interface Ends {
  state: number
  jobs: number
}

/** Opens the local store or creates one, and finds out how many records must be read. */
export async function open(assignment: Assignment): Promise<{ context: PartitionContext; ends: Ends; large: boolean }> {
  assignment.enter('restoring')
  // A wrong clock would make a good store look too old, and an old one fresh.
  await assignment.untilTrusted()
  const opened = await openStore(assignment)
  try {
    return await contextOf(assignment, opened)
  } catch (error) {
    await opened.store.close().catch(() => undefined)
    throw error
  }
}

async function contextOf(
  assignment: Assignment,
  { store, written, other }: OpenedStore,
): Promise<{ context: PartitionContext; ends: Ends; large: boolean }> {
  const { partition, shared } = assignment
  const { admin, names } = shared
  const { local, claim } = await readCheckpointAndClaim(shared.codecs, store)
  const state = await endOf(admin, names.state, partition)
  const jobs = await endOf(admin, names.jobs, partition)
  const ends = { state, jobs }
  const isOther = local !== undefined && other !== undefined
  // A store from another log has no part of this one. If the definitions log was recreated, the claim decides what counts.
  const jobsApplied = local?.jobsOffset ?? 0
  const jobsOffset = isOther && jobsApplied > jobs ? 0 : jobsApplied
  const stateOffset = isOther ? 0 : (local?.stateOffset ?? 0)
  const large = state - stateOffset + jobs - jobsOffset > largeRestore
  // A bulk restore leaves timers behind that no longer count. A standby avoids that if it costs little.
  const isExact = assignment.role === 'standby' && !large
  const context = new PartitionContext(assignment, { store, written, local, claim, jobsOffset, stateOffset, ends, isExact })
  if (isOther) {
    const log = new ReplacedChangelog(context, local.stateOffset, other)
    await log.begin(local, claim)
    context.otherLog = log
  }
  return { context, ends, large }
}

export async function restore(context: PartitionContext, { state, jobs }: Ends): Promise<void> {
  const { restoreProgress, partitionReader, positions } = context
  const { applied } = positions
  restoreProgress.restoreEnd = state
  restoreProgress.restoreBegin = applied.state
  context.progress()
  partitionReader.open('state', applied.state)
  while (state - positions.done('state') > nearlyCaughtUp && (await context.more()));
  const position = (await readEntry(context.shared.codecs, context.store, positionKey))?.position
  // A later position may have been read in between.
  const decided = Math.max(positions.logged.jobsOffset, position?.jobsOffset ?? 0)
  // Nothing of a recreated log is decided; the claim handles that.
  positions.jobsDecided(decided > jobs ? 0 : decided)
  restoreProgress.restoreEnd = jobs
  restoreProgress.restoreBegin = applied.jobs
  context.enter('warming')
  partitionReader.open('jobs', applied.jobs)
  while (jobs - positions.done('jobs') > nearlyCaughtUp) {
    const { appliedCount, blocked } = await context.runCommitCycle()
    // Records that are not decided yet wait for the claim.
    if (blocked || (appliedCount === 0 && !(await context.more()))) break
  }
}

/** Applies a slice of job-state, up to our claim. */
export async function receiveState(context: PartitionContext, records: Batch['records']): Promise<void> {
  const { store, shared } = context
  const last = records.at(-1)
  if (last === undefined) return
  const next = last.offset + 1
  if (context.otherLog !== undefined) {
    await context.otherLog.receive(records)
    return received(context, next)
  }
  await proveLog(context, records)
  const ops = context.isExact ? await exactOps(shared.codecs, store, records) : await changelogOps(shared.codecs, records)
  const { claimOffset, positions, savedAtMs, zones } = context
  const offsets = { jobsOffset: positions.applied.jobs, stateOffset: next, claimOffset }
  ops.push(checkpointOp({ clusterId: shared.clusterId, prefix: shared.prefix, ...offsets, savedAtMs, zoneRules: zones.store }))
  await store.apply(ops)
  const position = records.findLast(({ key }) => key?.equals(positionKey))?.value
  if (position) positions.jobsDecided((await shared.codecs.state.decode(position)).position?.jobsOffset ?? 0)
  const claim = records.findLast(({ key }) => key?.equals(ownerKey))?.value
  const owner = claim ? (await shared.codecs.state.decode(claim)).owner : undefined
  if (claim) zones.claimed(owner?.zoneRules)
  // Until the log is proved, only records that the store had read count: compaction may have removed the claim from later ones.
  if (context.read.isProven)
    Object.assign(context.read, { stateOffset: next, claimedAt: owner?.claimedAt ?? context.read.claimedAt })
  received(context, next)
}

function received(context: PartitionContext, next: number): void {
  context.positions.stateApplied(next)
  context.partitionReader.received('state', next)
  context.restoreProgress.measureRestore()
}

/**
 * The first position after what the store has read tells whether this is the log that the store was built from. A standby
 * checks every position: between two fetches the log may lose its end and be logged again past that point. Otherwise compaction
 * may have removed the claim.
 */
async function proveLog(context: PartitionContext, records: Batch['records']): Promise<void> {
  const { read, phase } = context
  if (read.isProven && phase !== 'following') return
  if (await isLoggedAgain(context, records)) throw await leaveLog(context, 'ours', read.stateOffset)
  const first = records.find(({ key }) => key?.equals(positionKey) || key?.equals(ownerKey))
  if (first === undefined) return
  const { position } = (await entryOf(context.shared.codecs, first.value)) ?? {}
  if (position && isOfReplacedChangelog(position, read)) throw await leaveLog(context, 'theirs', read.stateOffset)
  read.isProven = true
}

/** Whether another owner logs its whole store again, or died during that, under a claim before what this store has read. */
async function isLoggedAgain({ read, shared }: PartitionContext, records: Batch['records']): Promise<boolean> {
  let { claimedAt } = read
  for (const { key, value, headers } of records) {
    if (key?.equals(ownerKey)) claimedAt = (await entryOf(shared.codecs, value))?.owner?.claimedAt ?? claimedAt
    const under = headers[loggedAgainHeader]
    if (under !== undefined && Number(under) !== claimedAt && read.stateOffset > 0) return true
  }
  return false
}

interface OpenedStore {
  store: PartitionStore
  written: WrittenIds
  /** The range of job-state if it is not the log that the store was built from. */
  other: Range | undefined
}

async function openStore(assignment: Assignment): Promise<OpenedStore> {
  const { partition, shared } = assignment
  const { stores, logger } = shared
  const written = new WrittenIds()
  const watched = (store: PartitionStore): PartitionStore => written.watch(withStoreFaults(store))
  const opened = await stores.open(partition)
  const store = watched(opened.store)
  try {
    if (opened.wiped !== undefined)
      logger.warn({ event: 'store-rebuilt', partition }, `The local store was unreadable and is rebuilt: ${opened.wiped}`)
    const { reason, other } = await judgeStore(assignment, store)
    if (reason === undefined) {
      if (other !== undefined) await forgetDefinitions(assignment, store)
      return { store, written, other }
    }
    logger.warn({ event: 'store-rebuilt', partition }, `The local store of partition ${partition} is rebuilt: ${reason}.`)
  } catch (error) {
    await store.close().catch(() => undefined)
    throw error
  }
  await store.close()
  await stores.wipe(partition)
  return { store: watched((await stores.open(partition)).store), written, other: undefined }
}

/**
 * Handles a store that holds data no log has, and that is older than tombstones are kept. Its definitions are not trusted: they
 * are read from `jobs` again, and states and timers of jobs that no longer exist are removed (ADR 0053). A crash in between
 * repeats all of it.
 */
async function forgetDefinitions(assignment: Assignment, store: PartitionStore): Promise<void> {
  const { logger, clock, tombstoneRetentionMs } = assignment.shared
  const local = await readCheckpoint(store)
  const reason = local && outdated(local, clock.nowMs(), tombstoneRetentionMs)
  if (local === undefined || reason === undefined) return
  const { partition } = assignment
  logger.warn(
    { event: 'definitions-read-again', partition },
    `The local store of partition ${partition} is the only copy of what was decided, although ${reason}: its definitions are read again.`,
  )
  const ops: StoreOp[] = []
  for await (const { key } of entriesOf(store, [prefix.definition])) {
    ops.push({ key, value: null })
    if (ops.length >= forgottenTogether) await store.apply(ops.splice(0))
  }
  await store.apply([...ops, checkpointOp({ ...local, otherLog: 'ours', jobsOffset: 0, savedAtMs: clock.nowMs() })])
}

interface StoreVerdict {
  /** Why the store cannot be used further, or undefined. */
  reason?: string | undefined
  other?: Range | undefined
}

async function judgeStore(assignment: Assignment, store: PartitionStore): Promise<StoreVerdict> {
  const { admin, names, prefix, clusterId, clock, tombstoneRetentionMs } = assignment.shared
  const local = await readCheckpoint(store)
  if (local === undefined) return (await isOfOtherVersion(store)) ? { reason: 'another version of Duelog has written it' } : {}
  const other = await otherRange(assignment, local)
  const otherLog = local.otherLog ?? (other === undefined ? undefined : 'ours')
  const log = { clusterId, prefix, jobs: await rangeOf(admin, names.jobs, assignment.partition) }
  const reason = unusable({ ...local, ...(otherLog && { otherLog }) }, log, clock.nowMs(), tombstoneRetentionMs)
  return { reason, other }
}

/**
 * Whether the log is still as long as it was although readers do not get there. A commit is acknowledged before the end of its
 * transaction is in each log; after the loss of a broker that may take half a minute. The claim waits until then.
 */
async function isHeldBack(assignment: Assignment, stateOffset: number): Promise<boolean> {
  const { admin, names } = assignment.shared
  const ends = await admin.highWatermarks?.(names.state)
  return (ends?.get(assignment.partition) ?? 0) >= stateOffset
}

/** Time until the end of a log is known after a transaction has ended. */
const endKnownMs = 500
const checksMax = 4

/** The range of job-state, if the log ends before what the store has read of it, or did so when the store was last opened. */
async function otherRange(assignment: Assignment, local: Checkpoint): Promise<Range | undefined> {
  const { admin, names } = assignment.shared
  if (local.otherLog === 'theirs') return undefined
  for (let check = 1; ; check++) {
    const range = await rangeOf(admin, names.state, assignment.partition)
    if (local.otherLog === 'ours') return range
    if (range.next >= local.stateOffset || (await isHeldBack(assignment, local.stateOffset))) return undefined
    if (check === checksMax) return range
    await assignment.rest(endKnownMs)
  }
}
