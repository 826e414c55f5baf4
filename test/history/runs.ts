/** Ended runs for tests of the history, and a filter of their own by which answers are judged. */
import type { EndedRun } from '../../schemas/generated.ts'
import type { HistoryFilter } from '../../src/ground/ports/roles.ts'
import { mulberry32 } from '../tools/mulberry32.ts'

export const baseMs = Date.UTC(2030, 0, 1)

export function endedRun(more: Partial<EndedRun> = {}): EndedRun {
  return {
    ...{ jobId: 'job', runNo: 1, life: '0.1', outcome: 'SUCCEEDED', reason: null, trigger: 'SCHEDULE', commandId: null },
    ...{ handler: 'echo', topic: null, pool: 'default', tags: [], scheduledFor: baseMs, dueAt: baseMs, startedAt: baseMs },
    ...{ finishedAt: baseMs + 10, attempts: 1, worker: 'w@host:1:boot', errorType: null, errorMessage: null, result: null },
    ...{ resultBytes: 0, note: null, mayHoldSecrets: false, traceparent: null },
    ...more,
  }
}

/** Runs of all kinds over `spanMs`, with unique ends, in no order. */
export function manyRuns(count: number, seed: number, spanMs: number): EndedRun[] {
  const random = mulberry32(seed)
  const below = (end: number): number => Math.floor(random() * end)
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item
  return Array.from({ length: count }, (_, index) => {
    const failed = below(10) === 0
    const finishedAt = baseMs + Math.floor((spanMs * ((index * 7919) % count)) / count)
    return endedRun({
      jobId: `${pick(['mail', 'report', 'größe', 'mail-x'])}-${below(20)}`,
      runNo: index + 1,
      life: `0.${below(3)}`,
      outcome: failed ? pick(['DEAD', 'EXPIRED', 'CANCELLED']) : 'SUCCEEDED',
      handler: pick(['send', 'build', null]),
      pool: pick(['default', 'reports']),
      tags: ['a', 'b', 'ä'].filter(() => below(2) === 0),
      finishedAt,
      startedAt: below(8) === 0 ? null : finishedAt - below(5_000),
      ...(failed && { errorType: pick(['Timeout', 'Refused']), errorMessage: pick(['Timed OUT after 3 s', 'no such customer']) }),
      mayHoldSecrets: below(4) === 0,
      result: below(5) === 0 ? Buffer.from(`{"n":${index}}`) : null,
    })
  })
}

/** Written from the documentation of the API, without code of the program. */
export function fits(run: EndedRun, filter: HistoryFilter): boolean {
  const took = run.startedAt === null ? null : run.finishedAt - run.startedAt
  const checks: Record<keyof HistoryFilter, (wanted: never) => boolean> = {
    from: (ms: number) => run.finishedAt >= ms,
    to: (ms: number) => run.finishedAt < ms,
    jobId: (id: string) => run.jobId === id,
    idPrefix: (prefix: string) => run.jobId.startsWith(prefix),
    tag: (tag: string) => run.tags.includes(tag),
    handler: (name: string) => run.handler === name,
    pool: (name: string) => run.pool === name,
    outcome: (outcome: string) => run.outcome === outcome,
    errorType: (type: string) => run.errorType === type,
    errorText: (text: string) => run.errorMessage !== null && new RegExp(text, 'i').test(run.errorMessage),
    minDurationMs: (ms: number) => took !== null && took >= ms,
    maxDurationMs: (ms: number) => took !== null && took <= ms,
    harmless: (wanted: boolean) => !wanted || !run.mayHoldSecrets,
  }
  return Object.entries(filter).every(([name, wanted]) => checks[name as keyof HistoryFilter](wanted as never))
}

export const newestFirst = (left: EndedRun, right: EndedRun): number => right.finishedAt - left.finishedAt
