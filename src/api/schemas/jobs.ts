/** Schemas of the routes of jobs and their lists. The fields of a definition are checked by streams/definitions, which has their limits. */
import { jobIdBytesMax } from '../../../streams/definitions/index.ts'
import {
  acceptedSchema,
  closed,
  createHeaders,
  endedWaitQuery,
  fieldProblemSchema,
  idParams,
  ifMatchHeaders,
  jobStatuses,
  orNull,
  problemResponses,
  putHeaders,
  staleQuery,
  staleSchema,
  time,
  timeInput,
  timeOrNull,
  waitQuery,
} from './common.ts'
import { listLimitDefault, listLimitMax } from './limits.ts'
import { runSchema, writtenSchema } from './runs.ts'

/** Only the name; openapi/definition-json-schema.ts describes it. */
export const definitionSchema = {
  title: 'JobDefinition',
  type: 'object',
  description: 'A job definition: the fields of the Avro schema JobDefinition, and id.',
} as const

export const jobSchema = {
  title: 'Job',
  type: 'object',
  additionalProperties: false,
  required: [
    ...[
      'id',
      'etag',
      'status',
      'reason',
      'nextFireAt',
      'nextDueAt',
      'runNo',
      'scheduledRuns',
      'succeeded',
      'failed',
      'skipped',
      'cancelled',
      'deadRuns',
      'deadRunsDropped',
      'backfill',
      'followUpsWaiting',
    ],
    ...['active', 'lastRun', 'definition'],
  ],
  properties: {
    id: { type: 'string' },
    etag: { type: 'string' },
    status: { type: 'string', enum: jobStatuses },
    reason: { type: ['string', 'null'], description: 'Why the job is INVALID, or why its last occurrence was skipped.' },
    nextFireAt: {
      ...timeOrNull,
      description: 'Nominal time of the next occurrence. Null if there is none, and while a pause has let it pass.',
    },
    nextDueAt: { ...timeOrNull, description: 'Time at which it is due, with jitter. Null without jitterMs.' },
    place: {
      title: 'SchedulePlace',
      type: 'object',
      additionalProperties: false,
      required: ['anchorAt', 'decidedFor', 'latestFiredFor'],
      description:
        'For a schedule in a time zone: the state from which its next time is computed, even after the rules of the zone change.',
      properties: {
        anchorAt: time,
        decidedFor: orNull(
          {
            title: 'DecidedOccurrence',
            type: 'object',
            additionalProperties: false,
            required: ['at', 'offsetMs'],
            properties: { at: time, offsetMs: { type: 'integer', description: 'Local time minus UTC at that time.' } },
          },
          'The last occurrence that became a run or a skip.',
        ),
        latestFiredFor: timeOrNull,
      },
    },
    runNo: { type: 'integer', description: 'Number of the last run.' },
    scheduledRuns: { type: 'integer' },
    succeeded: { type: 'integer' },
    failed: { type: 'integer' },
    skipped: { type: 'integer' },
    cancelled: { type: 'integer' },
    deadRuns: {
      type: 'array',
      items: { type: 'integer' },
      description: 'Numbers of dead runs that can be redriven, at most 1,000.',
    },
    deadRunsDropped: {
      type: 'integer',
      description: 'Older dead runs that can no longer be redriven, because there was no room to keep them.',
    },
    backfill: orNull(
      {
        title: 'BackfillProgress',
        type: 'object',
        additionalProperties: false,
        required: ['id', 'from', 'to', 'nextAt', 'made'],
        properties: {
          id: { type: 'string', description: 'commandId of its runs.' },
          from: time,
          to: { ...time, description: 'End, exclusive.' },
          nextAt: { ...time, description: 'Nominal time of its next run.' },
          made: { type: 'integer', description: 'Runs that it has made.' },
        },
      },
      'The backfill in progress. Null: none makes runs now; those that one has made may be active.',
    ),
    followUpsWaiting: {
      type: 'integer',
      description: 'Follow-ups that wait until the job has fewer than maxConcurrentRuns active runs.',
    },
    active: { type: 'array', items: runSchema },
    lastRun: orNull(runSchema, 'Null before the first run.'),
    definition: orNull(definitionSchema, 'Null while the job is INVALID because its bytes could not be read.'),
  },
} as const

export const putJobSchema = {
  operationId: 'putJob',
  tags: ['Jobs'],
  summary: 'Create or replace a job',
  params: idParams,
  querystring: endedWaitQuery,
  headers: putHeaders,
  body: definitionSchema,
  response: { 200: writtenSchema, 201: writtenSchema, 202: writtenSchema, ...problemResponses },
} as const

