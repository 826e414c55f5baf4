/** Entries of the store: how those of the changelog are decoded, those that follow from the state of a job, and definitions that are kept for a decision. */
import type { Execution, JobState, StateEntry } from '../../../schemas/index.ts'
import { unreadableState } from '../../../streams/jobs/index.ts'
import {
  definitionIndexKeys,
  definitionKey,
  emptyValue,
  isRetainedDefinition,
  isSameWaiter,
  type Job,
  jobIdOfKey,
  keyAfter,
  prefix,
  rangeOf,
  stateIndexKeys,
  stateKey,
  stateTimers,
  storedDefinition,
  timerKey,
  type Waiter,
  waiterKey,
  waitersOf,
} from '../../../streams/state/index.ts'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import type { PartitionStore, RecordIn, StoreOp } from '../../ground/ports/index.ts'
import { knownDefinition } from '../../ground/records/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'

/**
 * Decoding of changelog entries in the store, also of unreadable ones. An unreadable entry affects one job or one key, never the
 * partition. If the registry is unreachable the entry may be valid, so the caller has to wait.
 */

export type Read<T> = { value: T } | { problem: string }

/** Synchronous unless a schema has to be fetched, and so are `putState` and `loggedState`: a restore calls them for each record. */
export const decoded = (codecs: SchedulerCodecs, bytes: Buffer): Read<StateEntry> | Promise<Read<StateEntry>> =>
  attempt(() => codecs.state.decode(bytes))

/** Undefined also if it cannot be read. */
export async function entryOf(codecs: SchedulerCodecs, bytes: Buffer | null | undefined): Promise<StateEntry | undefined> {
  if (!bytes) return undefined
  const read = await decoded(codecs, bytes)
  return 'value' in read ? read.value : undefined
}

/** Puts the state into the job. Its definition must be loaded. */
export function putState(codecs: SchedulerCodecs, job: Job, bytes: Buffer): Promise<void> | undefined {
  const read = decoded(codecs, bytes)
  if (read instanceof Promise) return read.then((later) => putRead(job, later))
  putRead(job, read)
  return undefined
}

function putRead(job: Job, read: Read<StateEntry>): void {
  if ('value' in read) {
    job.state = read.value.state ?? undefined
    return
  }
  job.unreadable = read.problem
  job.state = unreadableState(job, read.problem)
}

/** The logged state of a job without its definition. It is enough for the timers and keys of a restore. */
export function loggedState(
  codecs: SchedulerCodecs,
  jobId: string,
  bytes: Buffer,
): JobState | undefined | Promise<JobState | undefined> {
  const job: Job = { id: jobId }
  return putState(codecs, job, bytes)?.then(() => job.state) ?? job.state
}

/** The snapshot in an entry. Undefined: the entry is not a snapshot. */
export async function snapshotOf(codecs: SchedulerCodecs, bytes: Buffer): Promise<Read<Execution> | undefined> {
  const entry = await decoded(codecs, bytes)
  if ('problem' in entry) return entry
  const { snapshot } = entry.value
  return snapshot === null ? undefined : attempt(() => codecs.execution.decode(snapshot))
}

function attempt<T>(decode: () => T | Promise<T>): Read<T> | Promise<Read<T>> {
  try {
    const value = decode()
    return value instanceof Promise ? value.then((later) => ({ value: later }), unreadable) : { value }
  } catch (error) {
    return unreadable(error)
  }
}

function unreadable(error: unknown): { problem: string } {
  if (error instanceof DuelogError && error.code === 'registry-unavailable') throw error
  return { problem: messageOf(error) }
}

/**
 * Entries of the store that follow from the state of a job: timers, queue entries and index keys. A restore puts them without
 * reading anything, so it runs at the speed of the log.
 */

/**
 * Operations that apply a slice of job-state. Timers, queue entries and index keys of an earlier state are not removed. They no longer
 * follow from the state, so they are dropped when they are reached.
 */
