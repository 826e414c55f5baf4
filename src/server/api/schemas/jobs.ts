/** Schemas of the routes of jobs and their lists. The fields of a definition are checked by streams/definitions, which has their limits. */
import { jobIdBytesMax } from '../../../../streams/definitions/index.ts'
import {
  acceptedSchema,
  answers,
  closed,
  createHeaders,
  endedWaitQuery,
  enumOf,
  flag,
  idParams,
  ifMatchHeaders,
  integer,
  integerUpTo,
  jobStatuses,
  listOf,
  named,
  orNull,
  problemResponses,
  putHeaders,
  staleQuery,
  staleSchema,
  text,
  textOrNull,
  textUpTo,
  time,
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

export const jobSchema = named(
  'Job',
  {
    id: { type: 'string' },
    etag: { type: 'string' },
    status: { type: 'string', enum: jobStatuses },
    reason: textOrNull('Why the job is INVALID, or why its last occurrence was skipped.'),
    nextFireAt: textOrNull('Nominal time of the next occurrence. Null if there is none, and while a pause has let it pass.'),
    nextDueAt: { ...timeOrNull, description: 'Time at which it is due, with jitter. Null without jitterMs.' },
    place: {
      ...named('SchedulePlace', {
        anchorAt: time,
        decidedFor: orNull(
          named('DecidedOccurrence', { at: time, offsetMs: integer('Local time minus UTC at that time.') }),
          'The last occurrence that became a run or a skip.',
        ),
        latestFiredFor: timeOrNull,
      }),
      description:
        'For a schedule in a time zone: the state from which its next time is computed, even after the rules of the zone change.',
    },
    runNo: integer('Number of the last run.'),
    scheduledRuns: { type: 'integer' },
    succeeded: { type: 'integer' },
    failed: { type: 'integer' },
    skipped: { type: 'integer' },
    cancelled: { type: 'integer' },
    deadRuns: listOf({ type: 'integer' }, 'Numbers of dead runs that can be redriven, at most 1,000.'),
    deadRunsDropped: integer('Older dead runs that can no longer be redriven, because there was no room to keep them.'),
    backfill: orNull(
      named('BackfillProgress', {
        id: text('commandId of its runs.'),
        from: time,
        to: { ...time, description: 'End, exclusive.' },
        nextAt: { ...time, description: 'Nominal time of its next run.' },
        made: integer('Runs that it has made.'),
      }),
      'The backfill in progress. Null: none makes runs now; those that one has made may be active.',
    ),
    followUpsWaiting: integer('Follow-ups that wait until the job has fewer than maxConcurrentRuns active runs.'),
    active: listOf(runSchema),
    lastRun: orNull(runSchema, 'Null before the first run.'),
    definition: orNull(definitionSchema, 'Null while the job is INVALID because its bytes could not be read.'),
  },
  ['place'],
)

export const putJobSchema = {
  operationId: 'putJob',
  tags: ['Jobs'],
  summary: 'Create or replace a job',
  description:
    'Without a condition the answer is 200, whether the job was created or replaced: no owner is asked. With If-None-Match: * it is 201.',
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
  response: answers(jobSchema),
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
    status: { type: 'string', enum: jobStatuses, description: 'Status of the job.' },
    tag: textUpTo(64, 'One of the tags of the job.'),
    handler: textUpTo(128, 'Name of the handler of the job.'),
    dueBefore: text('Only jobs whose next occurrence is before this time. ISO 8601 with an offset, or epoch ms.'),
    idPrefix: textUpTo(jobIdBytesMax, 'Only jobs whose id begins with this text.'),
    idContains: textUpTo(jobIdBytesMax, 'Only jobs whose id contains this text. Case-sensitive.'),
    active: flag('true: only jobs with active runs.'),
    limit: integerUpTo(listLimitMax, listLimitDefault),
    cursor: { type: 'string', minLength: 1, description: 'The cursor of the previous page.' },
    ...staleQuery,
  }),
  response: answers(
    named(
      'JobPage',
      {
        jobs: listOf(jobSchema),
        searched: integer('Number of jobs that were searched for this page.'),
        cursor: textOrNull('Cursor of the next page; null at the end. A page may be short, even empty, and still have one.'),
        stale: staleSchema,
      },
      ['stale'],
    ),
  ),
} as const

export const batchSchema = {
  operationId: 'writeJobs',
  tags: ['Jobs'],
  summary: 'Create or replace many jobs',
  description:
    'Each line is one definition with its id. The answer has one result line for each, in order, while the request is still being sent. Read the answer while you send: the server reads only as fast as its results are read. Blank lines are skipped.',
  querystring: closed({
    wait: enumOf(
      ['applied'],
      'The answer waits until the owners have applied the definitions, and ends with one more line: {"applied": true}, or false with a detail if that takes more than 5 s. Of the first 200 jobs, it lists those that became INVALID: {"applied": true, "invalid": [{"id": …, "reason": …}]}.',
    ),
  }),
  consumes: ['application/x-ndjson'],
  produces: ['application/x-ndjson'],
  // Bytes in both directions: the lines together are not JSON, and some clients accept no other text.
  response: answers({
    type: 'string',
    format: 'binary',
    description: 'One result line for each line, such as {"line": 1, "ok": true, "id": …}.',
  }),
} as const
