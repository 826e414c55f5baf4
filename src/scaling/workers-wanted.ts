/**
 * How many workers a pool needs. Pure, and the only place of the formula: executor processes and the metric for Kubernetes both use it.
 *
 *   needed  = (max(arrivals, forecast / 30 s) + backlog / 10 s) / capacity        workers for what comes, and for the backlog in 10 s
 *   slots   = (running + backlog + forecast) / slots of a worker                  workers with a slot for every run
 *   wanted  = the largest of: running / slots of a worker, `needed`, and 1 more than now while runs wait for 2 s or longer;
 *             at most the partitions of the pool, because each is read by one worker
 *
 * Capacity is the number of runs that a worker starts in a second. While runs wait and the number of workers stays the same, it is measured,
 * and kept for 10 minutes. Before that it follows from how long runs take, and `slots` is the most that `needed` may be.
 *
 * Not each backlog is a lack of workers: all may wait for one partition, or for a handler that blocks its worker. So each step up is tried. If
 * with more workers no more runs start or are at work, and no fewer wait, more are of no use: for 10 minutes the backlog counts for one worker
 * only, unless it grows. (What a batch gathers, and what an untracked handler works at, is in the lag and no part of the backlog, see PoolLoads.)
 */

/** The backlog is to be worked off in this time. */
export const drainSeconds = 10
/** The forecast covers this time from now on. */
export const forecastMs = 30_000
/** Runs that wait this long need another worker. Workers commit what they have started every second, so less is not known. */
export const lateMsMax = 2_000
/** A change of the number of workers takes this long to show: a process starts, and the group shares its partitions again. */
export const settleMs = 10_000
/** How long a measured capacity is used. */
export const capacityKeptMs = 600_000
/** Starts of each worker in one measurement from which on it says what the worker can do. */
export const startsMeasuredMin = 10
/**
 * With one worker more, at least this part of what one started before starts in addition, or handlers are at work in this part of its slots.
 * Otherwise it was of no use.
 */
const gainMin = 0.25
/** A backlog of this part of the one before has become smaller; one of that part has grown. */
const smaller = 0.9
const larger = 1.5
/** Runs by which a small backlog varies. */
const backlogNoise = 10

/** The load of a pool. */
export interface Load {
  /** Runs that could have started and have not. */
  backlog: number
  /** Runs that come due within `forecastMs`. */
  forecast: number
  /** How long the oldest of the backlog has waited at least. */
  lateMs: number
  /** Runs that came, and runs that started, per second since the measurement before. */
  arrivalsPerS: number
  startsPerS: number
  /** Starts since the measurement before. */
  starts: number
  /** Slots in which handlers are at work. Undefined: the owners do not answer. */
  running: number | undefined
  /** Workers of the pool, and runs that one of them takes at once. */
  workers: number
  slots: number
  /** Partitions of the topics of the pool. */
  partitions: number
}

/** The time in which a pool has the same number of workers. */
interface Stage {
  workers: number
  sinceMs: number
  /** Runs that started since then. */
  starts: number
  /** At the last measurement, and whether runs waited too long at it. */
  startsPerS: number
  backlog: number
  atWork: number
  isLate: boolean
}

/** What earlier loads showed. */
export interface Capacity {
  /** Runs that a worker starts in a second while runs wait, and when that was measured. */
  perWorkerPerS: number | undefined
  measuredAtMs: number
  now: Stage
  before: Stage | undefined
  /** More workers were of no use, with this backlog at this time. */
  futile: { atMs: number; backlog: number } | undefined
}

export type WantedReason = 'idle' | 'running' | 'backlog' | 'forecast' | 'arrivals' | 'lateness' | 'owners-unknown'

export interface Wanted {
  workers: number
  reason: WantedReason
  capacity: Capacity
}

