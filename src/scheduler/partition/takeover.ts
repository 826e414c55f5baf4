/** The phases claiming and draining: from a nearly current store to the right to fire. */
import { movedKey, ownerKey, positionKey, restoringKey } from '../../../streams/state/index.ts'
import { atSteady, trustedMs } from '../../ground/clock/index.ts'
import type { Stopwatch } from '../../ground/concurrency/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import { firstOffset, type Range, rangeOf, readableEnd, type Source, shrunk } from '../input/index.ts'
import { isBesideTheLog, putRetainedDefinitions, readEntry } from '../state/index.ts'
import { leaveLog } from './cut-changelog.ts'
import { definitionsWereRecreated, goOn, judgeLoss } from './invalid-positions.ts'
import type { PartitionContext } from './partition-context.ts'
import { quietMs } from './partition-life.ts'

/** End of each input once no other member could fire, and when the ends were asked for, by the steady clock. */
export type InputEnds = Record<Source, Range> & { askedAtMs: number }

/** Known ends older than this are not used. */
const endsFreshMs = 1_000

/** Maximum interval between two requests for records that do not arrive. */
const nudgeMsMax = 60_000

/**
 * Takes the transactional id, which fences the previous owner, and reads the changelog up to our own claim record. The state is
 * then the result of all committed transactions. Resolves with the ends of the inputs after the previous owner was fenced.
 */
export async function claim(context: PartitionContext, took: Stopwatch): Promise<InputEnds> {
  context.enter('claiming')
  // An owner that still fires must not be fenced by a process that could not fire.
  await context.life.untilTrusted()
  // A claim decides nothing, but would be written with each reopening.
  await refuseMarked(context)
  const {
    local: { store },
  } = context
  const { log, prefix, names, codecs, instance, clock } = context.shared
  // Only a live member may fence, because otherwise a leaving owner and its successor would fence each other forever. It must
  // also still be the assigned owner: the group may have rebalanced since.
  const mayFence = (): Promise<unknown> =>
    Promise.race([context.assignment.orClosed(context.input.reader.nextHeartbeat()), context.life.interrupted])
  const first = { topic: names.state, partition: context.partition }
  const writer = await log.transactionalWriter(`${prefix}scheduler-${context.partition}`, { mayFence, first })
  context.writer = writer
  took.lap('fenceMs')
  // No member fires from here on. Everything that was decided or acknowledged before is before these ends.
  const asked = endsOf(context)
  asked.catch(() => undefined)
  const before = (await readEntry(codecs, store, ownerKey))?.owner?.claimedAt ?? 0
  const claimedAt = Math.max(clock.nowMs(), before + 1)
  const value = codecs.state.encode({ owner: { instance, claimedAt, zoneRules: context.local.zones.own } })
  // The claim may be read before its commit is answered.
  const readBefore = context.input.positions.applied.state
  const offsets = await writer.commit([{ topic: names.state, partition: context.partition, key: ownerKey, value }])
  took.lap('claimMs')
  const claimOffset = firstOffset(offsets, names.state, context.partition)
  if (claimOffset < readBefore) throw await leaveLog(context, 'cut', readBefore)
  await context.life.until(() => context.input.positions.applied.state > claimOffset)
  took.lap('readMs')
  await refuseMarked(context)
  context.input.reader.close('state')
  const ends = await asked
  const position = (await readEntry(context.shared.codecs, store, positionKey))?.position ?? null
  if (isBesideTheLog({ jobsOffset: context.input.positions.applied.jobs, claimOffset: context.local.claimOffset }, position))
    await startOver(context)
  if (await definitionsWereRecreated(context, { claimOffset, claimedAt }, ends.jobs)) await startOver(context)
  context.local.claimOffset = claimOffset
  goOn(context, position, claimedAt, ends)
  context.local.zones.taken(position)
  return ends
}

/**
 * A restore that has not ended has written some jobs and not others, and no position: they would all fire again. Those of a system that was
 * moved would fire in both.
 */
async function refuseMarked({ shared: { names, prefix, codecs }, partition, local: { store } }: PartitionContext): Promise<void> {
  const [restoring] = await store.get([restoringKey])
  if (restoring)
    throw new DuelogError(
      'not-ready',
      `A restore of ${names.state}/${partition} has begun and has not ended. Wait until it ends; if it was broken off, delete the topics ${prefix}* and restore again.`,
    )
  const moved = await readEntry(codecs, store, movedKey)
  if (moved)
    throw new DuelogError(
      'system-moved',
      `The system ${prefix}* was moved to ${moved.owner?.instance}*, and decides nothing any more. Start this process with that prefix, or stop it; duelog unfence is the way back.`,
    )
}

