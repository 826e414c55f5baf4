/**
 * The queries that a process asks the owner of a partition in another process, over HTTP: one table of their paths, schemas and
 * parameters. remote-queries.ts makes the requests by it, and routes/internal-routes.ts the routes that answer them. The routes
 * are not part of the public API.
 */
import {
  type AnnounceQuery,
  type Asker,
  type AwaitedRun,
  bulkActions,
  type ChangeQuery,
  type CutOff,
  type DueRange,
  type JobFilter,
  type JobQueries,
  type PartitionQueries,
  type TargetQuery,
} from '../../ports/index.ts'
import {
  announceWaitMsMax,
  changesMax,
  changeWaitMs,
  closed,
  dueJobsMax,
  listChunkMax,
  runWaitMsMax,
  targetsMax,
} from '../schemas/index.ts'

/** Path of the partitions of a process. The paths of the calls follow it. */
export const partitionsPath = '/internal/v1/partitions'
/** A call ends after this wait at the latest. */
const appliedWaitMsMax = 60_000

export type Values = Record<string, string | number | boolean | undefined>

/** What the caller sends. `waitMs`: how long the owner may take in addition to the usual time limit. */
interface Request {
  params: Values
  query?: Values
  waitMs?: number
  asker?: Asker | undefined
}

interface OwnerCall<Name extends keyof PartitionQueries> {
  path: string
  /** Only of a call that changes something: its name in the audit trail. Default: it is a GET. */
  audit?: 'CHANGE_JOBS'
  schema: { hide: true; params: object; querystring: object }
  /** Field of the body that holds the answer. Absent: the body is the answer. */
  field?: string
  /** What the caller makes of the arguments. */
  request: (...args: PartitionQueries[Name] extends (...args: infer Args) => unknown ? Args : never) => Request
  /** What the owner does with params and query. `asker` is called only by long queries, because it watches the connection. */
  answer: (queries: PartitionQueries, given: never, asker: () => Asker) => Promise<unknown>
}

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

type OwnerName = Exclude<keyof PartitionQueries, keyof JobQueries | 'copies' | 'partitions'>

const integer = (minimum: number) => ({ type: 'integer', minimum }) as const
const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const
const ofPartition = closed({ partition: integer(0) }, ['partition'])
const ofJob = closed({ partition: integer(0), id: text }, ['partition', 'id'])
const schemaOf = (params: object, querystring: object) => ({ hide: true, params, querystring }) as const
const stale = { stale: flag }

