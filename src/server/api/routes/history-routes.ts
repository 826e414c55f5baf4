/** The history of ended runs: pages, and counts by time. */
import type { FastifyInstance } from 'fastify'
import type { EndedRun } from '../../../../schemas/index.ts'
import { isoTime, notAllowed } from '../../../../streams/text/index.ts'
import { FairSlots } from '../../../ground/concurrency/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { HandlerFigures, HistoryFilter } from '../../../ground/ports/index.ts'
import { isHistoryPlace } from '../../peers/index.ts'
import type { ApiContext } from '../context/index.ts'
import type { Role } from '../guards/index.ts'
import { askerOf, hiddenUnless, RequestError, resultToJson, runIdOf, timeOf } from '../http/index.ts'
import {
  handlersRangeMsMax,
  handlersSchema,
  historyBucketMsDefault,
  historyBucketsMax,
  historyCountsSchema,
  historyQueriesAtOnce,
  historySchema,
} from '../schemas/index.ts'

interface FilterQuery extends Omit<HistoryFilter, 'from' | 'to' | 'harmless'> {
  from?: string
  to?: string
}

const dayMs = 86_400_000

export function historyRoutes(instance: FastifyInstance, { history, clock }: ApiContext): void {
  const slots = new FairSlots({ what: 'queries of the history', places: historyQueriesAtOnce, clock })
  const asked = () => {
    if (history !== undefined) return history
    throw new DuelogError('not-ready', 'This process cannot ask for the history of ended runs.')
  }

  instance.get<{ Querystring: FilterQuery & { limit: number; cursor?: string } }>(
    '/v1/history',
    { config: { role: 'viewer' }, schema: historySchema },
    async (request, reply) => {
      const { limit, cursor, ...given } = request.query
      const filter = filterOf(given, request.role)
      const before = placeOf(cursor)
      const page = await slots.run(() => asked().page(filter, limit, before), askerOf(request, reply))
      return {
        runs: page.runs.map((run) => runToJson(run, request.role)),
        cursor: page.next === null ? null : Buffer.from(page.next).toString('base64url'),
        searchedTo: page.searchedTo === null ? null : isoTime(page.searchedTo),
        ...(page.problem !== undefined && { problem: page.problem }),
      }
    },
  )

  instance.get<{ Querystring: FilterQuery & { bucketMs: number } }>(
    '/v1/history/counts',
    { config: { role: 'viewer' }, schema: historyCountsSchema },
    async (request, reply) => {
      const { bucketMs, ...given } = request.query
      const range = rangeOf(filterOf(given, request.role), bucketMs, clock.nowMs())
      const counts = await slots.run(() => asked().counts(range, bucketMs), askerOf(request, reply))
      return {
        from: isoTime(range.from),
        to: isoTime(range.to),
        bucketMs,
        buckets: counts.buckets.map(({ at, outcomes }) => ({ at: isoTime(at), outcomes })),
        total: totalOf(counts.buckets.map(({ outcomes }) => outcomes)),
        countedFrom: counts.countedFrom === null ? null : isoTime(counts.countedFrom),
      }
    },
  )

  instance.get<{ Querystring: { from?: string; to?: string } }>(
    '/v1/history/handlers',
    { config: { role: 'viewer' }, schema: handlersSchema },
    async (request, reply) => {
      const { from, to } = rangeOf(filterOf(request.query, request.role), historyBucketMsDefault, clock.nowMs())
      if (to - from > handlersRangeMsMax + historyBucketMsDefault)
        throw refusal('from', isoTime(from), `at most ${handlersRangeMsMax / dayMs} days before to`)
      const found = await slots.run(() => asked().handlers(from, to), askerOf(request, reply))
      return { from: isoTime(from), to: isoTime(to), handlers: found.map(handlerToJson).sort((a, b) => b.runs - a.runs) }
    },
  )
}

/** What viewers do not see, they cannot search either: otherwise a secret could be guessed letter by letter. */
function filterOf({ from, to, ...filter }: FilterQuery, role: Role | null): HistoryFilter {
  const searchesTexts = filter.errorText !== undefined || filter.errorType !== undefined
  return {
    ...filter,
    ...(from !== undefined && { from: timeOf('from', from) }),
    ...(to !== undefined && { to: timeOf('to', to) }),
    ...(role === 'viewer' && searchesTexts && { harmless: true }),
  }
}

function rangeOf(filter: HistoryFilter, bucketMs: number, nowMs: number): HistoryFilter & { from: number; to: number } {
  const minuteMs = 60_000
  if (bucketMs % minuteMs !== 0)
    throw refusal('bucketMs', bucketMs, `a multiple of ${minuteMs}, such as ${historyBucketMsDefault} for an hour`)
  const end = filter.to ?? nowMs
  const from = Math.floor((filter.from ?? Math.max(0, end - dayMs)) / bucketMs) * bucketMs
  const to = Math.ceil(end / bucketMs) * bucketMs
  if (to <= from) throw refusal('to', isoTime(end), 'a time after from')
  if ((to - from) / bucketMs > historyBucketsMax)
    throw refusal('bucketMs', bucketMs, `so long that the range has at most ${historyBucketsMax} buckets`)
  return { ...filter, from, to }
}

const refusal = (field: string, value: unknown, limit: string): RequestError =>
  new RequestError('bad-request', [notAllowed(field, value, limit)])

function placeOf(cursor: string | undefined): string | null {
  if (cursor === undefined) return null
  const text = Buffer.from(cursor, 'base64url').toString()
  if (isHistoryPlace(text)) return text
  throw new DuelogError('bad-request', 'The cursor was not made by this API; leave it out to start from the newest run.')
}

function totalOf(all: readonly Record<string, number>[]): Record<string, number> {
  const total: Record<string, number> = {}
  for (const outcomes of all)
    for (const [outcome, runs] of Object.entries(outcomes)) total[outcome] = (total[outcome] ?? 0) + runs
  return total
}

const timeOrNull = (ms: number | null): string | number | null => (ms === null ? null : isoTime(ms))

function runToJson(run: EndedRun, role: Role | null) {
  const { startedAt, finishedAt, mayHoldSecrets, result, ...rest } = run
  const shown = hiddenUnless(role !== 'viewer' || !mayHoldSecrets)
  return {
    ...rest,
    runId: runIdOf(run.jobId, run.runNo),
    scheduledFor: isoTime(run.scheduledFor),
    dueAt: timeOrNull(run.dueAt),
    startedAt: timeOrNull(startedAt),
    finishedAt: isoTime(finishedAt),
    durationMs: startedAt === null || startedAt > finishedAt ? null : finishedAt - startedAt,
    errorType: shown(run.errorType),
    errorMessage: shown(run.errorMessage),
    note: shown(run.note),
    result: shown(resultToJson(result)),
  }
}

function handlerToJson({ handler, outcomes, duration, lateness }: HandlerFigures) {
  const { SKIPPED: _, ...ended } = outcomes
  const runs = Object.values(ended).reduce((sum, each) => sum + each, 0)
  return { handler, runs, failed: (outcomes.DEAD ?? 0) + (outcomes.EXPIRED ?? 0), outcomes, duration, lateness }
}
