/** Loader of jobs from the store. */
import { followUpPageBytesMax, snapshotNoIn } from '../../../streams/runs/index.ts'
import {
  definitionKey,
  followUpsKey,
  type Job,
  retainedDefinitionKey,
  snapshotKey,
  stateKey,
  storedDefinition,
} from '../../../streams/state/index.ts'
import { BoundedMap } from '../../ground/concurrency/index.ts'
import type { StoreReader } from '../../ground/ports/index.ts'
import { knownDefinition } from '../../ground/records/index.ts'
import { type SchedulerCodecs, SearchBudget } from '../options/index.ts'
import type { ActiveJobs } from './active-jobs.ts'
import { entryOf, putState, snapshotOf } from './stored-entries.ts'

/** Weight of a job in bytes: its definition, its loaded snapshots and pages of follow-ups. With `runNo` only the snapshot of that run counts. */
export function weightOf(job: Job, runNo?: number): number {
  const snapshotNo = runNo === undefined ? undefined : snapshotNoIn(job, runNo)
  let bytes = job.definition?.bytes.length ?? 0
  for (const [no, { payload, headers }] of job.snapshots ?? []) {
    if (runNo !== undefined && no !== snapshotNo) continue
    bytes += payload?.length ?? 0
    for (const value of Object.values(headers)) bytes += value.length
  }
  if (runNo === undefined) bytes += followUpPageBytesMax * (job.followUpPages?.size ?? 0)
  return bytes
}

/**
 * Jobs with definition and state. A job without either is returned with its id only. Of the snapshots only those of `runs` are loaded,
 * one for each job, because a hundred runs may have half a megabyte each (`loadSnapshot`). Jobs that `active` has are not read.
 */
export async function loadJobs(
  store: StoreReader,
  codecs: SchedulerCodecs,
  ids: readonly string[],
  runs: ReadonlyMap<string, number> = new Map(),
  active?: Pick<ActiveJobs, 'get'>,
): Promise<Map<string, Job>> {
  const jobs = new Map<string, Job>()
  const keys: Buffer[] = []
  for (const id of ids) {
    if (jobs.has(id)) continue
    const job = active?.get(id)
    jobs.set(id, job ?? { id })
    if (job === undefined) keys.push(definitionKey(id), stateKey(id))
  }
  const values = keys.length === 0 ? [] : await store.get(keys)
  const wanted: { job: Job; snapshotNo: number }[] = []
  const budget = new SearchBudget()
  let at = 0
  for (const [id, job] of jobs) {
    if (job.state === undefined) {
      const rest = budget.rest()
      if (rest !== undefined) await rest
      const [definition, state] = [values[at++], values[at++]]
      if (definition) {
        const known = knownDefinition(codecs, storedDefinition(definition))
        job.definition = known instanceof Promise ? await known : known
      }
      if (state) {
        const put = putState(codecs, job, state)
        if (put !== undefined) await put
      }
      if (job.unreadable !== undefined) await markRetained(store, job)
    }
    const snapshotNo = snapshotNoIn(job, runs.get(id) ?? 0)
    if (snapshotNo !== undefined) wanted.push({ job, snapshotNo })
  }
  if (wanted.length > 0) await loadSnapshots(store, codecs, wanted)
  return jobs
}

/** The state that cannot be read would say it. */
async function markRetained(store: StoreReader, job: Job): Promise<void> {
  const [retained] = await store.get([retainedDefinitionKey(job.id)])
  if (retained && job.state !== undefined) job.state = { ...job.state, definitionKept: true }
}

/** Loads the snapshot of one more run, unless the definition in force is the same or it is loaded already. */
export async function loadSnapshot(store: StoreReader, codecs: SchedulerCodecs, job: Job, runNo: number): Promise<void> {
  const snapshotNo = snapshotNoIn(job, runNo)
  if (snapshotNo === undefined || job.snapshots?.has(snapshotNo) || job.unreadableRuns?.has(snapshotNo)) return
  await loadSnapshots(store, codecs, [{ job, snapshotNo }])
}

/** Loads the first and the last page of the follow-ups that wait. Undefined: there are none to load. */
export function loadFollowUps(store: StoreReader, codecs: SchedulerCodecs, job: Job): Promise<void> | undefined {
  const queue = job.state?.followUps ?? null
  if (queue === null) return undefined
  const pages = [...new Set([queue.firstPage, queue.lastPage])].filter((page) => !job.followUpPages?.has(page))
  return pages.length === 0 ? undefined : loadPages(store, codecs, job, pages)
}

async function loadPages(store: StoreReader, codecs: SchedulerCodecs, job: Job, pages: readonly number[]): Promise<void> {
  const values = await store.get(pages.map((page) => followUpsKey(job.id, page)))
  for (const [index, page] of pages.entries()) {
    const items = (await entryOf(codecs, values[index]))?.followUps?.items ?? []
    job.followUpPages = (job.followUpPages ?? new Map()).set(page, items)
  }
}

/**
 * Jobs that are loaded together: first, while their size is unknown, and at most. They are decoded without a pause, which takes about
 * 2 ms; other jobs have to fire meanwhile.
 */
const slice = { jobs: 4, jobsMax: 64, bytes: 2 * 1024 * 1024 }

/** Jobs one after another, for callers that only read each. Only a few large jobs are in memory together. */
export async function* eachJob(store: StoreReader, codecs: SchedulerCodecs, ids: readonly string[]): AsyncGenerator<Job> {
  let count = slice.jobs
  for (let at = 0; at < ids.length; ) {
    const jobs = await loadJobs(store, codecs, ids.slice(at, at + count))
    at += count
    let bytes = 1
    for (const job of jobs.values()) {
      bytes += weightOf(job)
      yield job
    }
    count = Math.min(Math.max(1, Math.floor((slice.bytes * jobs.size) / bytes)), 2 * count, slice.jobsMax)
  }
}

async function loadSnapshots(
  store: StoreReader,
  codecs: SchedulerCodecs,
  wanted: { job: Job; snapshotNo: number }[],
): Promise<void> {
  const values = await store.get(wanted.map(({ job, snapshotNo }) => snapshotKey(job.id, snapshotNo)))
  for (let index = 0; index < wanted.length; index++) {
    const value = values[index]
    const target = wanted[index]
    if (!value || target === undefined) continue
    const { job, snapshotNo } = target
    const read = await snapshotOf(codecs, value)
    if (read === undefined) continue
    if ('value' in read) job.snapshots = (job.snapshots ?? new Map()).set(snapshotNo, read.value)
    else job.unreadableRuns = (job.unreadableRuns ?? new Map()).set(snapshotNo, read.problem)
  }
}

/**
 * The heavy jobs of a partition that were read since it was opened. A heavy job could fill the memory or delay all others, so it is
 * known before it is read again. Soft state.
 */

/** The weight of a job is the size of its definition and of the snapshots of its runs. Below this weight a job is light. */
export const heavyBytesMin = 65_536
/** Heavy jobs that are remembered. The oldest is forgotten first. */
const jobsMax = 20_000

export class HeavyJobs {
  readonly #bytes = new BoundedMap<string, number>(jobsMax)

  set(jobId: string, bytes: number): void {
    if (bytes < heavyBytesMin) this.#bytes.delete(jobId)
    else this.#bytes.renew(jobId, bytes)
  }

  /** Bytes of a heavy job; 0 for a light or unknown job. */
  of(jobId: string): number {
    return this.#bytes.get(jobId) ?? 0
  }
}
