/** Schemas of the routes of the history of ended runs. */
import { closed, orNull, problemResponses, time, timeInput, timeOrNull } from './common.ts'
import { historyBucketMsDefault, historyBucketMsMin, historyBucketsMax, listLimitDefault, listLimitMax } from './limits.ts'

const durationMs = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const
const duration = 'from the start of the last attempt to the end of the run. Unit: ms.'

const filter = {
  from: { ...timeInput, description: 'Only runs that ended at this time or later: ISO 8601 with an offset, or epoch ms.' },
  to: { ...timeInput, description: 'Only runs that ended before this time: ISO 8601 with an offset, or epoch ms.' },
  jobId: { type: 'string', minLength: 1, maxLength: 255, description: 'Only runs of this job.' },
  idPrefix: { type: 'string', minLength: 1, maxLength: 255, description: 'Only runs of jobs whose id begins with this.' },
  tag: { type: 'string', minLength: 1, maxLength: 64, description: 'Only runs whose job had this tag when they ended.' },
  handler: { type: 'string', minLength: 1, maxLength: 128, description: 'Only runs with this handler.' },
  pool: { type: 'string', minLength: 1, maxLength: 64, description: 'Only runs of this pool.' },
  outcome: {
    type: 'string',
    minLength: 1,
    maxLength: 64,
    description: 'Only runs with this outcome: SUCCEEDED, DEAD, EXPIRED, CANCELLED, DISPATCHED or SKIPPED.',
  },
  errorType: { type: 'string', minLength: 1, maxLength: 255, description: 'Only runs whose last error has this type.' },
  errorText: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description:
      'Only runs whose last error message contains this. ASCII letters match in either case. For viewers, filters of errors match only runs whose texts hold no secrets.',
  },
  minDurationMs: { ...durationMs, description: `Only runs that took at least this long, ${duration}` },
  maxDurationMs: { ...durationMs, description: `Only runs that took at most this long, ${duration}` },
} as const

const textOrNull = (description: string) => ({ type: ['string', 'null'], description }) as const

const endedRunSchema = {
  title: 'HistoryRun',
  type: 'object',
  additionalProperties: false,
  required: [
    ...['runId', 'jobId', 'runNo', 'life', 'outcome', 'reason', 'trigger', 'commandId', 'handler', 'topic', 'pool', 'tags'],
    ...['scheduledFor', 'dueAt', 'startedAt', 'finishedAt', 'durationMs', 'attempts', 'worker', 'errorType', 'errorMessage'],
    ...['result', 'resultBytes', 'note', 'traceparent'],
  ],
  properties: {
    runId: { type: 'string', description: '<jobId>/<runNo>; the number is 0 for skipped occurrences.' },
    jobId: { type: 'string' },
    runNo: { type: 'integer' },
    life: {
      type: 'string',
      description: 'Identifies the life of the job: a deleted job and a later one with its id have different ones.',
    },
    outcome: {
      type: 'string',
      description:
        'SUCCEEDED, DEAD, EXPIRED, CANCELLED, DISPATCHED for a run that is not tracked, or SKIPPED for occurrences without a run.',
    },
    reason: textOrNull('A stable word if the outcome does not say why, such as attempts, overlap or deleted.'),
    trigger: { type: 'string', description: 'SCHEDULE, MANUAL, REDRIVE, BACKFILL or FOLLOW_UP.' },
    commandId: textOrNull('The command that asked for the run.'),
    handler: textOrNull('Null: its target is a topic, or its definition is no longer known.'),
    topic: textOrNull('Topic that the run wrote to.'),
    pool: textOrNull('Pool of the workers.'),
    tags: { type: 'array', items: { type: 'string' }, description: 'Tags of the job when the run ended.' },
    scheduledFor: time,
    dueAt: { ...timeOrNull, description: 'When the last attempt was due.' },
    startedAt: { ...timeOrNull, description: 'When the last attempt started.' },
    finishedAt: time,
    durationMs: { type: ['integer', 'null'], description: `Time ${duration} Null: unknown.` },
    attempts: { type: 'integer' },
    worker: textOrNull('Worker that ran the last attempt.'),
    errorType: textOrNull('Class or code of the last error.'),
    errorMessage: textOrNull('Message of the last error, at most 1,000 characters.'),
    result: { description: 'The return value of the handler; null if it has more than 4,096 bytes.' },
    resultBytes: { type: 'integer', description: 'Length of the return value; 0 if there is none.' },
    note: textOrNull('Which part of the final report was left out, and why.'),
    traceparent: textOrNull('W3C trace context of the run if it was traced, otherwise of the definition.'),
  },
} as const

