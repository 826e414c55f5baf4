/**
 * How many workers a pool needs. Pure, and the only place of the formula: executor processes and the metric for Kubernetes both use it.
 *
 *   needed  = (max(arrivals, forecast / 30 s) + backlog / 10 s) / pace            workers for what comes, and for the backlog in 10 s
 *   slots   = (running + backlog + forecast) / slots of a worker                  workers with a slot for every run
 *   wanted  = the largest of: running / slots of a worker, `needed`, and 1 more than now while runs wait for 2 s or longer;
 *             at most the partitions of the pool, because each is read by one worker
 *
 * Pace is the number of runs that a worker starts in a second. It is measured while runs wait, and doubled after an hour without a measurement.
 * Before the first it follows from how long runs take, and `slots` is the most that `needed` may be. (What a batch gathers is in the
 * lag and no part of the backlog, see PoolLoads.)
 */

/** The backlog is to be worked off in this time. */
export const drainSeconds = 10
/** The forecast covers this time from now on. */
export const forecastMs = 30_000
/** Runs that wait this long need another worker. Workers commit what they have started every second, so less is not known. */
export const lateMsMax = 2_000
/** A change of the number of workers takes this long to show: a process starts, and the group shares its partitions again. */
export const settleMs = 10_000
/** After this time a pace is taken for twice as much: handlers may have become shorter, and without a backlog nothing shows it. */
export const paceKeptMs = 3_600_000
/** Starts of each worker in one measurement from which on it says what the worker can do. */
export const startsMeasuredMin = 10

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

/** What earlier loads showed. */
export interface Pace {
  /** Runs that a worker starts in a second while runs wait, and when that was measured. Undefined: no run had to wait yet. */
  perWorkerPerS: number | undefined
  measuredAtMs: number
  /** The workers at the last call, and since when they are as many. */
  workers: number
  sinceMs: number
}

export type WantedReason = 'idle' | 'running' | 'backlog' | 'forecast' | 'arrivals' | 'lateness' | 'owners-unknown'

export interface Wanted {
  workers: number
  reason: WantedReason
  pace: Pace
}

/** `nowMs`: a steady clock. `before`: of the last call for this pool. */
export function workersWanted(load: Load, before: Pace | undefined, nowMs: number): Wanted {
  const { backlog, forecast, lateMs, arrivalsPerS, running, workers, slots, partitions } = load
  const isLate = backlog > 0 && lateMs >= lateMsMax
  const sinceMs = before?.workers === workers ? before.sinceMs : nowMs
  // At first, the workers that there are may be starting.
  const isSettled = workers === 0 || nowMs - sinceMs >= settleMs
  const pace = { ...measured(load, before, isLate && isSettled, nowMs), workers, sinceMs }
  // Running handlers have their slots. More are counted while a batch begins: its owners know of it before its worker says that it has one slot.
  const atWork = Math.min(running ?? 0, Math.max(workers, 1) * slots)
  const foreseenPerS = forecast / (forecastMs / 1_000)
  const toCome = Math.max(arrivalsPerS, foreseenPerS)
  const perWorkerPerS = pace.perWorkerPerS ?? assumedPerS({ ...load, running: running && atWork })
  const throughput = Math.ceil((toCome + backlog / drainSeconds) / perWorkerPerS - tiny)
  const forSlots = Math.ceil((atWork + backlog + forecast) / slots)
  const needed = pace.perWorkerPerS === undefined ? Math.min(throughput, forSlots) : throughput
  const cause = backlog / drainSeconds >= toCome ? 'backlog' : foreseenPerS > arrivalsPerS ? 'forecast' : 'arrivals'
  const candidates: [number, WantedReason][] = [
    [Math.ceil(atWork / slots), 'running'],
    [needed, cause],
    [isLate ? workers + (isSettled ? 1 : 0) : 0, 'lateness'],
    // A missing measurement stops nobody.
    [running === undefined ? workers : 0, 'owners-unknown'],
  ]
  const [most, reason] = candidates.reduce((best, candidate) => (candidate[0] > best[0] ? candidate : best))
  return { workers: Math.min(most, partitions), reason: most === 0 ? 'idle' : reason, pace }
}

/** 3.0000000001 workers are 3. */
const tiny = 1e-9

/**
 * Runs that a worker starts in a second, by how long they take: handlers at work = starts per second × duration. If none is seen at work, runs
 * are short, as far as any start. An unknown duration counts as a second.
 */
function assumedPerS({ running, startsPerS, slots }: Load): number {
  if (running === undefined || startsPerS === 0) return slots
  return running === 0 ? slots * Math.max(1, startsPerS) : (slots * startsPerS) / running
}

/** `isShown`: runs wait although the workers have settled, so each starts what it can. A worker that starts more shows that it can. */
function measured({ workers, startsPerS, starts }: Load, before: Pace | undefined, isShown: boolean, nowMs: number) {
  const seen = workers === 0 ? 0 : startsPerS / workers
  const { perWorkerPerS: last, measuredAtMs = nowMs } = before ?? {}
  const isNew = (isShown && workers > 0 && starts >= startsMeasuredMin * workers) || (last !== undefined && seen > last)
  if (isNew) return { perWorkerPerS: seen, measuredAtMs: nowMs }
  if (last !== undefined && nowMs - measuredAtMs >= paceKeptMs) return { perWorkerPerS: 2 * last, measuredAtMs: nowMs }
  return { perWorkerPerS: last, measuredAtMs }
}
