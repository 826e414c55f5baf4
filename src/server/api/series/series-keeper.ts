/**
 * The series of this process in memory: a step of 10 s for the last hour, and one of a minute for the last 24 h, with the starts,
 * takeovers and deploys in them. A step is what all owners together did in it, and the largest values that were seen of what stands. About 2,000 small objects, whatever the load.
 */

import { type LatenessClass, percentileOf } from '../../../../streams/text/index.ts'
import type { PartitionOwnerView, ProcessCounts } from '../../peers/index.ts'
import { seriesDayMs, seriesFineStepMs, seriesHourMs, seriesMarksMax, seriesStepMs } from '../schemas/index.ts'

export interface SeriesMark {
  /** Epoch ms. */
  at: number
  kind: 'start' | 'takeover' | 'deploy'
  text: string
  /** The versions of Duelog that ran from then on, where they became known. */
  version: string | null
}

export type SeriesRange = 'hour' | 'day'

export class SeriesKeeper {
  readonly #rows = {
    hour: new Row(seriesFineStepMs, seriesHourMs),
    day: new Row(seriesStepMs, seriesDayMs),
  }
  readonly #marks: SeriesMark[] = []

  /** A sample at `at`, with what happened since the last one. Returns whether it has completed a minute. */
  add(at: number, happened: readonly Happened[], stood: Stood): boolean {
    this.#rows.hour.add(at, happened, stood)
    return this.#rows.day.add(at, happened, stood)
  }

  mark(mark: SeriesMark): void {
    this.#marks.push(mark)
    if (this.#marks.length > seriesMarksMax) this.#marks.shift()
  }

  /** Minutes and marks of an earlier process, in any order. */
  restore(points: readonly SeriesPoint[], marks: readonly SeriesMark[]): void {
    this.#rows.day.restore(points)
    this.#marks.push(...marks.toSorted((a, b) => a.at - b.at).slice(-seriesMarksMax))
  }

  get marks(): readonly SeriesMark[] {
    return this.#marks
  }

  get minutes(): readonly SeriesPoint[] {
    return this.#rows.day.points
  }

  view(range: SeriesRange, nowMs: number) {
    const { rangeMs } = this.#rows[range]
    // After a restart only the minutes know the hour before.
    const [fine, coarse] = [this.#rows.hour.since(nowMs, rangeMs), this.#rows.day.since(nowMs, rangeMs)]
    const isFine = range === 'hour' && (coarse[0]?.at ?? nowMs) >= (fine[0]?.at ?? nowMs) - seriesStepMs
    const row = isFine ? this.#rows.hour : this.#rows.day
    const points = isFine ? fine : coarse
    const from = points[0]?.at ?? null
    const count = from === null ? 0 : ((points.at(-1)?.at ?? 0) - from) / row.stepMs + 1
    const byStep = new Map(points.map((point) => [point.at, point]))
    const column = (field: (typeof pointFields)[number]): (number | null)[] =>
      Array.from({ length: count }, (_, index) => byStep.get((from ?? 0) + index * row.stepMs)?.[field] ?? null)
    return {
      range,
      rangeMs,
      stepMs: row.stepMs,
      from,
      columns: Object.fromEntries(pointFields.map((field) => [field, column(field)])),
      marks: this.#marks.filter(({ at }) => at >= nowMs - rangeMs && at <= nowMs),
    }
  }
}

/** Steps of one length, oldest first, without those in which no owner was asked. */
class Row {
  readonly stepMs: number
  readonly rangeMs: number
  #points: SeriesPoint[] = []
  #open: StepSum | undefined

  constructor(stepMs: number, rangeMs: number) {
    this.stepMs = stepMs
    this.rangeMs = rangeMs
  }

  get points(): readonly SeriesPoint[] {
    return this.#points
  }

  /** The sample is about the time before it, so half of its interval decides the step. */
  add(at: number, happened: readonly Happened[], stood: Stood): boolean {
    const begin = Math.floor((at - seriesFineStepMs / 2) / this.stepMs) * this.stepMs
    const over = this.#open?.at === begin ? undefined : this.#open
    // After a clock was set back, its time is written again.
    if (over !== undefined && over.at > begin) this.#points = this.#points.filter((point) => point.at < begin)
    else if (over !== undefined) this.#push(over.point)
    if (this.#open === undefined || over !== undefined) this.#open = new StepSum(begin)
    this.#open.add(happened, stood)
    return over !== undefined
  }

  restore(points: readonly SeriesPoint[]): void {
    const byStep = new Map(points.map((point) => [Math.floor(point.at / this.stepMs) * this.stepMs, point]))
    this.#points = [...byStep].map(([at, point]) => ({ ...point, at })).sort((a, b) => a.at - b.at)
    this.#cut()
  }

  since(nowMs: number, rangeMs = this.rangeMs): SeriesPoint[] {
    const open = this.#open !== undefined && this.#open.at + this.stepMs <= nowMs ? [this.#open.point] : []
    return [...this.#points, ...open].filter(({ at }) => at > nowMs - rangeMs && at <= nowMs)
  }

  #push(point: SeriesPoint): void {
    if (this.#points.at(-1)?.at === point.at) this.#points.pop()
    this.#points.push(point)
    this.#cut()
  }

  #cut(): void {
    const surplus = this.#points.length - this.rangeMs / this.stepMs
    if (surplus > 0) this.#points.splice(0, surplus)
  }
}

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