export const historySchema = {
  operationId: 'listHistory',
  tags: ['Runs'],
  summary: 'Ended runs, newest first',
  description:
    'From the database of the role history, which follows the topic runs within a second or so. A search takes about a second at most: a page may have fewer runs than the limit, even none, and still a cursor. Viewers see *** in place of errors, results and notes of runs that may hold secrets. Without a process with the role, the answer is 503.',
  querystring: closed({
    ...filter,
    limit: { type: 'integer', minimum: 1, maximum: listLimitMax, default: listLimitDefault },
    cursor: { type: 'string', minLength: 1, description: 'The cursor of the previous page, with the same filter.' },
  }),
  response: {
    200: {
      title: 'HistoryPage',
      type: 'object',
      additionalProperties: false,
      required: ['runs', 'cursor', 'searchedTo'],
      properties: {
        runs: { type: 'array', items: endedRunSchema },
        cursor: { type: ['string', 'null'], description: 'Cursor of the next page; null at the end.' },
        searchedTo: { ...timeOrNull, description: 'All runs that ended after this time were searched. Null at the end.' },
        problem: { type: 'string', description: 'Why the newest runs are missing. Absent: the history is written.' },
      },
    },
    ...problemResponses,
  },
} as const

const outcomeCounts = {
  type: 'object',
  additionalProperties: { type: 'integer' },
  description: 'Number of runs by outcome.',
} as const

export const historyCountsSchema = {
  operationId: 'countHistory',
  tags: ['Runs'],
  summary: 'Number of ended runs by time and outcome',
  description: `The range is widened to whole buckets, which begin at multiples of their length since 1970 in UTC. Counts by the hour or a multiple of it, for a handler, a pool or an outcome, are exact. Others are counted for about a second, newest first; countedFrom then says how far. A range has at most ${historyBucketsMax} buckets.`,
  querystring: closed({
    ...filter,
    from: { ...timeInput, description: 'Default: 24 h before `to`.' },
    to: { ...timeInput, description: 'Default: now.' },
    bucketMs: {
      type: 'integer',
      minimum: historyBucketMsMin,
      maximum: 366 * 86_400_000,
      default: historyBucketMsDefault,
      description: 'Length of a bucket, a multiple of a minute. Unit: ms.',
    },
  }),
  response: {
    200: {
      title: 'HistoryCounts',
      type: 'object',
      additionalProperties: false,
      required: ['from', 'to', 'bucketMs', 'buckets', 'total', 'countedFrom'],
      properties: {
        from: time,
        to: time,
        bucketMs: { type: 'integer' },
        buckets: {
          type: 'array',
          description: 'Buckets with runs, oldest first.',
          items: {
            title: 'HistoryBucket',
            type: 'object',
            additionalProperties: false,
            required: ['at', 'outcomes'],
            properties: { at: { ...time, description: 'Start of the bucket.' }, outcomes: outcomeCounts },
          },
        },
        total: outcomeCounts,
        countedFrom: {
          ...timeOrNull,
          description: 'Runs that ended before this time were not counted, because the time was over. Null: all were counted.',
        },
      },
    },
    ...problemResponses,
  },
} as const

const timeFigures = (title: string, what: string) =>
  orNull(
    {
      title,
      type: 'object',
      additionalProperties: false,
      required: ['p50Ms', 'p95Ms'],
      properties: {
        p50Ms: { type: 'integer', description: 'Half of them are above.' },
        p95Ms: { type: 'integer', description: '5% of them are above.' },
      },
    } as const,
    `${what} Exact to 25%. Null: unknown.`,
  )

export const handlersSchema = {
  operationId: 'listHandlers',
  tags: ['Runs'],
  summary: 'Ended runs by handler: how many, how many failed, how long they took, how late they started',
  description:
    'From the database of the role history, in whole hours. The handlers with most runs come first, at most 500. A range has at most 31 days.',
  querystring: closed({
    from: { ...timeInput, description: 'Default: 24 h before `to`.' },
    to: { ...timeInput, description: 'Default: now.' },
  }),
  response: {
    200: {
      title: 'HandlerList',
      type: 'object',
      additionalProperties: false,
      required: ['from', 'to', 'handlers'],
      properties: {
        from: time,
        to: time,
        handlers: {
          type: 'array',
          items: {
            title: 'Handler',
            type: 'object',
            additionalProperties: false,
            required: ['handler', 'runs', 'failed', 'outcomes', 'duration', 'lateness'],
            properties: {
              handler: { type: 'string' },
              runs: { type: 'integer' },
              failed: { type: 'integer', description: 'Those of them that are DEAD or EXPIRED.' },
              outcomes: outcomeCounts,
              duration: timeFigures('HandlerDuration', 'From the start of the last attempt to the end of the run.'),
              lateness: timeFigures('HandlerLateness', 'From the due time of the last attempt to its start.'),
            },
          },
        },
      },
    },
    ...problemResponses,
  },
} as const

/** Between processes of one system. */
export const internalHistorySchema = {
  hide: true,
  querystring: closed({ query: { type: 'string', minLength: 2, maxLength: 8_192 } }, ['query']),
} as const