/** Beginnings and ends of the inputs, asked for all inputs and all partitions in one request. */
async function endsOf({ resources, shared, partition }: PartitionContext): Promise<InputEnds> {
  const ends = resources.ends
  const askedAtMs = shared.clock.steadyMs()
  const asked = [ends.jobs.ask(partition), ends.commands.ask(partition), ends.events.ask(partition)] as const
  const [jobs, commands, events] = await Promise.all(asked)
  return { jobs, commands, events, askedAtMs }
}

/** Reopens the partition with an empty store. */
async function startOver(context: PartitionContext): Promise<never> {
  await context.closeStore()
  await context.shared.stores.wipe(context.partition)
  throw new DuelogError('fenced', 'The local store does not follow from these logs; it is rebuilt.')
}

/**
 * Applies the records that were sent before the takeover, so that an acknowledged deletion is applied before any timer fires.
 * Definitions come first: no event, command or timer may find a state whose definition is unread. It has no time limit: if the
 * log is slow, the partition waits for it.
 */
export async function drain(context: PartitionContext, ends: InputEnds): Promise<void> {
  await putRetainedDefinitions(context.shared.codecs, context.local.store)
  context.enter('draining')
  const { mayBeLost } = context.input.positions
  if (mayBeLost) {
    // Without a position no state exists that a report could find.
    context.input.reader.open('events', context.input.positions.applied.events)
    await readToEnd(context, 'events', ends.events)
    judgeLoss(context)
  }
  await readToEnd(context, 'jobs', ends.jobs)
  await context.logPosition()
  // This may have taken minutes. Records that were acknowledged in the meantime are older than the first timer that fires.
  const isOld = context.shared.clock.steadyMs() - ends.askedAtMs >= endsFreshMs
  const { jobs, commands } = isOld ? await endsOf(context) : ends
  if (isOld) await readToEnd(context, 'jobs', jobs)
  context.input.reader.open('commands', context.input.positions.applied.commands)
  if (!mayBeLost) context.input.reader.open('events', context.input.positions.applied.events)
  await readToEnd(context, 'commands', commands)
}

/**
 * Applies the records that the source held when its range was asked for, up to where readers of committed records can get.
 * Records after a client's open transaction cannot be read before it ends; they count as sent later.
 */
async function readToEnd(context: PartitionContext, source: Source, range: Range): Promise<void> {
  const { clock } = context.shared
  let end = readableEnd(range)
  if (source === 'jobs') context.restoreProgress.restoreEnd = end
  let waitMs = quietMs
  let seen = { at: -1, since: 0 }
  while (!context.input.positions.hasApplied(source, end)) {
    const at = context.input.reader.reach(source)
    if (at !== seen.at) {
      seen = { at, since: clock.steadyMs() }
      waitMs = quietMs
    } else if (at < end && clock.steadyMs() - seen.since >= waitMs) {
      context.input.reader.nudge(source)
      // The expected records may have expired, or the topic was recreated. They never arrive then.
      end = Math.min(end, await endToRead(context, source))
      seen = { at, since: clock.steadyMs() }
      waitMs = Math.min(2 * waitMs, nudgeMsMax)
    }
    const { appliedCount } = await context.runCommitCycle()
    if (appliedCount > 0 || context.input.positions.hasApplied(source, end)) continue
    // Nothing is applied while the clock is not trusted.
    if (trustedMs(clock) === undefined) {
      await context.life.untilTrusted()
      continue
    }
    const untilMs = atSteady(clock, seen.since + waitMs)
    await context.life.nap(context.input.reader.reach(source) < end ? untilMs : Number.POSITIVE_INFINITY)
  }
}

/** Fails if the log ends before what was read of it, or before the definitions that are decided: it was truncated since the claim. */
async function endToRead(context: PartitionContext, source: Source): Promise<number> {
  const { admin, names } = context.shared
  const decidedTo = source === 'jobs' ? context.input.positions.logged.jobsOffset : 0
  const readTo = Math.max(context.input.reader.next(source), decidedTo)
  const range = await rangeOf(admin, names[source], context.partition)
  if (range.next < readTo) throw shrunk(names[source], context.partition, range.next, readTo)
  return readableEnd(range)
}
