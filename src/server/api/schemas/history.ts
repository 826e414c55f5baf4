/** Schemas of the routes of the history of ended runs. */
import {
  answers,
  closed,
  integer,
  integerOrNull,
  integerUpTo,
  listOf,
  named,
  orNull,
  text,
  textOrNull,
  textUpTo,
  time,
  timeInput,
  timeOrNull,
} from './common.ts'
import { historyBucketMsDefault, historyBucketMsMin, historyBucketsMax, listLimitDefault, listLimitMax } from './limits.ts'

const durationMs = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const
const duration = 'from the start of the last attempt to the end of the run. Unit: ms.'

const filter = {
  from: { ...timeInput, description: 'Only runs that ended at this time or later: ISO 8601 with an offset, or epoch ms.' },
  to: { ...timeInput, description: 'Only runs that ended before this time: ISO 8601 with an offset, or epoch ms.' },
  jobId: textUpTo(255, 'Only runs of this job.'),
  idPrefix: textUpTo(255, 'Only runs of jobs whose id begins with this.'),
  tag: textUpTo(64, 'Only runs whose job had this tag when they ended.'),
  handler: textUpTo(128, 'Only runs with this handler.'),
  pool: textUpTo(64, 'Only runs of this pool.'),
  outcome: textUpTo(64, 'Only runs with this outcome: SUCCEEDED, DEAD, EXPIRED, CANCELLED, DISPATCHED or SKIPPED.'),
  errorType: textUpTo(255, 'Only runs whose last error has this type.'),
  errorText: textUpTo(
    255,
    'Only runs whose last error message contains this. ASCII letters match in either case. For viewers, filters of errors match only runs whose texts hold no secrets.',
  ),
  minDurationMs: { ...durationMs, description: `Only runs that took at least this long, ${duration}` },
  maxDurationMs: { ...durationMs, description: `Only runs that took at most this long, ${duration}` },
} as const

const endedRunSchema = named('HistoryRun', {
  runId: text('<jobId>/<runNo>; the number is 0 for skipped occurrences.'),
  jobId: { type: 'string' },
  runNo: { type: 'integer' },
  life: text('Identifies the life of the job: a deleted job and a later one with its id have different ones.'),
  outcome: text('SUCCEEDED, DEAD, EXPIRED, CANCELLED, or SKIPPED for occurrences without a run.'),
  reason: textOrNull('A stable word if the outcome does not say why, such as attempts, overlap or deleted.'),
  trigger: text('SCHEDULE, MANUAL, REDRIVE, BACKFILL or FOLLOW_UP.'),
  commandId: textOrNull('The command that asked for the run.'),
  handler: textOrNull('Null: its target is a topic, or its definition is no longer known.'),
  topic: textOrNull('Topic that the run wrote to.'),
  pool: textOrNull('Pool of the workers.'),
  tags: listOf({ type: 'string' }, 'Tags of the job when the run ended.'),
  scheduledFor: time,
  dueAt: { ...timeOrNull, description: 'When the last attempt was due.' },
  startedAt: { ...timeOrNull, description: 'When the last attempt started.' },
  finishedAt: time,
  durationMs: integerOrNull(`Time ${duration} Null: unknown.`),
  attempts: { type: 'integer' },
  worker: textOrNull('Worker that ran the last attempt.'),
  errorType: textOrNull('Class or code of the last error.'),
  errorMessage: textOrNull('Message of the last error, at most 1,000 characters.'),
  result: { description: 'The return value of the handler; null if it has more than 4,096 bytes.' },
  resultBytes: integer('Length of the return value; 0 if there is none.'),
  note: textOrNull('Which part of the final report was left out, and why.'),
  traceparent: textOrNull('W3C trace context of the run if it was traced, otherwise of the definition.'),
})

export const historySchema = {
  operationId: 'listHistory',
  tags: ['Runs'],
  summary: 'Ended runs, newest first',
  description:
    'From the database of the role history, which follows the topic runs within a second or so. A search takes about a second at most: a page may have fewer runs than the limit, even none, and still a cursor. Viewers see *** in place of errors, results and notes of runs that may hold secrets. Without a process with the role, the answer is 503.',
  querystring: closed({
    ...filter,
    limit: integerUpTo(listLimitMax, listLimitDefault),
    cursor: { type: 'string', minLength: 1, description: 'The cursor of the previous page, with the same filter.' },
  }),
  response: answers(
    named(
      'HistoryPage',
      {
        runs: listOf(endedRunSchema),
        cursor: textOrNull('Cursor of the next page; null at the end.'),
        searchedTo: { ...timeOrNull, description: 'All runs that ended after this time were searched. Null at the end.' },
        problem: text('Why the newest runs are missing. Absent: the history is written.'),
      },
      ['problem'],
    ),
  ),
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
  response: answers(
    named('HistoryCounts', {
      from: time,
      to: time,
      bucketMs: { type: 'integer' },
      buckets: listOf(
        named('HistoryBucket', { at: { ...time, description: 'Start of the bucket.' }, outcomes: outcomeCounts }),
        'Buckets with runs, oldest first.',
      ),
      total: outcomeCounts,
      countedFrom: textOrNull(
        'Runs that ended before this time were not counted, because the time was over. Null: all were counted.',
      ),
    }),
  ),
} as const

const timeFigures = (title: string, what: string) =>
  orNull(
    named(title, {
      p50Ms: integer('Half of them are above.'),
      p95Ms: integer('5% of them are above.'),
    }),
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
  response: answers(
    named('HandlerList', {
      from: time,
      to: time,
      handlers: listOf(
        named('Handler', {
          handler: { type: 'string' },
          runs: { type: 'integer' },
          failed: integer('Those of them that are DEAD or EXPIRED.'),
          outcomes: outcomeCounts,
          duration: timeFigures('HandlerDuration', 'From the start of the last attempt to the end of the run.'),
          lateness: timeFigures('HandlerLateness', 'From the due time of the last attempt to its start.'),
        }),
      ),
    }),
  ),
} as const
