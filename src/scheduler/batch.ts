/**
 * What one turn takes of the timers and the mail that it was given: as many of the first as their bytes allow, loaded slice by slice, so
 * that a thousand jobs of half a megabyte are never in memory together. The others wait for the next turns.
 */
import type { Job, KnownDefinition } from '../../streams/job.ts'
import { type Timer, timerKind, type Waiter } from '../../streams/keys.ts'
import { backfillRunsMax } from '../../streams/runs/backfill.ts'
import type { SchedulerCodecs } from './codecs.ts'
import { loadJobs, weightOf } from './job-loader.ts'
import type { Mail } from './mailbox.ts'
import type { PartitionStore } from './ports.ts'
import type { Weights } from './weights.ts'

/** Bytes that a turn may write, as they are estimated before; a turn takes at least one timer or mail. */
export const turnBytesMax = 4 * 1024 * 1024
/** Bytes of jobs that a turn may have in memory: many reports are small, and their jobs are not. */
const loadedBytesMax = 2 * turnBytesMax
/** Of both, what timers may take while mail waits. */
const timerShare = 0.7
/** Jobs of the first slice, while nobody knows how large they are, and bytes that a later one aims at. */
const sliceJobsFirst = 16
const sliceBytes = 2 * 1024 * 1024
const sliceJobsMax = 64

interface Loading {
  store: PartitionStore
  codecs: SchedulerCodecs
  weights: Weights
  /** Share of the usual bytes: less after a turn that failed. */
  share: number
}

export interface Batch {
  jobs: Map<string, Job>
  timers: Timer[]
  mails: Mail[]
  /** What was given and does not fit. */
  timersLeft: Timer[]
  mailsLeft: Mail[]
  /** Bytes that the turn may write besides; 0 or less where it is full. */
  bytesLeft: number
}

interface Item {
  jobId: string | undefined
  /** How often what the job weighs is written, at most. */
  copies: number
  /** Bytes that it brings and that are written besides. */
  brought?: number
  /** It may begin runs of a backfill. */
  backfills?: boolean
  /** What the job is from here on, when this is folded. */
  definition?: KnownDefinition
}

export async function loadBatch(loading: Loading, timers: Timer[], mails: Mail[]): Promise<Batch> {
  const jobs = new Map<string, Job>()
  const room = { written: turnBytesMax * loading.share, loaded: loadedBytesMax * loading.share }
  const forTimers = mails.length === 0 ? room : { written: room.written * timerShare, loaded: room.loaded * timerShare }
  const more = redriven(mails)
  const first = await fill(loading, jobs, more, timers.map(ofTimer), forTimers, true)
  const left = { written: room.written - first.written, loaded: room.loaded - first.loaded }
  const then = await fill(loading, jobs, more, mails.map(ofMail), left, first.count === 0)
  return {
    jobs,
    timers: timers.slice(0, first.count),
    mails: mails.slice(0, then.count),
    timersLeft: timers.slice(first.count),
    mailsLeft: mails.slice(then.count),
    bytesLeft: left.written - then.written,
  }
}

/** Loads the jobs of the first of those that wait for a slot, as many as there is room for, and one at least. Resolves with how many. */
export async function loadWaiters(loading: Omit<Loading, 'share'>, batch: Batch, waiters: Waiter[]): Promise<number> {
  const { jobs, bytesLeft } = batch
  const items = waiters.map(({ jobId }) => ({ jobId, copies: 1 }))
  return (await fill(loading, jobs, new Map(), items, { written: bytesLeft, loaded: bytesLeft }, true)).count
}

