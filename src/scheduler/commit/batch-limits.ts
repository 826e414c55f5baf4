/**
 * Chooses the timers and input records of one commit cycle: as many of the first ones as their bytes allow. Jobs are loaded
 * slice by slice, so that a thousand jobs of half a megabyte are never in memory together. The others wait for the next cycles.
 */
import { backfillRunsMax, followUpPageBytesMax } from '../../../streams/runs/index.ts'
import { type Job, type KnownDefinition, type Timer, timerKind, type Waiter } from '../../../streams/state/index.ts'
import type { PartitionStore } from '../../ground/ports/index.ts'
import type { InputRecord } from '../input/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { type ActiveJobs, type HeavyJobs, loadFollowUps, loadJobs, loadSnapshot, weightOf } from '../state/index.ts'

/** Estimated bytes that a commit cycle may write. A cycle takes at least one timer or input record. */
const cycleBytesMax = 4 * 1024 * 1024
/** Bytes of jobs that a commit cycle may hold in memory: many reports are small, but their jobs are not. */
const loadedBytesMax = 2 * cycleBytesMax
/** Share of both limits that timers may take while input records wait. */
const timerShare = 0.7
/** Number of jobs in the first slice, while their sizes are unknown, and target bytes of later slices. */
const sliceJobsFirst = 16
const sliceBytes = 2 * 1024 * 1024
const sliceJobsMax = 256

/** Bytes of a command without the result or message of its cause, and of a tombstone. */
const commandBytes = 256
const tombstoneBytes = 128

interface Loading {
  store: PartitionStore
  codecs: SchedulerCodecs
  heavyJobs: HeavyJobs
  /** Jobs that need not be read. */
  activeJobs: Pick<ActiveJobs, 'get'>
  /** Share of the usual bytes: smaller after a failed cycle. */
  share: number
}

export interface Batch {
  jobs: Map<string, Job>
  timers: Timer[]
  inputRecords: InputRecord[]
  /** Timers that do not fit. */
  timersLeft: Timer[]
  inputRecordsLeft: InputRecord[]
  /** How many of the jobs of hooks fit. */
  hookedJobs: number
  /** What the cycle may still write and load; 0 or less if it is full. */
  left: Room
}

interface Place extends Omit<Loading, 'share'> {
  /** The loaded jobs. */
  jobs: Map<string, Job>
  /** Definitions that are part of this cycle. */
  defined: Map<string, KnownDefinition>
}

/** Bytes. */
interface Room {
  written: number
  loaded: number
}

interface Item {
  jobId: string | undefined
  /** The run that it concerns; 0 if it concerns the job. */
  runNo: number
  /** How often it writes the bytes of the job, at most. */
  writes: number
  /** Bytes of its own that are written too. */
  brought?: number
  /** Whether it may start runs of a backfill, or follow-ups that wait. */
  begins?: boolean
  /** Whether it reads the queue of the follow-ups. */
  followUps?: boolean
  /** Bytes of the cause that each follower gets, if it ends a run. */
  causes?: number
  /** Whether it deletes all that is kept of the job. */
  deletes?: boolean
  /** The definition of the job after this input is applied. */
  definition?: KnownDefinition
}

/**
 * `inputRecordsFirst`: the first input record gets a place before any timer. Otherwise one that fills a cycle would wait for as
 * long as timers are due.
 */