/** `nowMs`: a steady clock. `before`: of the last call for this pool. */
export function workersWanted(load: Load, before: Capacity | undefined, nowMs: number): Wanted {
  const { backlog, forecast, arrivalsPerS, running, workers, slots, partitions } = load
  const capacity = learned(load, before, nowMs)
  const { isLate, sinceMs } = capacity.now
  const isFutile = capacity.futile !== undefined
  const waiting = isFutile ? 0 : backlog
  // What is at work has its slots. More are counted while a batch begins: its owners know of it before its worker says that it has one slot.
  const atWork = Math.min(running ?? 0, Math.max(workers, 1) * slots)
  const toCome = Math.max(arrivalsPerS, forecast / (forecastMs / 1_000))
  const throughput = Math.ceil(
    (toCome + waiting / drainSeconds) / (capacity.perWorkerPerS ?? assumedPerS({ ...load, running: running && atWork })) - tiny,
  )
  const forSlots = Math.ceil((atWork + waiting + forecast) / slots)
  const needed = capacity.perWorkerPerS === undefined ? Math.min(throughput, forSlots) : throughput
  const cause =
    waiting / drainSeconds >= toCome ? 'backlog' : forecast / (forecastMs / 1_000) > arrivalsPerS ? 'forecast' : 'arrivals'
  // At first, the workers that there are may be starting.
  const isSettled = workers === 0 || nowMs - sinceMs >= settleMs
  const claims: [number, WantedReason][] = [
    [Math.ceil(atWork / slots), 'running'],
    [needed, cause],
    [isFutile && backlog > 0 ? 1 : 0, 'backlog'],
    [isLate && !isFutile ? workers + (isSettled ? 1 : 0) : 0, 'lateness'],
    // What is unknown stops nobody.
    [running === undefined ? workers : 0, 'owners-unknown'],
  ]
  const [most, reason] = claims.reduce((best, claim) => (claim[0] > best[0] ? claim : best))
  return { workers: Math.min(most, partitions), reason: most === 0 ? 'idle' : reason, capacity }
}

/** 3.0000000001 workers are 3. */
const tiny = 1e-9

/**
 * Runs that a worker starts in a second, by how long they take: handlers at work = starts per second × duration. If none is seen at work, runs
 * are short, as far as any start. What is unknown takes a second.
 */
function assumedPerS({ running, startsPerS, slots }: Load): number {
  if (running === undefined || startsPerS === 0) return slots
  return running === 0 ? slots * Math.max(1, startsPerS) : (slots * startsPerS) / running
}

function learned(load: Load, before: Capacity | undefined, nowMs: number): Capacity {
  const { workers, startsPerS, starts } = load
  const isSame = before?.now.workers === workers
  const now = isSame ? continued(before.now, load, nowMs) : begun(load, nowMs)
  const earlier = isSame ? before.before : before?.now
  const isSettled = isSame && nowMs - now.sinceMs >= settleMs
  const futile = futileOf(now, earlier, before?.futile, load.slots, isSettled, nowMs)
  const common = { now, before: earlier, futile }
  // Workers that are of no use do not show what one can do.
  const isMeasured = now.isLate && isSettled && futile === undefined && workers > 0 && starts >= startsMeasuredMin * workers
  if (isMeasured) return { ...common, perWorkerPerS: startsPerS / workers, measuredAtMs: nowMs }
  const isKept = before?.perWorkerPerS !== undefined && nowMs - before.measuredAtMs < capacityKeptMs
  return {
    ...common,
    perWorkerPerS: isKept ? before.perWorkerPerS : undefined,
    measuredAtMs: isKept ? before.measuredAtMs : nowMs,
  }
}

const isLateOf = ({ backlog, lateMs }: Load): boolean => backlog > 0 && lateMs >= lateMsMax

/** The runs of the first measurement started before it. */
const begun = (load: Load, nowMs: number): Stage => ({
  ...{ workers: load.workers, sinceMs: nowMs, starts: 0, startsPerS: load.startsPerS },
  ...{ backlog: load.backlog, atWork: load.running ?? 0, isLate: isLateOf(load) },
})

function continued(stage: Stage, load: Load, nowMs: number): Stage {
  const starts = stage.starts + load.starts
  const seconds = (nowMs - stage.sinceMs) / 1_000
  const startsPerS = seconds > 0 ? starts / seconds : stage.startsPerS
  return { ...stage, starts, startsPerS, backlog: load.backlog, atWork: load.running ?? stage.atWork, isLate: isLateOf(load) }
}

/** Judged once a stage with more workers has settled and runs still wait; over when nothing waits, when the backlog grows, or after 10 minutes. */
function futileOf(
  now: Stage,
  before: Stage | undefined,
  known: Capacity['futile'],
  slots: number,
  isSettled: boolean,
  nowMs: number,
): Capacity['futile'] {
  const hasGrown = (from: number): boolean => now.backlog > from * larger + backlogNoise
  if (known !== undefined)
    return now.workers > 0 && now.backlog > 0 && nowMs - known.atMs < capacityKeptMs && !hasGrown(known.backlog)
      ? known
      : undefined
  if (before === undefined || !isSettled || !now.isLate || !before.isLate || before.workers === 0) return undefined
  if (now.workers <= before.workers || hasGrown(before.backlog) || now.backlog < before.backlog * smaller) return undefined
  const gained = now.startsPerS - before.startsPerS
  const startsMore = gained > 0 && gained >= (gainMin * before.startsPerS) / before.workers
  // Each step starts as many of long runs as the one before it.
  const worksMore = now.atWork - before.atWork >= gainMin * slots * (now.workers - before.workers)
  return startsMore || worksMore ? undefined : { atMs: nowMs, backlog: now.backlog }
}
