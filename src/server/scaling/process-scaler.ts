/**
 * Starts and stops the executor processes of this machine, so that there are as many as its pools need. A look every two seconds; the
 * decision is workers-wanted.ts for the pools, and processesWanted for this machine: within its limits, up at once, and down only to what was
 * the most within the cool-down. A missing measurement ends no process.
 */
import type { Clock } from '../../ground/clock/index.ts'
import { withTimeout } from '../../ground/concurrency/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import type { PoolLoad, PoolLoads } from './pool-loads.ts'
import type { WantedReason } from './workers-wanted.ts'

const lookEveryMs = 2_000
/** A measurement that has no answer by then has failed. */
const measuredMsMax = 10_000

/** Why the number changes: by the load of this pool, by the cool-down after one, or at the start. */
export interface Decision {
  reason: WantedReason | 'cool-down' | 'start'
  pool: string | null
}

/** The processes that are scaled. */
export interface KeptProcesses {
  /** Those that run, without those that are stopping. */
  readonly running: number
  /** Those of them that are paused by name: they are members of no group until they are resumed. */
  readonly paused: number
  /** Starts and stops until there are so many. Those that stop finish their handlers first; until then they count against the maximum. `why`: the number is a new one. */
  scaleTo(processes: number, why?: Decision): void
}

export interface ProcessScalerOptions extends ProcessLimits {
  loads: Pick<PoolLoads, 'measure'>
  processes: KeptProcesses
  /** name@host:pid:boot of this process, which its executor processes announce. */
  parent: string
  /** The pools that the processes serve. */
  pools: ReadonlySet<string>
  clock: Clock
  metrics: Pick<Metrics, 'executorsWanted' | 'executorChanges'>
  logger: Logger
}

export class ProcessScaler {
  readonly #options: ProcessScalerOptions
  #decided: Decided
  #cancelTimer: (() => void) | undefined
  #looking: Promise<void> | undefined
  #isStopped = false

  constructor(options: ProcessScalerOptions) {
    this.#options = options
    this.#decided = firstProcesses(options)
    options.metrics.executorsWanted.set(this.#decided.processes)
  }

  start(): void {
    const { clock } = this.#options
    this.#cancelTimer = clock.at(clock.nowMs() + lookEveryMs, () => {
      this.#looking = this.#look().finally(() => {
        if (!this.#isStopped) this.start()
      })
    })
  }

  /** From now on nothing is started or stopped. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTimer?.()
    await this.#looking
  }

  async #look(): Promise<void> {
    const { loads, clock, logger } = this.#options
    const measured = loads
      .measure()
      .catch(
        (error: unknown) =>
          void logger.debug(
            { event: 'load-unknown', err: error },
            'The load of the pools is unknown; the executor processes stay as they are.',
          ),
      )
    const found = (await withTimeout(clock, measuredMsMax, measured)) ?? []
    const ours = found.filter(({ pool }) => this.#options.pools.has(pool))
    if (ours.length > 0 && !this.#isStopped) this.#follow(ours)
  }

  #follow(loads: readonly PoolLoad[]): void {
    const { processes, parent, pools, clock, metrics, logger } = this.#options
    const before = this.#decided
    const wishes = loads.map((load) => {
      const own = { running: processes.running, paused: processes.paused, members: load.byParent.get(parent) ?? 0 }
      return { load, processes: shareOf(load.wanted, own, load.workers) }
    })
    const most = wishes.reduce((best, each) => (each.processes > best.processes ? each : best))
    // A pool that could not be measured may need all that there are.
    if (loads.length < pools.size) most.processes = Math.max(most.processes, before.processes)
    const reason = `${most.load.reason} of pool ${most.load.pool}`
    this.#decided = processesWanted({ processes: most.processes, reason }, before, this.#options, clock.steadyMs())
    const wanted = this.#decided.processes
    metrics.executorsWanted.set(wanted)
    if (wanted !== before.processes) {
      const { pool, backlog, forecast, lateMs, running, workers } = most.load
      metrics.executorChanges.inc({ direction: wanted > before.processes ? 'up' : 'down' })
      logger.info(
        {
          event: 'executor-processes-changed',
          from: before.processes,
          to: wanted,
          reason: this.#decided.reason,
          pool,
          backlog,
          forecast,
          lateMs,
          running,
          workers,
        },
        `Executor processes: ${before.processes} → ${wanted} (${this.#decided.reason}).`,
      )
    }
    const isUp = wanted > before.processes
    const why =
      wanted === before.processes ? undefined : ({ reason: isUp ? most.load.reason : 'cool-down', pool: most.load.pool } as const)
    processes.scaleTo(wanted, why)
  }
}

/** What one measurement of all pools says. */
export interface Wish {
  /** Processes of this machine that the pools need. */
  processes: number
  reason: string
}

/** The wishes of the cool-down that are still of use: each is larger than all after it. */
export interface Decided {
  /** Undefined: nothing was measured yet. */
  atMs: number | undefined
  processes: number
  recent: readonly { atMs: number; processes: number }[]
  reason: string
}

export interface ProcessLimits {
  min: number
  max: number
  coolDownMs: number
}

export const firstProcesses = ({ min }: ProcessLimits): Decided => ({
  atMs: undefined,
  processes: min,
  recent: [],
  reason: 'start',
})

/** `nowMs`: a steady clock. */
export function processesWanted(wish: Wish, before: Decided, { min, max, coolDownMs }: ProcessLimits, nowMs: number): Decided {
  const atMs = nowMs
  const processes = Math.min(Math.max(wish.processes, min), max)
  const isGap = before.atMs !== undefined && nowMs - before.atMs >= gapMs
  const earlier = isGap ? [{ atMs, processes: before.processes }] : before.recent
  const recent = [...earlier.filter((each) => nowMs - each.atMs < coolDownMs && each.processes > processes), { atMs, processes }]
  const most = recent[0]?.processes ?? processes
  if (processes > before.processes) return { atMs, processes, recent, reason: wish.reason }
  if (most < before.processes) return { atMs, processes: most, recent, reason: 'cool-down' }
  return { atMs, processes: before.processes, recent, reason: before.reason }
}

/** After such a time without a measurement, nobody knows how many were needed: the cool-down begins anew. */
export const gapMs = 15_000

/** Processes of this machine: all that run, those that are members of the pool, and those that are paused. The others are starting. */
export interface OwnProcesses {
  running: number
  members: number
  paused: number
}

/**
 * The share of this machine in the workers of a pool, by the share of the members that it has now. Others who count the same come to theirs.
 * While those that it has are starting, its share is unknown, and it keeps them. Those that are paused do nothing for the pool, so they come in
 * addition.
 */
export function shareOf(wanted: number, { running, members, paused }: OwnProcesses, all: number): number {
  if (members === 0 && paused < running) return running
  if (members === 0) return paused + (all === 0 ? wanted : 0)
  return paused + (members >= all ? wanted : Math.ceil((wanted * members) / all - 1e-9))
}
