/** Schemas of the routes of runs, and of why there is none. */
import { closed, idParams, problemResponses, staleQuery, staleSchema, time, timeOrNull } from './common.ts'
import { listLimitDefault, listLimitMax } from './limits.ts'

const activeStatuses = ['DISPATCHED', 'RUNNING', 'RETRY_WAIT', 'WAITING'] as const

/** Runs are looked for by what their jobs are. */
export const jobFilter = {
  tag: { type: 'string', minLength: 1, maxLength: 64 },
  handler: { type: 'string', minLength: 1, maxLength: 128 },
} as const

/** Runs come with their jobs, page by page. */
export const jobPages = {
  limit: { type: 'integer', minimum: 1, maximum: listLimitMax, default: listLimitDefault, description: 'Jobs, not runs.' },
  cursor: { type: 'string', minLength: 1, description: 'What the page before gave.' },
  ...staleQuery,
} as const

export const runSchema = {
  title: 'Run',
  type: 'object',
  additionalProperties: false,
  required: ['runId', 'jobId', 'runNo', 'status', 'trigger', 'scheduledFor', 'attempts', 'errors'],
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
    attempts: { type: 'integer', description: 'Attempts made, the current one included.' },
    dueAt: { ...time, description: 'While active: when the current attempt must start.' },
    dispatchedAt: { ...time, description: 'While active: when the current attempt was dispatched.' },
    startDeadlineAt: { ...time, description: 'While active: until when the current attempt must have started.' },
    waitsFor: {
      type: ['string', 'null'],
      enum: ['SLOT', 'RATE', null],
      description: 'While WAITING: for a slot of its concurrencyKey, or for the start that its rateLimit gave it.',
    },
    startedAt: timeOrNull,
    finishedAt: timeOrNull,
    worker: { type: ['string', 'null'] },
    progress: { type: ['number', 'null'], description: 'While it runs: the share done, as the handler last said, from 0 to 1.' },
    message: { type: ['string', 'null'], description: 'While it runs: what the handler last said of its progress.' },
    checkedAt: { ...timeOrNull, description: 'While it runs: when the last heartbeat was read.' },
    result: { description: 'What the handler returned.' },
    note: { type: ['string', 'null'], description: 'What of the report that ended it was left out, and why.' },
    errors: {
      type: 'array',
      description: 'The last five failed attempts.',
      items: {
        title: 'AttemptError',
        type: 'object',
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
  summary: 'Active runs, then the last ended ones, newest first',
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
        cursor: { type: ['string', 'null'], description: 'Asks for the next page; null at the end.' },
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
  summary: 'Why a job fired or did not: what is so now, then the last decisions, newest first',
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
        status: { type: 'string' },
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
              commandId: { type: 'string', description: 'Of a command that was refused: which.' },
            },
          },
        },
      },
    },
    ...problemResponses,
  },
} as const
