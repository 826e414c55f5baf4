/**
 * The load of pools, from the log and the owners. It needs no worker: the backlog is the lag of the group of the pool, as Kafka shows it
 * also while the group has no members. Workers say with the offsets that they commit which of it waits for no worker, because a batch
 * gathers it or a handler is at work. Nothing is asked unless somebody wants to know.
 */
import { priorities, type TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { CommittedOffset, GroupMember, LogAdmin, OffsetRange, PoolRuns } from '../../ground/ports/index.ts'
import { processesNoteOf, slotsOf, takenOf } from '../../ground/records/index.ts'
import { forecastMs, type Load, type Pace, type Wanted, workersWanted } from './workers-wanted.ts'

/** Measurements that are remembered, for the age of the backlog. */
const samplesMax = 60
/** A forecast is asked for again after this time: owners read timers and definitions for it. */
const forecastAgeMs = 10_000
/** Pools that one process measures: four small requests for each. */
const poolsMax = 1_000
/** Two measurements of a pool are at least this far apart. Callers in between get the last one. */
const measuredEveryMs = 1_000

export interface PoolLoad extends Load, Omit<Wanted, 'workers' | 'pace'> {
  pool: string
  /** Workers that the pool needs. */
  wanted: number
  /** Workers that are executor processes, by their parent. */
  byParent: ReadonlyMap<string, number>
}

export interface PoolLoadsOptions {
  admin: Pick<LogAdmin, 'offsetsOf' | 'committedOf' | 'groupMembers'>
  names: TopicNames
  clock: Pick<Clock, 'nowMs' | 'steadyMs'>
  /** The pools to measure. */
  pools: () => Promise<readonly string[]>
  /** Runs that a worker takes at once, of a pool whose workers do not say it. */
  slots: number
  /** Active runs by pool, of every partition; undefined for one whose owner does not answer. */
  runs: () => Promise<readonly (readonly PoolRuns[] | undefined)[]>
  /** Whether the pool is paused. Then what comes due waits at its owner. While it is drained, what was dispatched before still starts. */
  pauseOf: (pool: string) => { isDrained: boolean } | undefined
  /** Runs by pool that come due in a range. Rejects if an owner does not answer. */
  forecast: (range: { from: number; to: number; bucketMs: number }) => Promise<ReadonlyMap<string, number>>
  logger: Pick<Logger, 'warn'>
}

/** Facts of the owners and the log, read once for all pools. */
interface Seen {
  isDue: boolean
  running: number | undefined
  coming: number
  ranges: ReadonlyMap<string, readonly OffsetRange[]>
}

const kinds = priorities.flatMap((priority) => [false, true].map((ahead) => ({ priority, ahead })))

/** Sums over the topics of a pool. */
interface Lag {
  end: number
  /** Started, or taken into a batch that gathers. */
  done: number
  behind: number
  partitions: number
  /** What the workers say of handlers at work, see TakenRuns. */
  sharing: number
}

const noLag: Lag = { end: 0, done: 0, behind: 0, partitions: 0, sharing: 0 }

interface Known {
  samples: { atMs: number; end: number; done: number; usualEnd: number }[]
  pace: Pace | undefined
  last: PoolLoad | undefined
}

export class PoolLoads {
  readonly #options: PoolLoadsOptions
  readonly #pools = new Map<string, Known>()
  #forecast: { atMs: number; pools: ReadonlyMap<string, number> } | undefined
  #measuring: Promise<PoolLoad[]> | undefined
  #leftOut = 0

  constructor(options: PoolLoadsOptions) {
    this.#options = options
  }

  /**
   * The loads of the pools now, without those that cannot be measured, such as one without topics. Rejects if there is no other. Callers
   * at the same time share one measurement.
   */
  async measure(): Promise<PoolLoad[]> {
    this.#measuring ??= this.#measure().finally(() => {
      this.#measuring = undefined
    })
    return this.#measuring
  }

  async #measure(): Promise<PoolLoad[]> {
    const pools = this.#limited(new Set(await this.#options.pools()))
    for (const pool of this.#pools.keys()) if (!pools.has(pool)) this.#pools.delete(pool)
    const due = new Set([...pools].filter((pool) => this.#isDue(pool)))
    const topics = [...due].flatMap((pool) => this.#topicsOf(pool))
    const [runs, forecast, ranges] = await Promise.all([
      this.#runs(),
      this.#comingDue(),
      topics.length === 0 ? new Map<string, OffsetRange[]>() : this.#options.admin.offsetsOf(topics),
    ])
    const measured = await Promise.allSettled(
      [...pools].map((pool) => {
        const coming = this.#options.pauseOf(pool) !== undefined ? 0 : (forecast.get(pool) ?? 0)
        return this.#fresh(pool, { isDue: due.has(pool), running: runs?.get(pool) ?? (runs && 0), coming, ranges })
      }),
    )
    const loads = measured.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    const failed = measured.find((each) => each.status === 'rejected')
    if (loads.length === 0 && failed !== undefined) throw failed.reason
    return loads
  }

  /** Those that are measured. Says so when their number changes. */
  #limited(pools: ReadonlySet<string>): ReadonlySet<string> {
    const leftOut = Math.max(0, pools.size - poolsMax)
    if (leftOut !== this.#leftOut && leftOut > 0)
      this.#options.logger.warn(
        { event: 'pools-not-measured', pools: pools.size, leftOut },
        `${pools.size} pools: the load of the first ${poolsMax} is measured. The other ${leftOut} have no metric of it.`,
      )
    this.#leftOut = leftOut
    return leftOut === 0 ? pools : new Set([...pools].slice(0, poolsMax))
  }

  #topicsOf(pool: string): string[] {
    return kinds.map(({ priority, ahead }) => this.#options.names.executions(pool, priority, ahead))
  }

  #isDue(pool: string): boolean {
    const known = this.#pools.get(pool)
    const ageMs = this.#options.clock.steadyMs() - (known?.samples.at(-1)?.atMs ?? 0)
    return known?.last === undefined || ageMs >= measuredEveryMs
  }

  async #fresh(pool: string, seen: Seen): Promise<PoolLoad> {
    const known = this.#pools.get(pool) ?? { samples: [], pace: undefined, last: undefined }
    this.#pools.set(pool, known)
    if (known.last === undefined || seen.isDue) known.last = await this.#load(pool, known, seen)
    return known.last
  }

  async #load(pool: string, known: Known, { running, coming, ranges }: Seen): Promise<PoolLoad> {
    const { admin, names, clock, pauseOf } = this.#options
    const group = names.group(`exec.${pool}`)
    const topics = this.#topicsOf(pool)
    const lacking = topics.find((topic) => !ranges.has(topic))
    if (lacking !== undefined) throw new Error(`The topic ${lacking} does not exist.`)
    const [members, committed] = await Promise.all([admin.groupMembers(group), admin.committedOf(group, topics)])
    // Without a worker, what one has said is over.
    const saidAtMs = members.length === 0 ? undefined : clock.nowMs()
    const lags = topics.map((topic) => lagOf(ranges.get(topic) ?? [], committed.get(topic) ?? [], saidAtMs))
    const usual = sum(lags.filter((_, index) => kinds[index]?.ahead === false))
    // Runs that were dispatched ahead of their time come due within seconds, or two minutes before a large burst.
    const early = sum(lags.filter((_, index) => kinds[index]?.ahead === true)).behind
    const all = sum(lags)
    const atMs = clock.steadyMs()
    const before = known.samples.at(-1)
    const seconds = before === undefined ? 0 : (atMs - before.atMs) / 1_000
    const rate = (now: number, then = now): number => (seconds === 0 ? 0 : Math.max(0, now - then) / seconds)
    // Those that were dispatched ahead are not due.
    const waiting = known.samples.find(({ usualEnd }) => usualEnd > usual.done)
    known.samples = [...known.samples, { atMs, end: all.end, done: all.done, usualEnd: usual.end }].slice(-samplesMax)
    const load: Load = {
      backlog: usual.behind,
      forecast: coming + early,
      lateMs: usual.behind === 0 || waiting === undefined ? 0 : atMs - waiting.atMs,
      arrivalsPerS: rate(all.end, before?.end),
      startsPerS: rate(all.done, before?.done),
      starts: Math.max(0, all.done - (before?.done ?? all.done)),
      running: running === undefined ? undefined : Math.max(0, running - all.sharing),
      workers: members.length,
      slots: this.#slotsOf(members, known),
      partitions: Math.max(...lags.map(({ partitions }) => partitions)),
    }
    // What waits for the end of a pause waits for no worker.
    const nothingStarts = pauseOf(pool)?.isDrained === false
    const seen = nothingStarts ? { ...load, backlog: 0, forecast: 0, lateMs: 0, arrivalsPerS: 0 } : load
    const { workers: wanted, reason, pace } = workersWanted(seen, known.pace, atMs)
    known.pace = pace
    return { ...load, pool, wanted, reason, byParent: byParentOf(members, known.last) }
  }

  /** While a group shares its partitions, it does not show what its members announce. */
  #slotsOf(members: readonly GroupMember[], { last }: Known): number {
    if (members.some(({ isJoining }) => isJoining) && last !== undefined) return last.slots
    return meanSlotsOf(members, this.#options.slots)
  }

  /** Handlers at work by pool; undefined if an owner does not answer. */
  async #runs(): Promise<Map<string, number> | undefined> {
    const found = await this.#options.runs().catch(() => [undefined])
    const running = new Map<string, number>()
    for (const pools of found) {
      if (pools === undefined) return undefined
      for (const each of pools) running.set(each.pool, (running.get(each.pool) ?? 0) + each.running)
    }
    return running
  }

  async #comingDue(): Promise<ReadonlyMap<string, number>> {
    const { clock, forecast } = this.#options
    const atMs = clock.steadyMs()
    if (this.#forecast !== undefined && atMs - this.#forecast.atMs < forecastAgeMs) return this.#forecast.pools
    const from = Math.round(clock.nowMs())
    // Without an answer nothing is foreseen; the backlog shows it later.
    const pools = await forecast({ from, to: from + forecastMs, bucketMs: forecastMs }).catch(() => new Map<string, number>())
    this.#forecast = { atMs, pools }
    return pools
  }
}

