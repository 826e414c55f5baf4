/**
 * The queries that a process asks the owner of a partition in another process, over HTTP: one table of their paths, schemas and
 * parameters. remote-queries.ts makes the requests by it, and routes/internal-routes.ts the routes that answer them. The routes
 * are not part of the public API.
 */
import { slotWaitMs } from '../../concurrency/index.ts'
import type {
  Asker,
  AwaitedRun,
  DeadRunsQuery,
  DueFilter,
  DueRange,
  JobFilter,
  JobQueries,
  PartitionQueries,
} from '../../ports/index.ts'
import { closed, dueFilterFields, dueJobsMax, listChunkMax, listLimitMax, runWaitMsMax } from '../schemas/index.ts'
import {
  endFields,
  filterFields,
  flag,
  integer,
  type OfPartition,
  type OwnerCall,
  ofPartition,
  type Request,
  schemaOf,
  text,
} from './call-parts.ts'
import { operationCalls } from './operation-calls.ts'

/** Path of the partitions of a process. The paths of the calls follow it. */
export const partitionsPath = '/internal/v1/partitions'
/** A call ends after this wait at the latest. */
const appliedWaitMsMax = 60_000

/** The same, of a standby too: with `stale=true` in the query, any store of the process may answer. */
interface StandbyCall<Name extends keyof JobQueries> extends Omit<OwnerCall<Name>, 'answer'> {
  answer: (queries: JobQueries, given: never, asker: () => Asker) => Promise<unknown>
}

/** Any of the calls, for code that goes through the table. */
export interface AnyCall {
  path: string
  audit?: 'CHANGE_JOBS'
  field?: string
  request: (...args: never[]) => Request
}

type OwnerName = Exclude<keyof PartitionQueries, keyof JobQueries | keyof typeof operationCalls | 'copies' | 'partitions'>

const ofJob = closed({ partition: integer(0), id: text }, ['partition', 'id'])
const stale = { stale: flag }

type OfJob = OfPartition & { id: string }
type GivenDeadRuns = Omit<DeadRunsQuery, 'filter' | 'before'> &
  JobFilter & { stale?: boolean; beforeAt?: number; beforeJob?: string; beforeRun?: number }

export const standbyCalls: { [Name in keyof JobQueries]: StandbyCall<Name> } = {
  job: {
    path: '/:partition/jobs/:id',
    schema: schemaOf(ofJob, closed(stale)),
    field: 'job',
    request: (partition, id) => ({ params: { partition, id } }),
    answer: (queries, { partition, id }: OfJob) => queries.job(partition, id),
  },
  list: {
    path: '/:partition/jobs',
    schema: schemaOf(
      ofPartition,
      closed(
        {
          ...{ ...filterFields, runStatus: text, dead: flag, active: flag, dueBefore: { type: 'integer' } },
          ...{ limit: { ...integer(1), maximum: listChunkMax }, after: text, ...stale },
        },
        ['limit'],
      ),
    ),
    request: (partition, filter, limit, after, asker) => ({
      ...{ params: { partition }, query: { ...filter, limit, after } },
      ...{ waitMs: slotWaitMs, asker },
    }),
    answer: (queries, given: OfPartition & JobFilter & { limit: number; after?: string; stale?: boolean }, asker) => {
      const { partition, limit, after, stale: _, ...filter } = given
      return queries.list(partition, filter, limit, after, asker())
    },
  },
  runs: {
    path: '/:partition/jobs/:id/runs',
    schema: schemaOf(ofJob, closed({ deadRunNo: integer(1), ...stale })),
    field: 'runs',
    request: (partition, id, deadRunNo) => ({ params: { partition, id }, query: { deadRunNo } }),
    answer: (queries, { partition, id, deadRunNo }: OfJob & { deadRunNo?: number }) => queries.runs(partition, id, deadRunNo),
  },
  why: {
    path: '/:partition/jobs/:id/why',
    schema: schemaOf(ofJob, closed(stale)),
    field: 'why',
    request: (partition, id) => ({ params: { partition, id } }),
    answer: (queries, { partition, id }: OfJob) => queries.why(partition, id),
  },
  deadRuns: {
    path: '/:partition/dead-runs',
    schema: schemaOf(
      ofPartition,
      closed(
        {
          ...{ ...filterFields, ...endFields, after: text, harmlessOnly: flag, ...stale },
          ...{ limit: { ...integer(1), maximum: listLimitMax }, beforeAt: integer(0), beforeJob: text, beforeRun: integer(1) },
        },
        ['limit', 'harmlessOnly'],
      ),
    ),
    request: (partition, { filter, limit, before, after, harmlessOnly }, asker) => ({
      params: { partition },
      query: {
        ...{ ...filter, limit, after, harmlessOnly },
        ...(before && { beforeAt: before.at, beforeJob: before.jobId, beforeRun: before.runNo }),
      },
      ...{ waitMs: slotWaitMs, asker },
    }),
    answer: (queries, given: OfPartition & GivenDeadRuns, asker) => {
      const { partition, limit, after, harmlessOnly, stale: _, beforeAt, beforeJob, beforeRun, ...filter } = given
      const isBehind = beforeAt !== undefined && beforeJob !== undefined && beforeRun !== undefined
      const before = isBehind && { before: { at: beforeAt, jobId: beforeJob, runNo: beforeRun } }
      return queries.deadRuns(
        partition,
        { filter, limit, harmlessOnly, ...before, ...(after !== undefined && { after }) },
        asker(),
      )
    },
  },
  deadRun: {
    path: '/:partition/jobs/:id/dead-runs/:runNo',
    schema: schemaOf(closed({ partition: integer(0), id: text, runNo: integer(1) }, ['partition', 'id', 'runNo']), closed(stale)),
    field: 'execution',
    request: (partition, id, runNo) => ({ params: { partition, id, runNo } }),
    answer: (queries, { partition, id, runNo }: OfJob & { runNo: number }) => queries.deadRun(partition, id, runNo),
  },
  runInput: {
    path: '/:partition/jobs/:id/inputs/:runNo',
    schema: schemaOf(closed({ partition: integer(0), id: text, runNo: integer(1) }, ['partition', 'id', 'runNo']), closed(stale)),
    field: 'execution',
    request: (partition, id, runNo) => ({ params: { partition, id, runNo } }),
    answer: (queries, { partition, id, runNo }: OfJob & { runNo: number }) => queries.runInput(partition, id, runNo),
  },
}

