/**
 * How many workers a pool needs. Pure, and the only place of the formula: executor processes and the metric for Kubernetes both use it.
 *
 *   needed  = (max(arrivals, forecast / 30 s) + backlog / 10 s) / capacity        workers for what comes, and for the backlog in 10 s
 *   slots   = (running + backlog + forecast) / slots of a worker                  workers with a slot for every run
 *   wanted  = the largest of: running / slots of a worker, `needed`, and 1 more than now while runs wait for 2 s or longer
 *
 * Capacity is the number of runs that a worker starts in a second. While runs wait and the number of workers stays the same, it is measured,
 * and kept for 10 minutes. Before that it follows from how long runs take, and `slots` is the most that `needed` may be.
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
/** No pool needs more: a partition of a pool has one worker. */
export const workersMax = 10_000

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
  /** Handlers at work. Undefined: the owners do not answer. */
  running: number | undefined
  /** Workers of the pool, and runs that one of them takes at once. */
  workers: number
  slots: number
}

/** What earlier loads showed. */
export interface Capacity {
  /** Runs that a worker starts in a second while runs wait, and when that was measured. */
  perWorkerPerS: number | undefined
  measuredAtMs: number
  workers: number
  /** Since when the pool has this number of workers. */
  sinceMs: number
}

export type WantedReason = 'idle' | 'running' | 'backlog' | 'forecast' | 'arrivals' | 'lateness' | 'owners-unknown'

export interface Wanted {
  workers: number
  reason: WantedReason
  capacity: Capacity
}

/** `nowMs`: a steady clock. `before`: of the last call for this pool. */
export function workersWanted(load: Load, before: Capacity | undefined, nowMs: number): Wanted {
  const { backlog, forecast, lateMs, arrivalsPerS, running, workers, slots } = load
  const isLate = backlog > 0 && lateMs >= lateMsMax
  const capacity = learned(load, isLate, before, nowMs)
  const atWork = running ?? 0
  const toCome = Math.max(arrivalsPerS, forecast / (forecastMs / 1_000))
  const throughput = Math.ceil((toCome + backlog / drainSeconds) / (capacity.perWorkerPerS ?? assumedPerS(load)) - tiny)
  const forSlots = Math.ceil((atWork + backlog + forecast) / slots)
  const needed = capacity.perWorkerPerS === undefined ? Math.min(throughput, forSlots) : throughput
  const cause =
    backlog / drainSeconds >= toCome ? 'backlog' : forecast / (forecastMs / 1_000) > arrivalsPerS ? 'forecast' : 'arrivals'
  const isSettled = nowMs - capacity.sinceMs >= settleMs
  const claims: [number, WantedReason][] = [
    [Math.ceil(atWork / slots), 'running'],
    [needed, cause],
    // At first, the workers that there are may be starting.
    [isLate ? (isSettled || workers === 0 ? workers + 1 : workers) : 0, 'lateness'],
    // What is unknown stops nobody.
    [running === undefined ? workers : 0, 'owners-unknown'],
  ]
  const [most, reason] = claims.reduce((best, claim) => (claim[0] > best[0] ? claim : best))
  return { workers: Math.min(most, workersMax), reason: most === 0 ? 'idle' : reason, capacity }
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

function learned({ startsPerS, starts, workers }: Load, isLate: boolean, before: Capacity | undefined, nowMs: number): Capacity {
  const isSame = before !== undefined && before.workers === workers
  const sinceMs = isSame ? before.sinceMs : nowMs
  const isMeasured = isLate && isSame && nowMs - sinceMs >= settleMs && workers > 0 && starts >= startsMeasuredMin * workers
  if (isMeasured) return { perWorkerPerS: startsPerS / workers, measuredAtMs: nowMs, workers, sinceMs }
  const isKept = before?.perWorkerPerS !== undefined && nowMs - before.measuredAtMs < capacityKeptMs
  return {
    perWorkerPerS: isKept ? before.perWorkerPerS : undefined,
    measuredAtMs: isKept ? before.measuredAtMs : nowMs,
    workers,
    sinceMs,
  }
}
