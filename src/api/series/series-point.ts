/** One step of the series: what all owners together did in it, and the largest values that were seen of what stands. */
import { type LatenessClass, percentileOf } from '../../../streams/text/index.ts'
import type { PartitionOwnerView, ProcessCounts } from '../owners/index.ts'

/** What happened in an interval, as the difference of counts. */
export interface Happened {
  dispatched: number
  started: number
  ended: number
  failed: number
  retried: number
  skipped: number
  lateness: LatenessClass[]
}

/** What stood at an instant. */
export interface Stood {
  active: number
  waiting: number
  backlog: number
  overdueMs: number
  /** Null while an owner counts them. */
  deadLetters: number | null
}

/** Counts are for the whole step. */
export interface SeriesPoint extends Omit<Happened, 'lateness'>, Stood {
  /** Begin of the step, epoch ms. */
  at: number
  /** Null when nothing started. */
  p50Ms: number | null
  p99Ms: number | null
  maxMs: number | null
}

export const pointFields = [
  ...(['dispatched', 'started', 'ended', 'failed', 'retried', 'skipped'] as const),
  ...(['active', 'waiting', 'backlog', 'overdueMs', 'deadLetters', 'p50Ms', 'p99Ms', 'maxMs'] as const),
] as const
const summed = ['dispatched', 'started', 'ended', 'failed', 'retried', 'skipped'] as const
const largest = ['active', 'waiting', 'backlog', 'overdueMs'] as const

/** Statuses of runs that ended without success after their last attempt. */
const failures = ['FAILED', 'DEAD']

/** Without earlier counts of a process that has run for longer, nothing is known of the interval. */
export function happenedBetween(earlier: ProcessCounts | undefined, later: ProcessCounts): Happened | undefined {
  const starts = later.lateness.map(
    ([upToMs, count], index): LatenessClass => [upToMs, count - (earlier?.lateness[index]?.[1] ?? 0)],
  )
  const of = (pick: (counts: ProcessCounts) => number): number => pick(later) - (earlier === undefined ? 0 : pick(earlier))
  const total = (counts: Record<string, number>, names = Object.keys(counts)): number =>
    names.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
  const written = of((counts) => counts.written)
  const happened = {
    dispatched: of((counts) => counts.dispatched) + written,
    started: starts.reduce((sum, [, count]) => sum + count, 0) + written,
    ended: of(({ ended }) => total(ended)),
    failed: of(({ ended }) => total(ended, failures)),
    retried: of(({ retries }) => retries),
    skipped: of(({ skipped }) => total(skipped)),
    lateness: starts,
  }
  return summed.some((name) => happened[name] < 0) || starts.some(([, count]) => count < 0) ? undefined : happened
}

export function stoodIn(views: readonly PartitionOwnerView[]): Stood {
  const stood: Stood = { active: 0, waiting: 0, backlog: 0, overdueMs: 0, deadLetters: 0 }
  for (const { underWay, mailboxDepth, overdueMs, standing } of views) {
    stood.active += underWay.dispatched + underWay.running
    stood.waiting += underWay.waiting
    stood.backlog += underWay.dispatched + mailboxDepth
    stood.overdueMs = Math.max(stood.overdueMs, Math.round(overdueMs))
    if (stood.deadLetters !== null) stood.deadLetters = standing == null ? null : stood.deadLetters + standing.deadRuns
  }
  return stood
}

/** The samples of one step. */
export class StepSum {
  readonly at: number
  readonly #point: SeriesPoint
  /** Starts by the bound of their class: processes of two releases may have different classes. */
  readonly #starts = new Map<number | null, number>()

  constructor(at: number) {
    this.at = at
    const nothing = { dispatched: 0, started: 0, ended: 0, failed: 0, retried: 0, skipped: 0 }
    const stood = { active: 0, waiting: 0, backlog: 0, overdueMs: 0, deadLetters: null }
    this.#point = { at, ...nothing, ...stood, p50Ms: null, p99Ms: null, maxMs: null }
  }

  add(happened: readonly Happened[], stood: Stood): void {
    const point = this.#point
    for (const each of happened) {
      for (const name of summed) point[name] += each[name]
      for (const [upToMs, starts] of each.lateness) this.#starts.set(upToMs, (this.#starts.get(upToMs) ?? 0) + starts)
    }
    for (const name of largest) point[name] = Math.max(point[name], stood[name])
    point.deadLetters = stood.deadLetters ?? point.deadLetters
  }

  get point(): SeriesPoint {
    const classes = [...this.#starts].sort(([a], [b]) => (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY))
    const ofShare = (share: number): number | null => {
      const ms = percentileOf(classes, share)
      return ms === undefined ? null : Math.round(ms * 10) / 10
    }
    return { ...this.#point, p50Ms: ofShare(0.5), p99Ms: ofShare(0.99), maxMs: ofShare(1) }
  }
}