export const ownerCalls: { [Name in OwnerName]: OwnerCall<Name> } & typeof operationCalls = {
  stored: {
    path: '/:partition/jobs/:id/stored',
    schema: schemaOf(ofJob, closed({})),
    field: 'job',
    request: (partition, id) => ({ params: { partition, id } }),
    answer: (queries, { partition, id }: OfJob) => queries.stored(partition, id),
  },
  forecast: {
    path: '/:partition/forecast',
    schema: schemaOf(
      ofPartition,
      closed({ ...dueFilterFields, from: integer(0), to: integer(0), bucketMs: integer(1) }, ['from', 'to', 'bucketMs']),
    ),
    field: 'counts',
    request: (partition, range, asker) => ({ params: { partition }, query: { ...range }, asker }),
    answer: (queries, { partition, ...range }: OfPartition & DueRange, asker) => queries.forecast(partition, range, asker()),
  },
  dueJobs: {
    path: '/:partition/due-jobs',
    schema: schemaOf(
      ofPartition,
      closed({ ...dueFilterFields, from: integer(0), to: integer(0), limit: { ...integer(1), maximum: dueJobsMax } }, [
        ...['from', 'to', 'limit'],
      ]),
    ),
    field: 'due',
    request: (partition, range, asker) => ({ params: { partition }, query: { ...range }, asker }),
    answer: (queries, { partition, ...range }: OfPartition & DueFilter & { from: number; to: number; limit: number }, asker) =>
      queries.dueJobs(partition, range, asker()),
  },
  ...operationCalls,
  limits: {
    path: '/:partition/limits',
    schema: schemaOf(ofPartition, closed({})),
    field: 'limits',
    request: (partition) => ({ params: { partition } }),
    answer: (queries, { partition }: OfPartition) => queries.limits(partition),
  },
  workers: {
    path: '/:partition/workers',
    schema: schemaOf(ofPartition, closed({})),
    field: 'workers',
    request: (partition) => ({ params: { partition } }),
    answer: (queries, { partition }: OfPartition) => queries.workers(partition),
  },
  applied: {
    path: '/:partition/applied',
    schema: schemaOf(
      ofPartition,
      closed({ jobs: integer(0), commands: integer(0), timeoutMs: { ...integer(0), maximum: appliedWaitMsMax } }, ['timeoutMs']),
    ),
    field: 'applied',
    request: (partition, offsets, timeoutMs) => ({
      params: { partition },
      query: { ...offsets, timeoutMs },
      waitMs: timeoutMs,
    }),
    answer: (queries, given: OfPartition & { jobs?: number; commands?: number; timeoutMs: number }) => {
      const { partition, timeoutMs, ...offsets } = given
      return queries.applied(partition, offsets, timeoutMs)
    },
  },
  ended: {
    path: '/:partition/jobs/:id/ended',
    schema: schemaOf(
      ofJob,
      closed(
        { runNo: integer(1), commandId: text, specOffset: integer(0), timeoutMs: { ...integer(0), maximum: runWaitMsMax } },
        ['timeoutMs'],
      ),
    ),
    field: 'end',
    request: (partition, id, awaited, timeoutMs, asker) => ({
      params: { partition, id },
      query: { ...awaited, timeoutMs },
      waitMs: timeoutMs,
      asker,
    }),
    answer: (queries, given: OfJob & AwaitedRun & { timeoutMs: number }, asker) => {
      const { partition, id, timeoutMs, ...awaited } = given
      return queries.ended(partition, id, awaited as AwaitedRun, timeoutMs, asker())
    },
  },
}

/** JSON between processes, with bytes as {"$bytes": base64}. A user's object of that form is never affected, because payloads are bytes. */
export function encodeInternalJson(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key: string, shown: unknown) {
    // A Buffer was converted by its own toJSON already; the holder still has it.
    const original = this[key]
    return original instanceof Uint8Array ? { $bytes: Buffer.from(original).toString('base64') } : shown
  })
}

/** Throws SyntaxError for text that is not JSON. */
export function decodeInternalJson(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value
    const bytes = (value as { $bytes?: unknown }).$bytes
    return typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : value
  })
}

/** Header with the caller of the other process, so that callers take turns here too. */
export const callerHeader = 'duelog-caller'