export const postJobSchema = {
  operationId: 'createJob',
  tags: ['Jobs'],
  summary: 'Create a job with an id from the server',
  querystring: endedWaitQuery,
  headers: createHeaders,
  body: definitionSchema,
  response: { 200: writtenSchema, 201: writtenSchema, 202: writtenSchema, ...problemResponses },
} as const

export const getJobSchema = {
  operationId: 'getJob',
  tags: ['Jobs'],
  summary: 'Definition and state of a job',
  params: idParams,
  querystring: closed(staleQuery),
  response: { 200: jobSchema, ...problemResponses },
} as const

export const deleteJobSchema = {
  operationId: 'deleteJob',
  tags: ['Jobs'],
  summary: 'Delete a job; its active runs are cancelled',
  params: idParams,
  querystring: waitQuery,
  headers: ifMatchHeaders,
  response: { 202: acceptedSchema, 204: { type: 'null', description: 'The tombstone is in the log.' }, ...problemResponses },
} as const

export const listJobsSchema = {
  operationId: 'listJobs',
  tags: ['Jobs'],
  summary: 'Jobs in the order of their ids',
  querystring: closed({
    status: { type: 'string', enum: jobStatuses },
    tag: { type: 'string', minLength: 1, maxLength: 64 },
    handler: { type: 'string', minLength: 1, maxLength: 128 },
    dueBefore: {
      ...timeInput,
      description: 'Only jobs whose next occurrence is before this time. ISO 8601 with an offset, or epoch ms.',
    },
    idPrefix: {
      type: 'string',
      minLength: 1,
      maxLength: jobIdBytesMax,
      description: 'Only jobs whose id begins with this text.',
    },
    idContains: {
      type: 'string',
      minLength: 1,
      maxLength: jobIdBytesMax,
      description: 'Only jobs whose id contains this text. Case-sensitive.',
    },
    active: { type: 'boolean', description: 'true: only jobs with active runs.' },
    limit: { type: 'integer', minimum: 1, maximum: listLimitMax, default: listLimitDefault },
    cursor: { type: 'string', minLength: 1, description: 'The cursor of the previous page.' },
    ...staleQuery,
  }),
  response: {
    200: {
      title: 'JobPage',
      type: 'object',
      additionalProperties: false,
      required: ['jobs', 'searched', 'cursor'],
      properties: {
        jobs: { type: 'array', items: jobSchema },
        searched: { type: 'integer', description: 'Number of jobs that were searched for this page.' },
        cursor: {
          type: ['string', 'null'],
          description: 'Cursor of the next page; null at the end. A page may be short, even empty, and still have one.',
        },
        stale: staleSchema,
      },
    },
    ...problemResponses,
  },
} as const

/** One line of the answer to a batch. */
export const batchLineSchema = {
  title: 'BatchLine',
  type: 'object',
  required: ['line', 'ok'],
  additionalProperties: false,
  properties: {
    line: { type: 'integer', description: 'Number of the line in the request, from 1.' },
    ok: { type: 'boolean', description: 'Whether the definition is in the log.' },
    id: { type: 'string' },
    etag: { type: 'string' },
    partition: { type: 'integer' },
    offset: { type: 'integer' },
    code: { type: 'string' },
    detail: { type: 'string' },
    retriable: { type: 'boolean' },
    problems: { type: 'array', items: fieldProblemSchema },
  },
} as const

export const batchSchema = {
  operationId: 'writeJobs',
  tags: ['Jobs'],
  summary: 'Create or replace many jobs',
  description:
    'Each line is one definition with its id. The answer has one result line for each, in order, while the request is still being sent. Read the answer while you send: the server reads only as fast as its results are read. Blank lines are skipped.',
  querystring: closed({
    wait: {
      type: 'string',
      enum: ['applied'],
      description:
        'The answer waits until the owners have applied the definitions, and ends with one more line: {"applied": true}, or false with a detail if that takes more than 5 s. Of the first 200 jobs, it lists those that became INVALID: {"applied": true, "invalid": [{"id": …, "reason": …}]}.',
    },
  }),
  consumes: ['application/x-ndjson'],
  produces: ['application/x-ndjson'],
  // Bytes in both directions: the lines together are not JSON, and some clients accept no other text.
  response: {
    200: {
      type: 'string',
      format: 'binary',
      description: 'One result line for each line, such as {"line": 1, "ok": true, "id": …}.',
    },
    ...problemResponses,
  },
} as const