/** Loads the jobs of the first items, as many as there is room for; `atLeastOne`, however large it is. */
async function fill(
  { store, codecs, weights }: Omit<Loading, 'share'>,
  jobs: Map<string, Job>,
  more: ReadonlyMap<string, readonly number[]>,
  items: Item[],
  room: { written: number; loaded: number },
  atLeastOne: boolean,
): Promise<{ count: number; written: number; loaded: number }> {
  const used = { count: 0, written: 0, loaded: 0 }
  const bytes = new Map<string, number>()
  let sliceJobs = sliceJobsFirst
  let known: ReadonlyMap<string, Job> = new Map()
  // What follows in the same turn is of a definition that no store has yet.
  const defined = new Map<string, KnownDefinition>()
  for (const [at, { jobId, copies, brought = 0, backfills = false, definition }] of items.entries()) {
    const mayStop = used.count > 0 || !atLeastOne
    if (jobId !== undefined && !jobs.has(jobId)) {
      if (mayStop && used.loaded + weights.of(jobId) > room.loaded) return used
      if (!known.has(jobId)) {
        known = await loadJobs(store, codecs, nextIds(items, at, sliceJobs, jobs, weights), more)
        let sum = 0
        for (const [id, job] of known) {
          const weight = weightOf(job)
          weights.set(id, weight)
          bytes.set(id, weight)
          sum += weight
        }
        sliceJobs = Math.min(Math.max(1, Math.floor(sliceBytes / (sum / known.size + 1))), sliceJobs * 2, sliceJobsMax)
      }
    }
    const weight = jobId === undefined ? 0 : (bytes.get(jobId) ?? weights.of(jobId))
    const next = jobId === undefined ? undefined : defined.get(jobId)
    const heaviest = Math.max(weight, next?.bytes.length ?? 0)
    const job = jobId === undefined || jobs.has(jobId) ? undefined : known.get(jobId)
    const loaded = used.loaded + (job === undefined ? 0 : weight)
    const before = jobId === undefined ? undefined : (jobs.get(jobId) ?? job)
    // Whatever happens to a job whose backfill goes on may begin as many runs of it as a step may.
    const most = (next ?? before?.definition)?.spec?.maxConcurrentRuns ?? 0
    const goesOn = backfills || before?.state?.backfill ? Math.min(backfillRunsMax(heaviest), most) : 0
    // One that waits for the end of another begins with it.
    const begun = goesOn + ((before?.state?.queuedFor ?? null) === null ? 0 : 1)
    const written = used.written + (copies + begun) * heaviest + brought
    if (mayStop && (loaded > room.loaded || written > room.written)) return used
    if (job !== undefined) jobs.set(job.id, job)
    if (jobId !== undefined && definition !== undefined) defined.set(jobId, definition)
    Object.assign(used, { count: used.count + 1, loaded, written })
  }
  return used
}

/** Ids of jobs that are not loaded, from the item at `from` on. A job that is known to be heavy ends the slice. */
function nextIds(items: Item[], from: number, max: number, jobs: ReadonlyMap<string, Job>, weights: Weights): string[] {
  const ids = new Set<string>()
  let sum = 0
  for (let at = from; at < items.length && ids.size < max && sum < sliceBytes; at++) {
    const jobId = items[at]?.jobId
    if (jobId === undefined || jobs.has(jobId) || ids.has(jobId)) continue
    ids.add(jobId)
    sum += weights.of(jobId)
  }
  return [...ids]
}

/** An attempt that is given up is written twice: as a dead letter, and for a redrive. */
function ofTimer({ jobId, kind }: Timer): Item {
  const gives = kind === timerKind.lease || kind === timerKind.attemptTimeout
  return { jobId, copies: gives ? 2 : 1 }
}

function ofMail({ jobId, input, heartbeat }: Mail): Item {
  if (input === undefined) return { jobId: heartbeat === undefined ? undefined : jobId, copies: 0 }
  if (input.kind === 'command') {
    const { type, payload } = input.command
    // A payload of its own is given to the worker, and kept for another attempt.
    return { jobId, copies: 1, brought: 2 * (payload?.length ?? 0), backfills: type === 'BACKFILL' }
  }
  // A definition is written only to the store, but what it replaces may be kept for a run.
  if (input.kind === 'definition') return { jobId, copies: 1, definition: input.definition }
  if (input.kind !== 'event') return { jobId, copies: 1 }
  const { type } = input.event
  return { jobId, copies: type === 'FAILED' ? 2 : type === 'RETRY_DUE' || type === 'RELEASED' ? 1 : 0 }
}

/** Dead runs that are to be made again, by job. */
function redriven(mails: Mail[]): Map<string, number[]> {
  const runs = new Map<string, number[]>()
  for (const { input, jobId } of mails) {
    if (input?.kind !== 'command' || input.command.type !== 'REDRIVE' || input.command.runNo === null) continue
    runs.set(jobId, [...(runs.get(jobId) ?? []), input.command.runNo])
  }
  return runs
}