export async function loadBatch(
  loading: Loading,
  timers: Timer[],
  inputRecords: InputRecord[],
  inputRecordsFirst = false,
  hookedIds: readonly string[] = [],
): Promise<Batch> {
  const jobs = new Map<string, Job>()
  // Later inputs of the same cycle refer to a definition that no store has yet.
  const place = { ...loading, jobs, defined: new Map<string, KnownDefinition>() }
  const room = { written: cycleBytesMax * loading.share, loaded: loadedBytesMax * loading.share }
  const items = inputRecords.map(ofInputRecord)
  const head = await fill(place, inputRecordsFirst ? items.splice(0, 1) : [], room, true)
  const forTimers = without(
    inputRecords.length === 0 ? room : { written: room.written * timerShare, loaded: room.loaded * timerShare },
    head,
  )
  const first = await fill(place, timers.map(ofTimer), forTimers, head.count === 0)
  const left = without(without(room, head), first)
  const then = await fill(place, items, left, head.count + first.count === 0)
  const inputRecordCount = head.count + then.count
  const rest = without(left, then)
  const isEmpty = first.count + inputRecordCount === 0
  const hooked = await fill(place, hookedIds.map(ofHook), rest, isEmpty)
  return {
    jobs,
    timers: timers.slice(0, first.count),
    inputRecords: inputRecords.slice(0, inputRecordCount),
    timersLeft: timers.slice(first.count),
    inputRecordsLeft: inputRecords.slice(inputRecordCount),
    hookedJobs: hooked.count,
    left: without(rest, hooked),
  }
}

const without = (room: Room, used: Room): Room => ({ written: room.written - used.written, loaded: room.loaded - used.loaded })

/** Loads the jobs of the first waiting runs: as many as there is room for, and at least one. Resolves with their number. */
export async function loadWaiters(loading: Omit<Loading, 'share'>, batch: Batch, waiters: Waiter[]): Promise<number> {
  const { jobs, left } = batch
  const items = waiters.map(({ jobId, runNo }) => ({ jobId, runNo, writes: 1 }))
  const place = { ...loading, jobs, defined: new Map<string, KnownDefinition>() }
  return (await fill(place, items, left, true)).count
}

/** Loads the jobs of the first items: as many as there is room for; with `atLeastOne` the first one whatever its size. */
async function fill(
  { store, codecs, heavyJobs, activeJobs, jobs, defined }: Place,
  items: Item[],
  room: Room,
  atLeastOne: boolean,
): Promise<Room & { count: number }> {
  const used = { count: 0, written: 0, loaded: 0 }
  let sliceJobs = sliceJobsFirst
  let known: ReadonlyMap<string, Job> = new Map()
  for (let at = 0; at < items.length; at++) {
    const item = items[at] as Item
    const { jobId, runNo, writes, brought = 0, begins = false, followUps = false, definition } = item
    const mayStop = used.count > 0 || !atLeastOne
    if (jobId !== undefined && !jobs.has(jobId)) {
      if (mayStop && used.loaded + heavyJobs.of(jobId) > room.loaded) return used
      if (!known.has(jobId)) {
        known = await loadJobs(store, codecs, ...nextIds(items, at, sliceJobs, jobs, heavyJobs), activeJobs)
        let sum = 0
        for (const [id, job] of known) {
          const weight = weightOf(job)
          heavyJobs.set(id, weight)
          sum += weight
        }
        sliceJobs = Math.min(Math.max(1, Math.floor(sliceBytes / (sum / known.size + 1))), sliceJobs * 2, sliceJobsMax)
      }
    }
    const job = jobId === undefined ? undefined : (jobs.get(jobId) ?? known.get(jobId))
    const had = job !== undefined && jobs.has(job.id) ? weightOf(job) : 0
    if (job !== undefined && runNo > 0) await loadSnapshot(store, codecs, job, runNo)
    const loading = job !== undefined && followUps ? loadFollowUps(store, codecs, job) : undefined
    if (loading !== undefined) await loading
    const loaded = used.loaded + (job === undefined ? 0 : weightOf(job)) - had
    const next = jobId === undefined ? undefined : defined.get(jobId)
    const heaviest = Math.max(job === undefined ? 0 : weightOf(job, runNo), next?.bytes.length ?? 0)
    // Any input of a job with a running backfill may start as many of its runs as one step may.
    const most = (next ?? job?.definition)?.spec?.maxConcurrentRuns ?? 0
    const goesOn = begins || job?.state?.backfill ? Math.min(backfillRunsMax(heaviest), most) : 0
    // A queued occurrence starts with the end of another run.
    const begun = goesOn + ((job?.state?.queuedFor ?? null) === null ? 0 : 1)
    const written = used.written + (writes + begun) * heaviest + brought + causesBytes(job, item) + tombstonesBytes(job, item)
    if (mayStop && (loaded > room.loaded || written > room.written)) return used
    if (job !== undefined) jobs.set(job.id, job)
    if (jobId !== undefined && definition !== undefined) defined.set(jobId, definition)
    Object.assign(used, { count: used.count + 1, loaded, written })
  }
  return used
}