export async function changelogOps(codecs: SchedulerCodecs, records: RecordIn[]): Promise<StoreOp[]> {
  const ops: StoreOp[] = []
  for (const { key, value } of records) {
    if (key === null) continue
    ops.push({ key, value })
    if (key[0] !== prefix.state) continue
    const jobId = jobIdOfKey(key)
    if (value === null) continue
    const read = loggedState(codecs, jobId, value)
    const state = read instanceof Promise ? await read : read
    if (state === undefined) continue
    for (const timer of stateTimers(jobId, state)) ops.push({ key: timerKey(timer), value: emptyValue })
    for (const waiter of waitersOf(jobId, state)) ops.push({ key: waiterKey(waiter), value: emptyValue })
    for (const index of stateIndexKeys(jobId, state)) ops.push({ key: index, value: emptyValue })
  }
  return ops
}

/** Queue entries of the runs of a job: the difference between two states. `onQueued` is called with each entry that is added. */
export function queueEntryOps(
  jobId: string,
  before: JobState | undefined,
  after: JobState | undefined,
  onQueued: (waiter: Waiter) => void,
): StoreOp[] {
  if (before === after) return []
  const [gone, there] = [waitersOf(jobId, before), waitersOf(jobId, after)]
  const ops: StoreOp[] = []
  for (const waiter of gone) {
    if (!there.some((other) => isSameWaiter(waiter, other))) ops.push({ key: waiterKey(waiter), value: null })
  }
  for (const waiter of there) {
    if (gone.some((other) => isSameWaiter(waiter, other))) continue
    onQueued(waiter)
    ops.push({ key: waiterKey(waiter), value: emptyValue })
  }
  return ops
}

/** Retained definitions: the changelog holds them, because compaction may remove them from jobs. A later tombstone that was refused would cause that. */

const slice = 1_000
/** Retained definitions that are read together. Each may have half a megabyte, and the stored definition as much. */
const valuesAtOnce = 8

/** Puts retained definitions under the keys of definitions. Only for a claimed partition, because nothing else may write definitions meanwhile. */
export async function putRetainedDefinitions(codecs: SchedulerCodecs, store: PartitionStore): Promise<void> {
  const { to, ...range } = rangeOf(prefix.snapshot)
  for (let { from } = range; ; ) {
    const entries = await store.scan({ from, to, limit: slice, keysOnly: true })
    const keys = entries.map(({ key }) => key).filter(isRetainedDefinition)
    for (let at = 0; at < keys.length; at += valuesAtOnce) await putSome(codecs, store, keys.slice(at, at + valuesAtOnce))
    const last = entries.at(-1)
    if (entries.length < slice || last === undefined) return
    from = keyAfter(last.key)
  }
}

async function putSome(codecs: SchedulerCodecs, store: PartitionStore, keys: Buffer[]): Promise<void> {
  const values = await store.get(keys)
  const stored = await store.get(keys.map((key) => definitionKey(jobIdOfKey(key))))
  const states = await store.get(keys.map((key) => stateKey(jobIdOfKey(key))))
  const ops: StoreOp[] = []
  for (const [index, key] of keys.entries()) {
    const kept = (await entryOf(codecs, values[index]))?.snapshot ?? null
    const known = stored[index]
    if (kept === null) continue
    // Beside a state that cannot be read, a later one was taken from jobs although it was refused.
    const isReadable = (await entryOf(codecs, states[index])) !== undefined
    if (isReadable && known && storedDefinition(known).offset >= storedDefinition(kept).offset) continue
    const jobId = jobIdOfKey(key)
    const { spec } = await knownDefinition(codecs, storedDefinition(kept))
    ops.push({ key: definitionKey(jobId), value: kept })
    if (spec !== undefined) for (const index of definitionIndexKeys(jobId, spec)) ops.push({ key: index, value: emptyValue })
  }
  await store.apply(ops)
}
