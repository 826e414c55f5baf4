/**
 * The calls between processes, over HTTP: one table of their arguments. remote-queries.ts makes the requests by it, and
 * api/routes/internal-routes.ts the routes that answer them. They are not part of the public API. Each has its arguments as JSON in the
 * query, and answers `{ "answer": … }`.
 */
import { slotWaitMs } from '../../ground/concurrency/index.ts'
import type { DueRange, JobQueries, PartitionQueries } from '../../ground/ports/index.ts'
import { instanceCharsMax } from '../../ground/process/index.ts'
import { bulkActions, jobActions } from '../../ground/records/index.ts'
import {
  aliveHoldMs,
  announceWaitMsMax,
  bucketsMax,
  changesMax,
  changeWaitMs,
  dueJobsMax,
  faultReasonCharsMax,
  handlersRangeMsMax,
  historyBucketMsDefault,
  historyBucketMsMin,
  historyBucketsMax,
  horizonMaxMs,
  listChunkMax,
  listLimitMax,
  proofFindingsMax,
  runWaitMsMax,
  targetsMax,
} from './limits.ts'

export interface Call {
  /** JSON schemas of the arguments. */
  args: readonly object[]
  /** How many of them must be there. Default: all. */
  needed?: number
  /** False: together they ask for more than one may. */
  isAllowed?: (...args: never[]) => boolean
  /** The caller follows the arguments: callers take turns, and a gone one is not answered. */
  asks?: true
  /** How long the answer may take in addition to the usual time limit. */
  waitMs?: (...args: never[]) => number
  /** Only of a call that changes something: its name in the audit trail. It is a POST then, else a GET. */
  audit?: 'CHANGE_JOBS' | 'ACKNOWLEDGE_FAULT'
}

const closed = <Fields extends object>(properties: Fields, required: readonly (keyof Fields & string)[] = []) =>
  ({ type: 'object', additionalProperties: false, properties, required }) as const
const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) => ({ type: 'integer', minimum, maximum }) as const
const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const
const texts = { type: 'array', items: text } as const
const partition = integer(0)
const runNo = integer(1)

const filter = closed({
  ...{ status: text, tag: text, handler: text, idPrefix: text, idContains: text, runStatus: text, dead: flag, active: flag },
  ...{ dueBefore: { type: 'integer' }, diedFrom: integer(0), diedTo: integer(0), errorType: text, errorKind: text },
})
const cutOff = closed({ jobsOffset: integer(0), at: integer(0) }, ['jobsOffset', 'at'])
const due = { tag: text, handler: text, pool: text, periodMsMin: integer(1), from: integer(0), to: integer(0) }
/** As long as the public API lets a forecast be; it rounds to whole buckets. */
const isShort = (from: number, to: number, bucketMs = 0): boolean => to >= from && to - from <= horizonMaxMs + bucketMs
const history = {
  ...{ jobId: text, idPrefix: text, tag: text, handler: text, pool: text, outcome: text, errorType: text, errorText: text },
  ...{ from: integer(0), to: integer(0), minDurationMs: integer(0), maxDurationMs: integer(0), harmless: flag },
}
/** A number of 63 bits, besides some that no database reaches. */
const historyPlace = /^([0-9]{1,18}|[0-8][0-9]{18})$/
export const isHistoryPlace = (text: string): boolean => historyPlace.test(text)

const queued = (): number => slotWaitMs
const lastOf = (...args: number[]): number => args.at(-1) ?? 0

/** Of any store of a process, with `stale=true` in the query: that of a standby too. */
export const standbyCalls: Record<keyof JobQueries, Call> = {
  job: { args: [partition, text] },
  list: { args: [partition, filter, integer(1, listChunkMax), text], needed: 3, asks: true, waitMs: queued },
  why: { args: [partition, text] },
  runs: { args: [partition, text, runNo], needed: 2 },
  deadRuns: {
    args: [
      partition,
      closed(
        {
          ...{ filter, limit: integer(1, listLimitMax), after: text, harmlessOnly: flag },
          before: closed({ at: integer(0), jobId: text, runNo }, ['at', 'jobId', 'runNo']),
        },
        ['filter', 'limit', 'harmlessOnly'],
      ),
    ],
    asks: true,
    waitMs: queued,
  },
  deadRun: { args: [partition, text, runNo] },
  runInput: { args: [partition, text, runNo] },
}