function sum(lags: readonly Lag[]): Lag {
  const total = { ...noLag }
  for (const lag of lags) for (const key of Object.keys(noLag) as (keyof Lag)[]) total[key] += lag[key]
  return total
}

/** Without a commit, the group begins at the first record. `saidAtMs`: the wall clock; undefined: what workers have said does not count. */
function lagOf(ranges: readonly OffsetRange[], committed: readonly CommittedOffset[], saidAtMs: number | undefined): Lag {
  const committedOf = new Map(committed.map((each) => [each.partition, each]))
  return sum(
    ranges.map(({ partition, earliest, next }) => {
      const { offset = earliest, metadata } = committedOf.get(partition) ?? {}
      const said = saidAtMs === undefined ? undefined : takenOf(metadata, saidAtMs)
      const accepted = said === undefined ? offset : Math.max(offset, said.reach - said.waiting)
      const done = Math.min(Math.max(accepted, earliest), next)
      return { end: next, done, behind: next - done, partitions: 1, sharing: said?.sharing ?? 0 }
    }),
  )
}

function byParentOf(members: readonly GroupMember[], last: PoolLoad | undefined): ReadonlyMap<string, number> {
  if (members.some(({ isJoining }) => isJoining) && last !== undefined) return last.byParent
  const workers = new Map<string, number>()
  for (const { userData } of members) {
    const { parent } = processesNoteOf(userData) ?? {}
    if (parent !== undefined) workers.set(parent, (workers.get(parent) ?? 0) + 1)
  }
  return workers
}

/** The mean of those that say it. */
function meanSlotsOf(members: readonly { userData: unknown }[], other: number): number {
  const told = members.flatMap(({ userData }) => slotsOf(userData) ?? [])
  return told.length === 0 ? other : Math.max(1, told.reduce((all, each) => all + each, 0) / told.length)
}
