/** Grid of a forecast: rows of hours with columns of minutes, or rows of days with columns of hours. Narrow ones have a part of it in a row. */
import type { Forecast } from '../../../ground/answers/index.ts'

export type Step = 'minute' | 'hour'

export interface Cell {
  row: number
  column: number
  /** From this instant to `toMs`, exclusive. */
  atMs: number
  toMs: number
  due: number
}
export interface Grid {
  rows: string[]
  columns: number
  cells: Cell[]
}

const hourMs = 3_600_000
const layouts = {
  minute: { stepMs: 60_000, steps: 720, columns: 60, narrow: 20 },
  hour: { stepMs: hourMs, steps: 168, columns: 24, narrow: 12 },
} as const

export const stepMsOf = (step: Step): number => layouts[step].stepMs

/** The range to request: whole steps of the viewer's clock, beginning with the current one. Some zones are half an hour off UTC. */
export function rangeOf(step: Step, nowMs: number): { from: number; horizonMs: number; buckets: number } {
  const { stepMs, steps } = layouts[step]
  const offsetMs = -new Date(nowMs).getTimezoneOffset() * 60_000
  return { from: Math.floor((nowMs + offsetMs) / stepMs) * stepMs - offsetMs, horizonMs: stepMs * steps, buckets: steps }
}

/** In the viewer's time zone. When a clock change repeats an hour, both share one cell. */
export function gridOf(step: Step, { buckets, bucketMs }: Forecast, isNarrow = false): Grid {
  const columns = isNarrow ? layouts[step].narrow : layouts[step].columns
  const rows: string[] = []
  const cells = new Map<string, Cell>()
  for (const { at, next, later } of buckets) {
    const time = new Date(at)
    const place = step === 'minute' ? time.getMinutes() : time.getHours()
    const part = Math.floor(place / columns) * columns
    const title = step === 'minute' ? `${two(time.getHours())}:${two(part)}` : dayTitle(time, part, isNarrow)
    if (rows.at(-1) !== title) rows.push(title)
    const row = rows.length - 1
    const column = place - part
    const [atMs, toMs] = [time.getTime(), time.getTime() + bucketMs]
    const existing = cells.get(`${row} ${column}`)
    if (existing === undefined) cells.set(`${row} ${column}`, { row, column, atMs, toMs, due: next + later })
    else {
      existing.due += next + later
      existing.toMs = toMs
    }
  }
  return { rows, columns, cells: [...cells.values()] }
}

/** Share of the cells that are paler than the scale reaches, so that a few quiet ones do not make all others dark. */
const quietShare = 0.05
/** The most is at least this many times the least of a scale: an even load has no dark cells. */
const contrastMin = 1.5

interface Scale {
  /** Counts drawn palest and darkest. */
  least: number
  most: number
  /** What most cells have exactly, as by jobs that run each second: only what is due beside it is told apart. 0: there is no such number. */
  even: number
}

/** The scale of what is shown. The first cell is left out, because a part of it is over. */
export function scaleOf(dues: readonly number[]): Scale {
  const counted = (dues.length > 1 ? dues.slice(1) : dues).filter((due) => due > 0).sort((a, b) => a - b)
  const least = counted[Math.floor(counted.length * quietShare)] ?? 1
  const isEven = counted.filter((due) => due === least).length > counted.length / 2
  const most = Math.max(...dues, 0)
  if (isEven && most > least) return { least, most, even: least }
  return { least, most: Math.max(most, Math.ceil(least * contrastMin)), even: 0 }
}

/** From 0 (nothing due) to `levels` (the most). Logarithmic, because one large burst would otherwise hide all other counts. */
export function levelOf(due: number, { least, most, even }: Scale, levels: number): number {
  if (due <= 0) return 0
  if (due <= least) return 1
  const share = even > 0 ? Math.log1p(due - even) / Math.log1p(most - even) : Math.log(due / least) / Math.log(most / least)
  const palest = even > 0 ? 2 : 1
  return Math.min(levels, palest + Math.floor(share * (levels + 1 - palest)))
}

const two = (value: number): string => String(value).padStart(2, '0')
const dayTitle = (time: Date, hour: number, isNarrow: boolean): string =>
  isNarrow
    ? `${time.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${two(hour)}:00`
    : time.toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', month: 'short' })