const ownerCalls: Record<Exclude<keyof PartitionQueries, keyof JobQueries | 'standbyReads' | 'partitions'>, Call> = {
  stored: { args: [partition, text] },
  forecast: {
    args: [partition, closed({ ...due, bucketMs: integer(1, horizonMaxMs) }, ['from', 'to', 'bucketMs'])],
    asks: true,
    // The owner counts in a list with a place for each bucket.
    isAllowed: (_partition: number, { from, to, bucketMs }: DueRange) =>
      isShort(from, to, bucketMs) && (to - from) / bucketMs <= bucketsMax,
  },
  dueJobs: {
    args: [partition, closed({ ...due, limit: integer(1, dueJobsMax) }, ['from', 'to', 'limit'])],
    asks: true,
    isAllowed: (_partition: number, { from, to }: Pick<DueRange, 'from' | 'to'>) => isShort(from, to),
  },
  targets: {
    args: [
      partition,
      closed(
        {
          ...{ action: text, filter, ids: { ...texts, maxItems: targetsMax }, commandPrefix: text, after: text, until: text },
          ...{ limit: integer(0, targetsMax), countOnly: flag, cutOff },
        },
        ['action', 'commandPrefix', 'limit'],
      ),
    ],
    asks: true,
  },
  change: {
    args: [
      partition,
      closed(
        {
          ...{ action: { enum: bulkActions }, filter, cutOff, commandId: text, after: text, isRepeat: flag },
          limit: integer(1, changesMax),
        },
        ['action', 'filter', 'cutOff', 'commandId', 'isRepeat', 'limit'],
      ),
    ],
    ...{ asks: true, audit: 'CHANGE_JOBS' },
    waitMs: () => changeWaitMs,
  },
  announce: {
    args: [
      partition,
      closed(
        {
          ...{ action: { enum: jobActions }, filter, commandId: text, createdAt: integer(0), cutOff, after: text },
          ...{ listed: text, isOver: flag, waitMs: integer(0, announceWaitMsMax) },
        },
        ['action', 'filter', 'commandId', 'createdAt', 'isOver', 'waitMs'],
      ),
    ],
    ...{ asks: true, audit: 'CHANGE_JOBS' },
    waitMs: (_partition: number, { waitMs }: { waitMs: number }) => waitMs,
  },
  limits: { args: [partition] },
  workers: { args: [partition] },
  applied: { args: [partition, closed({ jobs: integer(0), commands: integer(0) }), integer(0, 60_000)], waitMs: lastOf },
  ended: {
    args: [partition, text, closed({ runNo, commandId: text, specOffset: integer(0) }), integer(0, runWaitMsMax)],
    asks: true,
    waitMs: (_partition: number, _id: string, _awaited: object, timeoutMs: number) => timeoutMs,
  },
}

/** The limits are those of the public parameters: anybody with an operator's token may call. */
const roleCalls = {
  historyPage: {
    args: [closed(history), integer(1, listLimitMax), { anyOf: [{ type: 'null' }, { ...text, pattern: historyPlace.source }] }],
  },
  historyCounts: {
    args: [closed(history, ['from', 'to']), integer(historyBucketMsMin)],
    isAllowed: ({ from, to }: { from: number; to: number }, bucketMs: number) => (to - from) / bucketMs <= historyBucketsMax,
  },
  historyHandlers: {
    args: [integer(0), integer(0)],
    isAllowed: (from: number, to: number) => to - from <= handlersRangeMsMax + 2 * historyBucketMsDefault,
  },
  proof: { args: [] },
  acknowledge: {
    args: [
      closed({ ids: { ...texts, maxItems: proofFindingsMax }, upTo: { type: 'integer' } }),
      closed({ by: text, at: { type: 'integer' }, reason: { ...text, maxLength: faultReasonCharsMax } }, ['by', 'at', 'reason']),
    ],
    audit: 'ACKNOWLEDGE_FAULT',
  },
} satisfies Record<string, Call>

const noArguments: Call = { args: [] }
/** Of each process: its partitions, what it has counted, and for its front its health and metrics; and whether it lives (peer-watch.ts). */
const processCalls = {
  ...{ partitions: noArguments, counts: noArguments, health: noArguments, metrics: noArguments },
  alive: { args: [], waitMs: () => aliveHoldMs },
  hears: { args: [{ ...text, maxLength: instanceCharsMax }] },
} satisfies Record<string, Call>

export const calls = { ...standbyCalls, ...ownerCalls, ...roleCalls, ...processCalls } satisfies Record<string, Call>

export const callPath = (name: string): string => `/internal/v1/${name}`

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
