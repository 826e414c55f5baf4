/**
 * The series of this process in memory: a step of 10 s for the last hour, and one of a minute for the last 24 h, with the starts,
 * takeovers and deploys in them. About 2,000 small objects, whatever the load.
 */
import { seriesDayMs, seriesFineStepMs, seriesHourMs, seriesMarksMax, seriesStepMs } from '../schemas/index.ts'
import { type Happened, pointFields, type SeriesPoint, StepSum, type Stood } from './series-point.ts'

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

  /** A sample at `at`, with what happened since the last one. Returns the minute that it has completed, if any. */
  add(at: number, happened: readonly Happened[], stood: Stood): SeriesPoint | undefined {
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
  add(at: number, happened: readonly Happened[], stood: Stood): SeriesPoint | undefined {
    const begin = Math.floor((at - seriesFineStepMs / 2) / this.stepMs) * this.stepMs
    let completed: SeriesPoint | undefined
    if (this.#open !== undefined && this.#open.at !== begin) {
      completed = this.#open.point
      // After a clock was set back, its time is written again.
      if (this.#open.at > begin) this.#points = this.#points.filter((point) => point.at < begin)
      else this.#push(completed)
      this.#open = undefined
    }
    this.#open ??= new StepSum(begin)
    this.#open.add(happened, stood)
    return completed
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
