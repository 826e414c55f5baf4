/**
 * The phases restoring and warming: from the logs to a store that is nearly current. The previous owner is not disturbed and
 * keeps firing.
 */
import type { Batch, PartitionStore } from '../../ground/ports/index.ts'
import { endOf, rangeOf } from '../input/index.ts'
import {
  changelogOps,
  entryOf,
  foreign,
  isOfOtherVersion,
  ownerKey,
  positionKey,
  readCheckpoint,
  readCheckpointAndClaim,
  readEntry,
  unusable,
  withStoreFaults,
} from '../state/index.ts'
import type { Assignment } from './assignment.ts'
import { checkChangelog, isOfReplacedChangelog, leaveLog } from './cut-changelog.ts'
import { PartitionContext } from './partition-context.ts'
import { exactOps } from './standby.ts'

/** A restore ends this many records before the end of the log. The rest is read after the claim. */
const nearlyCaughtUp = 1_000

/**
 * More records than this are a large restore. The number of concurrent large restores is limited (concurrency/semaphore.ts);
 * small ones never wait.
 */
const largeRestore = 50_000

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
  const store = await openStore(assignment)
  try {
    return await contextOf(assignment, store)
  } catch (error) {
    await store.close().catch(() => undefined)
    throw error
  }
}

async function contextOf(
  assignment: Assignment,
  store: PartitionStore,
): Promise<{ context: PartitionContext; ends: Ends; large: boolean }> {
  const { partition, shared } = assignment
  const { admin, names } = shared
  const { local, claim } = await readCheckpointAndClaim(shared.codecs, store)
  const state = await endOf(admin, names.state, partition)
  const jobs = await endOf(admin, names.jobs, partition)
  const ends = { state, jobs }
  const { jobsOffset = 0, stateOffset = 0 } = local ?? {}
  const large = state - stateOffset + jobs - jobsOffset > largeRestore
  // A bulk restore leaves timers behind that no longer count. A standby avoids that if it costs little.
  const isExact = assignment.role === 'standby' && !large
  const context = new PartitionContext(assignment, { store, local, claim, jobsOffset, stateOffset, ends, isExact })
  return { context, ends, large }
}

export async function restore(context: PartitionContext, { state, jobs }: Ends): Promise<void> {
  const { restoreProgress, input } = context
  const { reader: partitionReader, positions } = input
  const { applied } = positions
  restoreProgress.restoreEnd = state
  restoreProgress.restoreBegin = applied.state
  context.life.progress()
  partitionReader.open('state', applied.state)
  while (state - positions.done('state') > nearlyCaughtUp && (await context.life.more()));
  const position = (await readEntry(context.shared.codecs, context.local.store, positionKey))?.position
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
    if (blocked || (appliedCount === 0 && !(await context.life.more()))) break
  }
}

/** Applies a slice of job-state, up to our claim. */
export async function receiveState(context: PartitionContext, records: Batch['records']): Promise<void> {
  const {
    shared,
    local: { store },
  } = context
  const last = records.at(-1)
  if (last === undefined) return
  const next = last.offset + 1
  await proveLog(context, records)
  const ops = context.local.isExact ? await exactOps(shared.codecs, store, records) : await changelogOps(shared.codecs, records)
  const { local, savedAtMs } = context
  const { positions } = context.input
  const { zones } = local
  ops.push(local.checkpoint({ jobs: positions.applied.jobs, state: next }, savedAtMs))
  await store.apply(ops)
  const position = records.findLast(({ key }) => key?.equals(positionKey))?.value
  if (position) positions.jobsDecided((await shared.codecs.state.decode(position)).position?.jobsOffset ?? 0)
  const claim = records.findLast(({ key }) => key?.equals(ownerKey))?.value
  const owner = claim ? (await shared.codecs.state.decode(claim)).owner : undefined
  if (claim) zones.claimed(owner?.zoneRules)
  // Until the log is proved, only records that the store had read count: compaction may have removed the claim from later ones.
  if (context.read.isProven)
    Object.assign(context.read, { stateOffset: next, claimedAt: owner?.claimedAt ?? context.read.claimedAt })
  context.input.positions.stateApplied(next)
  context.input.reader.received('state', next)
  context.restoreProgress.measureRestore()
}

/**
 * The first position after what the store has read tells whether this is the log that the store was built from. A standby
 * checks every position: between two fetches the log may lose its end and grow past that point. Otherwise compaction may have
 * removed the claim.
 */
async function proveLog(context: PartitionContext, records: Batch['records']): Promise<void> {
  const { read, life } = context
  if (read.isProven && life.phase !== 'following') return
  const first = records.find(({ key }) => key?.equals(positionKey) || key?.equals(ownerKey))
  if (first === undefined) return
  const { position } = (await entryOf(context.shared.codecs, first.value)) ?? {}
  if (position && isOfReplacedChangelog(position, read)) throw await leaveLog(context, 'replaced', read.stateOffset)
  read.isProven = true
}

async function openStore(assignment: Assignment): Promise<PartitionStore> {
  const { partition, shared } = assignment
  const { stores, logger } = shared
  const watched = (store: PartitionStore): PartitionStore =>
    assignment.hooks.reduce((used, hook) => hook.opened?.(used) ?? used, withStoreFaults(store))
  const opened = await stores.open(partition)
  const store = watched(opened.store)
  try {
    if (opened.wiped !== undefined)
      logger.warn({ event: 'store-rebuilt', partition }, `The local store was unreadable and is rebuilt: ${opened.wiped}`)
    const reason = await unusableFor(assignment, store)
    if (reason === undefined) return store
    logger.warn({ event: 'store-rebuilt', partition }, `The local store of partition ${partition} is rebuilt: ${reason}.`)
  } catch (error) {
    await store.close().catch(() => undefined)
    throw error
  }
  await store.close()
  await stores.wipe(partition)
  return watched((await stores.open(partition)).store)
}

/** Why the store is rebuilt from the logs, or undefined. Rejects if it has what no log has. */
async function unusableFor(assignment: Assignment, store: PartitionStore): Promise<string | undefined> {
  const { admin, names, prefix, clusterId, clock, tombstoneRetentionMs } = assignment.shared
  const local = await readCheckpoint(store)
  if (local === undefined) return (await isOfOtherVersion(store)) ? 'another version of Duelog has written it' : undefined
  const reason = foreign(local, { clusterId, prefix })
  if (reason !== undefined) return reason
  await checkChangelog(assignment, local)
  const jobs = await rangeOf(admin, names.jobs, assignment.partition)
  return unusable(local, jobs.next, clock.nowMs(), tombstoneRetentionMs)
}
