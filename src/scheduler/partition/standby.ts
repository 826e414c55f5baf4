/**
 * The phase following: a standby keeps up with the logs and decides nothing. It applies definitions up to the logged position,
 * which arrives with job-state. So its store is always one that its owner could have after a restore.
 */
import {
  definitionKey,
  emptyValue,
  indexKeysOf,
  type Job,
  jobIdOfKey,
  mayChangeIndex,
  prefix,
  stateKey,
  storedDefinition,
  timerKey,
  timersOf,
} from '../../../streams/state/index.ts'
import type { PartitionStore, RecordIn, StoreOp } from '../../ground/ports/index.ts'
import { knownDefinition } from '../../ground/records/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { loggedState, queueEntryOps } from '../state/index.ts'
import type { PartitionContext } from './partition-context.ts'
import { followZones } from './zone-checks.ts'

/** Resolves when the group makes this standby the owner. */
export async function follow(context: PartitionContext): Promise<void> {
  context.local.isExact = true
  context.enter('following')
  const { logger } = context.shared
  const { partition } = context
  logger.info(
    { event: 'partition-followed', partition, behind: context.restoreProgress.behindRecords },
    `Partition ${partition} is followed.`,
  )
  for (let wasWarm = context.isWarm; context.life.role === 'standby'; ) {
    context.restoreProgress.measureBehind()
    if (context.isWarm !== wasWarm) context.resources.phaseChanged()
    wasWarm = context.isWarm
    if (context.input.buffer.nextOffset < context.input.positions.logged.jobsOffset) await context.runCommitCycle()
    else {
      const nextCheckAt = await followZones(context)
      await context.keepFresh()
      await context.life.nap(nextCheckAt)
    }
  }
  logger.info(
    { event: 'standby-takes-over', partition, behind: context.restoreProgress.behindRecords },
    `The standby of partition ${partition} takes over.`,
  )
  context.restoreProgress.read = 0
  // Knowledge of runs from the time when others decided about them is out of date.
  context.activity.activeRuns.clear()
}

/** Limits of records that are read together. One fetch may concern thousands of jobs with half a megabyte each. */
const [statesAtOnce, definitionsAtOnce] = [64, 8]

/**
 * Like changelogOps (state/stored-entries.ts), and also removes the keys that followed from the previous states: a standby
 * may follow for months, and each run leaves timers behind. It costs one read for each state.
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
  for (let at = 0; at < ids.length; at += statesAtOnce) {
    const slice = ids.slice(at, at + statesAtOnce)
    const stored = await store.get(slice.map(stateKey))
    const lacking: { before: Job; after: Job }[] = []
    for (const [index, id] of slice.entries()) {
      const [was, is] = [stored[index], states.get(id)]
      const [before, after]: [Job, Job] = [{ id }, { id }]
      if (was) before.state = await loggedState(codecs, id, was)
      if (is) after.state = await loggedState(codecs, id, is)
      // If there is a state, all keys follow from it.
      if (before.state === undefined || after.state === undefined) lacking.push({ before, after })
      else ops.push(...differenceOf(before, after))
    }
    for (let from = 0; from < lacking.length; from += definitionsAtOnce)
      ops.push(...(await definedOps(codecs, store, lacking.slice(from, from + definitionsAtOnce))))
  }
  return ops
}

/** Operations for jobs that have no state, before or after. */
async function definedOps(
  codecs: SchedulerCodecs,
  store: PartitionStore,
  jobs: readonly { before: Job; after: Job }[],
): Promise<StoreOp[]> {
  const definitions = await store.get(jobs.map(({ after }) => definitionKey(after.id)))
  const ops: StoreOp[] = []
  for (const [index, { before, after }] of jobs.entries()) {
    const definition = definitions[index]
    if (definition) before.definition = after.definition = await knownDefinition(codecs, storedDefinition(definition))
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
  const ops = queueEntryOps(after.id, before.state, after.state, () => undefined)
  for (const key of gone) if (!there.some((other) => other.equals(key))) ops.push({ key, value: null })
  for (const key of there) ops.push({ key, value: emptyValue })
  return ops
}
