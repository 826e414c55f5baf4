/** Schemas of the routes of runs, and of the route that explains a job. */
import { closed, idParams, jobStatuses, problemResponses, staleQuery, staleSchema, time, timeOrNull } from './common.ts'
import { listLimitDefault, listLimitMax } from './limits.ts'

const activeStatuses = ['DISPATCHED', 'RUNNING', 'RETRY_WAIT', 'WAITING'] as const

/** Runs are filtered by fields of their jobs. */
export const jobFilter = {
  tag: { type: 'string', minLength: 1, maxLength: 64 },
  handler: { type: 'string', minLength: 1, maxLength: 128 },
} as const

/** Pages of runs are counted in jobs. */
export const jobPages = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: listLimitMax,
    default: listLimitDefault,
    description: 'Maximum number of jobs, not runs.',
  },
  cursor: { type: 'string', minLength: 1, description: 'The cursor of the previous page.' },
  ...staleQuery,
} as const

export const runSchema = {
  title: 'Run',
  type: 'object',
  additionalProperties: false,
  required: [
    ...['runId', 'jobId', 'runNo', 'status', 'trigger', 'scheduledFor', 'attempts'],
    ...['startedAt', 'finishedAt', 'worker', 'result', 'errors'],
  ],
  properties: {
    runId: { type: 'string', description: '<jobId>/<runNo>' },
    jobId: { type: 'string' },
    runNo: { type: 'integer' },
    status: {
      type: 'string',
      enum: ['DISPATCHED', 'RUNNING', 'RETRY_WAIT', 'SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED', 'SKIPPED', 'DEAD', 'WAITING'],
    },
    trigger: { type: 'string', enum: ['SCHEDULE', 'MANUAL', 'REDRIVE', 'BACKFILL', 'FOLLOW_UP'] },
    commandId: { type: ['string', 'null'] },
    scheduledFor: time,
    attempts: { type: 'integer', description: 'Number of attempts, including the current one.' },
    dueAt: { ...time, description: 'While active: when the current attempt must start.' },
    dispatchedAt: { ...time, description: 'While active: when the current attempt was dispatched.' },
    startDeadlineAt: { ...time, description: 'While active: the current attempt must start before this time.' },
    waitsFor: {
      type: ['string', 'null'],
      enum: ['SLOT', 'RATE', null],
      description: 'While WAITING: SLOT for a slot of its concurrencyKey, RATE for the start that its rateLimit gave it.',
    },
    startedAt: timeOrNull,
    finishedAt: timeOrNull,
    worker: { type: ['string', 'null'] },
    progress: {
      type: ['number', 'null'],
      description: 'While it runs: the completed share that the handler reported last, from 0 to 1.',
    },
    message: { type: ['string', 'null'], description: 'While it runs: the last progress message of the handler.' },
    checkedAt: { ...timeOrNull, description: 'While it runs: when the last heartbeat was read.' },
    result: { description: 'The return value of the handler.' },
    note: { type: ['string', 'null'], description: 'Which part of the final report was left out, and why.' },
    errors: {
      type: 'array',
      description: 'The last five failed attempts.',
      items: {
        title: 'AttemptError',
        type: 'object',
        required: ['attempt', 'at', 'worker', 'type', 'message'],
        properties: {
          attempt: { type: 'integer' },
          at: time,
          worker: { type: ['string', 'null'] },
          type: { type: 'string' },
          message: { type: 'string' },
        },
      },
    },
  },
} as const

export const listRunsSchema = {
  operationId: 'listRuns',
  tags: ['Runs'],
  summary: 'Active runs of a job, then its last ended ones, newest first',
  params: idParams,
  querystring: closed(staleQuery),
  response: {
    200: {
      type: 'object',
      title: 'RunList',
      required: ['runs'],
      additionalProperties: false,
      properties: { runs: { type: 'array', items: runSchema } },
    },
    ...problemResponses,
  },
} as const

export const runParams = closed(
  { jobId: idParams.properties.id, runNo: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } },
  ['jobId', 'runNo'],
)

export const listActiveRunsSchema = {
  operationId: 'listActiveRuns',
  tags: ['Runs'],
  summary: 'Active runs of all jobs, in the order of their jobs',
  querystring: closed({
    state: { type: 'string', enum: activeStatuses, description: 'Only runs in this state.' },
    ...jobFilter,
    ...jobPages,
  }),
  response: {
    200: {
      type: 'object',
      title: 'RunPage',
      required: ['runs', 'cursor'],
      additionalProperties: false,
      properties: {
        runs: { type: 'array', items: runSchema },
        cursor: { type: ['string', 'null'], description: 'Cursor of the next page; null at the end.' },
        stale: staleSchema,
      },
    },
    ...problemResponses,
  },
} as const

export const getRunSchema = {
  operationId: 'getRun',
  tags: ['Runs'],
  summary: 'One run',
  params: runParams,
  querystring: closed(staleQuery),
  response: { 200: runSchema, ...problemResponses },
} as const

export const whySchema = {
  operationId: 'explainJob',
  tags: ['Jobs'],
  summary: 'Explain why a job fired or did not: the current state, then the last decisions, newest first',
  params: idParams,
  querystring: closed(staleQuery),
  response: {
    200: {
      title: 'JobExplanation',
      type: 'object',
      additionalProperties: false,
      required: ['id', 'status', 'why'],
      properties: {
        id: { type: 'string' },
        status: { type: 'string', enum: jobStatuses },
        why: {
          type: 'array',
          items: {
            title: 'Reason',
            type: 'object',
            required: ['code', 'text', 'at'],
            properties: {
              code: { type: 'string' },
              text: { type: 'string' },
              at: timeOrNull,
              commandId: { type: 'string', description: 'The refused command, if the reason is one.' },
            },
          },
        },
      },
    },
    ...problemResponses,
  },
} as const
