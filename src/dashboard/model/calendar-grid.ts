/** Grid of a forecast: rows of hours with columns of minutes, or rows of days with columns of hours. */
import type { Forecast } from '../../answers/index.ts'

export type Step = 'minute' | 'hour'

export interface Cell {
  row: number
  column: number
  atMs: number
  due: number
}
export interface Grid {
  rows: string[]
  columns: number
  cells: Cell[]
}

const layouts = {
  minute: { stepMs: 60_000, steps: 720, columns: 60 },
  hour: { stepMs: 3_600_000, steps: 168, columns: 24 },
} as const

/** The range to request: whole steps, beginning with the current one. */
export function rangeOf(step: Step, nowMs: number): { from: number; horizonMs: number; buckets: number } {
  const { stepMs, steps } = layouts[step]
  return { from: Math.floor(nowMs / stepMs) * stepMs, horizonMs: stepMs * steps, buckets: steps }
}

/** In the viewer's time zone. When a clock change repeats an hour, both share one cell. */
export function gridOf(step: Step, { buckets }: Forecast): Grid {
  const rows: string[] = []
  const cells = new Map<string, Cell>()
  for (const { at, next, later } of buckets) {
    const time = new Date(at)
    const [title, column] = step === 'minute' ? [hourTitle(time), time.getMinutes()] : [dayTitle(time), time.getHours()]
    if (rows.at(-1) !== title) rows.push(title)
    const row = rows.length - 1
    const existing = cells.get(`${row} ${column}`)
    if (existing === undefined) cells.set(`${row} ${column}`, { row, column, atMs: time.getTime(), due: next + later })
    else existing.due += next + later
  }
  return { rows, columns: layouts[step].columns, cells: [...cells.values()] }
}

/** The count drawn palest: the smallest one, but at most a quarter of the largest. So small differences of an even load stay small. */
export const palestOf = (dues: readonly number[]): number => Math.min(...dues.filter((due) => due > 0), Math.max(1, ...dues) / 4)

/** From 0 (nothing due) to `levels` (the most). Logarithmic, because one large burst would otherwise hide all other counts. */
export function levelOf(due: number, palest: number, most: number, levels: number): number {
  if (due <= 0) return 0
  const share = most <= palest ? 1 : Math.log(due / palest) / Math.log(most / palest)
  return Math.min(levels, Math.max(1, Math.ceil(share * levels)))
}

const two = (value: number): string => String(value).padStart(2, '0')
const hourTitle = (time: Date): string => `${two(time.getHours())}:00`
const dayTitle = (time: Date): string => time.toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', month: 'short' })
