/**
 * Jobs that fire steadily beside the work of a case, and a report from the log: how long after its due time each run was in the
 * log, and whether each occurrence is there once.
 */
import type { Stage } from './bed.ts'

const everyMs = 1_000
/** Their ids begin with warm-, so the process under test counts them apart. */
const name = 'warm-neighbour'

export function* neighbours(firesPerSecond: number, fromMs: number, untilMs: number) {
  const count = Math.round((firesPerSecond * everyMs) / 1_000)
  for (let index = 0; index < count; index++) {
    yield {
      id: `${name}-${index}`,
      // Spread evenly over the second, so they are not due at one instant.
      schedule: { everyMs, anchor: fromMs + Math.round((index * everyMs) / count) },
      ...{ startAt: fromMs, endAt: untilMs, target: { handler: 'bench' }, maxConcurrentRuns: 100 },
      // Late occurrences run too, so none is missing.
      ...{ catchUp: 'ALL' as const, catchUpMax: 100_000 },
    }
  }
}

export interface Spread {
  count: number
  p50: number
  p99: number
  max: number
}

export interface Window {
  fromMs: number
  untilMs: number
}

export interface NeighbourReport {
  /**
   * How long after their due time the runs were in the log, by the append times of the brokers. Below zero: how long before it.
   * The keys are the names of the windows.
   */
  appendedAfterDueMs: Record<string, Spread>
  /**
   * Nominal times between the first and the last run of a job: those without a run are lost, those with more than one are
   * doubled.
   */
  lost: number
  doubled: number
}

/** `windows`: ranges of due times. */
export async function neighbourReport(stage: Stage, windows: Record<string, Window>): Promise<NeighbourReport> {
  const values: Record<string, number[]> = Object.fromEntries(Object.keys(windows).map((each) => [each, []]))
  const times = new Map<string, number[]>()
  await stage.log.readToEnd({
    topics: [false, true].map((ahead) => stage.names.executions('default', 'NORMAL', ahead)),
    async onRecord({ key, value, timestampMs }) {
      if (value === null || !key?.toString().startsWith(name)) return
      const { jobId, dueAt, scheduledFor, attempt } = await stage.codecs.execution.decode(value)
      if (attempt > 1) return
      const of = times.get(jobId) ?? []
      if (of.length === 0) times.set(jobId, of)
      of.push(scheduledFor)
      for (const [window, { fromMs, untilMs }] of Object.entries(windows))
        if (dueAt >= fromMs && dueAt < untilMs) values[window]?.push(timestampMs - dueAt)
    },
    onProgress() {},
    signal: AbortSignal.timeout(600_000),
  })
  let [lost, doubled] = [0, 0]
  for (const of of times.values()) {
    const sorted = [...new Set(of)].sort((left, right) => left - right)
    doubled += of.length - sorted.length
    lost += Math.round(((sorted.at(-1) ?? 0) - (sorted[0] ?? 0)) / everyMs) + 1 - sorted.length
  }
  const appendedAfterDueMs = Object.fromEntries(Object.entries(values).map(([each, found]) => [each, spreadOf(found)]))
  return { appendedAfterDueMs, lost, doubled }
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((left, right) => left - right)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }
}
