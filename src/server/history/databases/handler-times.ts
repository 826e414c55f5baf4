/**
 * How long the runs of each handler took and how late they started, by the hour: numbers of runs by class of time, so that percentiles of
 * any range are sums of few rows, however many runs there were.
 */
import { percentileOf } from '../../../../streams/text/index.ts'
import { slices } from '../../../ground/concurrency/index.ts'
import type { HandlerFigures, TimeFigures } from '../../../ground/ports/index.ts'
import type { RunRow } from './rows.ts'
import { placesOf, type Sql, type SqlValue } from './sql.ts'

const hourMs = 3_600_000
/** Each class ends 25% above the one before it, the first at 1 ms. The last has all that is longer: some 500 days. */
const growth = 1.25
const classMax = 110
/** Rows of one statement, as for the other tables. */
const rowsPerStatement = 500
/** Handlers in one answer. */
const handlersMax = 500
/** What a class is of. */
const [ofDuration, ofLateness] = [0, 1]

export function handlerTimesTable(id: string, key: string, keyed: string): string {
  return `CREATE TABLE duelog_handler_times (
    hour ${id} NOT NULL, handler ${key} NOT NULL, kind SMALLINT NOT NULL, class SMALLINT NOT NULL, runs ${id} NOT NULL,
    PRIMARY KEY (hour, handler, kind, class))${keyed}`
}

export const classOf = (ms: number): number =>
  ms <= 1 ? 0 : Math.min(classMax, Math.ceil(Math.log(ms) / Math.log(growth) - 1e-9))

/** Adds runs that were not in the database before. */
export async function writeHandlerTimes(sql: Sql, rows: readonly RunRow[]): Promise<void> {
  const sums = new Map<string, SqlValue[]>()
  const add = (hour: number, handler: string, kind: number, ms: number | null): void => {
    if (ms === null) return
    const key = [hour, handler, kind, classOf(ms)]
    const name = JSON.stringify(key)
    sums.set(name, [...key, Number(sums.get(name)?.at(-1) ?? 0) + 1])
  }
  for (const { finishedAt, handler, durationMs, lateMs } of rows) {
    if (handler === null) continue
    const hour = finishedAt - (finishedAt % hourMs)
    add(hour, handler, ofDuration, durationMs)
    add(hour, handler, ofLateness, lateMs)
  }
  // In one order, so that two processes that write the same rows wait for each other in turn.
  const sorted = [...sums].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row)
  for (const some of slices(sorted, rowsPerStatement)) {
    const text = `INSERT INTO duelog_handler_times (hour, handler, kind, class, runs) VALUES ${placesOf(some.length, 5)} ON CONFLICT (hour, handler, kind, class) DO UPDATE SET runs = duelog_handler_times.runs + excluded.runs`
    await sql.all(text, some.flat())
  }
}

/** Those with most runs first. `from` and `to` are whole hours. */
export async function handlerFigures(sql: Sql, from: number, to: number): Promise<HandlerFigures[]> {
  const found = new Map<string, HandlerFigures>()
  const counted = `SELECT handler, outcome, sum(runs) AS runs FROM duelog_run_counts WHERE hour >= ? AND hour < ? AND handler <> '' GROUP BY 1, 2`
  for (const { handler, outcome, runs } of await sql.all(counted, [from, to])) {
    const of = found.get(String(handler)) ?? { handler: String(handler), outcomes: {}, duration: null, lateness: null }
    of.outcomes[String(outcome)] = Number(runs)
    found.set(of.handler, of)
  }
  const runsOf = ({ outcomes }: HandlerFigures): number => Object.values(outcomes).reduce((sum, runs) => sum + runs, 0)
  const listed = [...found.values()].sort((a, b) => runsOf(b) - runsOf(a)).slice(0, handlersMax)
  const classes = new Map<string, [number, number][]>()
  const timed =
    'SELECT handler, kind, class, sum(runs) AS runs FROM duelog_handler_times WHERE hour >= ? AND hour < ? GROUP BY 1, 2, 3 ORDER BY 3'
  for (const row of await sql.all(timed, [from, to])) {
    const name = `${row.kind} ${row.handler}`
    const counts = classes.get(name) ?? []
    counts.push([Number(row.class), Number(row.runs)])
    classes.set(name, counts)
  }
  return listed.map((of) => ({
    ...of,
    duration: figuresOf(classes.get(`${ofDuration} ${of.handler}`)),
    lateness: figuresOf(classes.get(`${ofLateness} ${of.handler}`)),
  }))
}

function figuresOf(counts: readonly [number, number][] | undefined): TimeFigures | null {
  if (counts === undefined) return null
  const runs = new Map(counts)
  // All classes, as a percentile lies between the bounds of its own.
  const whole = Array.from({ length: classMax + 1 }, (_, index): [number, number] => [growth ** index, runs.get(index) ?? 0])
  const at = (share: number): number => Math.round(percentileOf(whole, share) ?? 0)
  return { p50Ms: at(0.5), p95Ms: at(0.95) }
}
