/**
 * Decoding of changelog entries in the store, also of unreadable ones. An unreadable entry affects one job or one key, never the
 * partition. If the registry is unreachable the entry may be valid, so the caller has to wait.
 */
import type { Execution, JobState, StateEntry } from '../../../schemas/index.ts'
import { unreadableState } from '../../../streams/jobs/index.ts'
import type { Job } from '../../../streams/state/index.ts'
import { DuelogError, messageOf } from '../../errors/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'

export type Read<T> = { value: T } | { problem: string }

export const decoded = (codecs: SchedulerCodecs, bytes: Buffer): Promise<Read<StateEntry>> =>
  attempt(() => codecs.state.decode(bytes))

/** Undefined also if it cannot be read. */
export async function entryOf(codecs: SchedulerCodecs, bytes: Buffer | null | undefined): Promise<StateEntry | undefined> {
  if (!bytes) return undefined
  const read = await decoded(codecs, bytes)
  return 'value' in read ? read.value : undefined
}

/** Puts the state into the job. Its definition must be loaded. */
export async function putState(codecs: SchedulerCodecs, job: Job, bytes: Buffer): Promise<void> {
  const read = await decoded(codecs, bytes)
  if ('value' in read) {
    job.state = read.value.state ?? undefined
    return
  }
  job.unreadable = read.problem
  job.state = unreadableState(job, read.problem)
}

/** The logged state of a job without its definition. It is enough for the timers and keys of a restore. */
export async function loggedState(codecs: SchedulerCodecs, jobId: string, bytes: Buffer): Promise<JobState | undefined> {
  const job: Job = { id: jobId }
  await putState(codecs, job, bytes)
  return job.state
}

/** The snapshot in an entry. Undefined: the entry is not a snapshot. */
export async function snapshotOf(codecs: SchedulerCodecs, bytes: Buffer): Promise<Read<Execution> | undefined> {
  const entry = await decoded(codecs, bytes)
  if ('problem' in entry) return entry
  const { snapshot } = entry.value
  return snapshot === null ? undefined : attempt(() => codecs.execution.decode(snapshot))
}

async function attempt<T>(decode: () => T | Promise<T>): Promise<Read<T>> {
  try {
    return { value: await decode() }
  } catch (error) {
    if (error instanceof DuelogError && error.code === 'registry-unavailable') throw error
    return { problem: messageOf(error) }
  }
}