interface OfPartition {
  partition: number
}
type OfJob = OfPartition & { id: string }

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
          ...{ status: text, tag: text, handler: text, dead: flag, idPrefix: text, idContains: text, runStatus: text },
          ...{ active: flag, dueBefore: { type: 'integer' } },
          ...{ limit: { ...integer(1), maximum: listChunkMax }, after: text, ...stale },
        },
        ['limit'],
      ),
    ),
    request: (partition, filter, limit, after, asker) => ({ params: { partition }, query: { ...filter, limit, after }, asker }),
    answer: (queries, given: OfPartition & JobFilter & { limit: number; after?: string; stale?: boolean }, asker) => {
      const { partition, limit, after, stale: _, ...filter } = given
      return queries.list(partition, filter, limit, after, asker())
    },
  },
  runs: {
    path: '/:partition/jobs/:id/runs',
    schema: schemaOf(ofJob, closed(stale)),
    field: 'runs',
    request: (partition, id) => ({ params: { partition, id } }),
    answer: (queries, { partition, id }: OfJob) => queries.runs(partition, id),
  },
  why: {
    path: '/:partition/jobs/:id/why',
    schema: schemaOf(ofJob, closed(stale)),
    field: 'why',
    request: (partition, id) => ({ params: { partition, id } }),
    answer: (queries, { partition, id }: OfJob) => queries.why(partition, id),
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

export const ownerCalls: { [Name in OwnerName]: OwnerCall<Name> } = {
  stored: {
    path: '/:partition/jobs/:id/stored',
    schema: schemaOf(ofJob, closed({})),
    field: 'job',
    request: (partition, id) => ({ params: { partition, id } }),
    answer: (queries, { partition, id }: OfJob) => queries.stored(partition, id),
  },
  forecast: {
    path: '/:partition/forecast',
    schema: schemaOf(ofPartition, closed({ from: integer(0), to: integer(0), bucketMs: integer(1) }, ['from', 'to', 'bucketMs'])),
    field: 'counts',
    request: (partition, range, asker) => ({ params: { partition }, query: { ...range }, asker }),
    answer: (queries, { partition, ...range }: OfPartition & DueRange, asker) => queries.forecast(partition, range, asker()),
  },
  dueJobs: {
    path: '/:partition/due-jobs',
    schema: schemaOf(
      ofPartition,
      closed({ from: integer(0), to: integer(0), limit: { ...integer(1), maximum: dueJobsMax } }, ['from', 'to', 'limit']),
    ),
    field: 'due',
    request: (partition, range, asker) => ({ params: { partition }, query: { ...range }, asker }),
    answer: (queries, { partition, ...range }: OfPartition & { from: number; to: number; limit: number }, asker) =>
      queries.dueJobs(partition, range, asker()),
  },
  targets: {
    path: '/:partition/targets',
    schema: schemaOf(
      ofPartition,
      closed(
        {
          ...{ action: text, commandPrefix: text, ids: text, after: text, until: text, countOnly: flag },
          ...{ status: text, tag: text, handler: text, idPrefix: text, idContains: text, runStatus: text, dead: flag },
          ...{ limit: { ...integer(0), maximum: targetsMax }, jobsOffset: integer(0), at: integer(0) },
        },
        ['action', 'commandPrefix', 'limit'],
      ),
    ),
    request: (partition, { filter, ids, cutOff, ...query }, asker) => ({
      params: { partition },
      query: { ...query, ...filter, ...cutOff, ids: ids && JSON.stringify(ids) },
      asker,
    }),
    answer: (queries, { partition, ...given }: OfPartition & GivenTargets, asker) =>
      queries.targets(partition, targetQueryOf(given), asker()),
  },
  change: {
    path: '/:partition/changes',
    audit: 'CHANGE_JOBS',
    schema: schemaOf(
      ofPartition,
      closed(
        {
          ...{ action: { enum: bulkActions }, commandId: text, after: text, isRepeat: flag },
          ...{ status: text, tag: text, handler: text, idPrefix: text, idContains: text },
          ...{ limit: { ...integer(1), maximum: changesMax }, jobsOffset: integer(0), at: integer(0) },
        },
        ['action', 'commandId', 'isRepeat', 'limit', 'jobsOffset', 'at'],
      ),
    ),
    request: (partition, { filter, cutOff, ...query }, asker) => ({
      params: { partition },
      query: { ...query, ...filter, ...cutOff },
      waitMs: changeWaitMs,
      asker,
    }),
    answer: (queries, given: OfPartition & GivenChange, asker) => {
      const { partition, action, commandId, after, isRepeat, limit, jobsOffset, at, ...filter } = given
      const place = { cutOff: { jobsOffset, at }, isRepeat, limit, ...(after !== undefined && { after }) }
      return queries.change(partition, { action, commandId, filter, ...place }, asker())
    },
  },
  announce: {
    path: '/:partition/announced',
    audit: 'CHANGE_JOBS',
    schema: schemaOf(
      ofPartition,
      closed(
        {
          ...{ action: { enum: bulkActions }, commandId: text, createdAt: integer(0), after: text, isOver: flag },
          ...{ status: text, tag: text, handler: text, idPrefix: text, idContains: text },
          ...{ waitMs: { ...integer(0), maximum: announceWaitMsMax }, jobsOffset: integer(0), at: integer(0) },
        },
        ['action', 'commandId', 'createdAt', 'isOver', 'waitMs'],
      ),
    ),
    request: (partition, { filter, cutOff, ...query }, asker) => ({
      params: { partition },
      query: { ...query, ...filter, ...cutOff },
      waitMs: query.waitMs,
      asker,
    }),
    answer: (queries, given: OfPartition & GivenAnnouncement, asker) => {
      const { partition, action, commandId, createdAt, after, isOver, waitMs, jobsOffset, at, ...filter } = given
      const place = {
        ...(jobsOffset !== undefined && at !== undefined && { cutOff: { jobsOffset, at } }),
        ...(after !== undefined && { after }),
      }
      return queries.announce(partition, { action, commandId, createdAt, filter, isOver, waitMs, ...place }, asker())
    },
  },
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
      closed({ runNo: integer(1), commandId: text, since: integer(0), timeoutMs: { ...integer(0), maximum: runWaitMsMax } }, [
        'timeoutMs',
      ]),
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

type GivenChange = Omit<ChangeQuery, 'filter' | 'cutOff'> & JobFilter & CutOff
type GivenAnnouncement = Omit<AnnounceQuery, 'filter' | 'cutOff'> & JobFilter & Partial<CutOff>
type GivenTargets = Omit<TargetQuery, 'filter' | 'ids' | 'cutOff'> & JobFilter & Partial<CutOff> & { ids?: string }

/** The query of `targets` as its caller has it; as a query of HTTP it is flat. */
function targetQueryOf({ ids, jobsOffset, at, action, commandPrefix, after, until, limit, countOnly, ...filter }: GivenTargets) {
  return {
    ...{ action, commandPrefix, limit, filter },
    ...(ids !== undefined && { ids: JSON.parse(ids) as string[] }),
    ...(jobsOffset !== undefined && at !== undefined && { cutOff: { jobsOffset, at } }),
    ...(after !== undefined && { after }),
    ...(until !== undefined && { until }),
    ...(countOnly !== undefined && { countOnly }),
  }
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