/** A run that ends writes a command for each of its followers. */
function causesBytes(job: Job | undefined, { causes = 0 }: Item): number {
  const { onSuccess = [], onFailure = [] } = (causes > 0 ? job?.definition?.spec : undefined) ?? {}
  return causes * Math.max(onSuccess.length, onFailure.length)
}

function tombstonesBytes(job: Job | undefined, { deletes = false }: Item): number {
  const { deadRuns, followUps } = (deletes ? job?.state : undefined) ?? { deadRuns: [], followUps: null }
  const pages = followUps === null ? 0 : followUps.lastPage - followUps.firstPage + 1
  return tombstoneBytes * (deadRuns.length + pages)
}

/**
 * Ids of jobs that are not loaded, starting at item `from`, and the first run of each. A job that is known to be heavy ends the
 * slice.
 */
function nextIds(
  items: Item[],
  from: number,
  max: number,
  jobs: ReadonlyMap<string, Job>,
  heavyJobs: HeavyJobs,
): [ids: string[], runs: Map<string, number>] {
  const runs = new Map<string, number>()
  let sum = 0
  for (let at = from; at < items.length && runs.size < max && sum < sliceBytes; at++) {
    const { jobId, runNo = 0 } = items[at] ?? {}
    if (jobId === undefined || jobs.has(jobId) || runs.has(jobId)) continue
    runs.set(jobId, runNo)
    sum += heavyJobs.of(jobId)
  }
  return [[...runs.keys()], runs]
}

const ofHook = (jobId: string): Item => ({ jobId, runNo: 0, writes: 1 })

/** A failed attempt is written twice: as a dead letter, and for a redrive. */
function ofTimer({ jobId, kind, runNo }: Timer): Item {
  // With its cause, each that starts is written twice.
  if (kind === timerKind.followUps)
    return { jobId, runNo, writes: 1, brought: 2 * followUpPageBytesMax, begins: true, followUps: true }
  const gives = kind === timerKind.lease || kind === timerKind.attemptTimeout
  return { jobId, runNo, writes: gives ? 2 : 1 }
}

function ofInputRecord({ jobId, input, heartbeat }: InputRecord): Item {
  if (input === undefined) return { jobId: heartbeat === undefined ? undefined : jobId, runNo: 0, writes: 0 }
  if (input.kind === 'command') {
    const { type, runNo, payload, trigger, cause } = input.command
    // A redriven run, and an input of its own, goes to the worker and is kept for another attempt.
    const writes = type === 'REDRIVE' || cause !== null ? 2 : 1
    const followUps = type === 'TRIGGER' && trigger === 'FOLLOW_UP'
    return {
      jobId,
      runNo: runNo ?? 0,
      writes,
      brought: 2 * ((payload?.length ?? 0) + (cause?.result?.length ?? 0)),
      begins: type === 'BACKFILL',
      followUps,
    }
  }
  // A definition is written only to the store, but the one it replaces may be kept for runs.
  if (input.kind === 'definition') return { jobId, runNo: 0, writes: 1, definition: input.definition }
  if (input.kind !== 'event') return { jobId, runNo: 0, writes: 1, deletes: input.kind === 'deletion' }
  const { type, runNo, result, error } = input.event
  const mayEnd = type === 'SUCCEEDED' || type === 'FAILED'
  return {
    jobId,
    runNo,
    writes: type === 'FAILED' ? 2 : type === 'RETRY_DUE' || type === 'RELEASED' ? 1 : 0,
    ...(mayEnd && { causes: commandBytes + (result?.length ?? error?.message.length ?? 0) }),
  }
}
