/** Schemas of the routes that look ahead: plan and forecast. */
import { closed, fieldProblemSchema, problemResponses, time, timeInput } from './common.ts'
import { definitionSchema } from './jobs.ts'
import {
  bucketsDefault,
  bucketsMax,
  dueJobsDefault,
  dueJobsMax,
  forecastHorizonDefaultMs,
  horizonMaxMs,
  planFiresDefault,
  planFiresMax,
  planHorizonDefaultMs,
  planJobsMax,
} from './limits.ts'

const times = { type: 'array', items: time } as const

const plannedJobSchema = {
  title: 'PlannedJob',
  type: 'object',
  additionalProperties: false,
  required: ['id', 'action'],
  properties: {
    id: { type: ['string', 'null'] },
    action: {
      type: 'string',
      enum: ['CREATE', 'UPDATE', 'UNCHANGED', 'DROPPED', 'INVALID'],
      description:
        'Effect of writing the definition. UNCHANGED: the same definition is in force. DROPPED: its version or dedupKey prevents it. INVALID: see problems.',
    },
    etag: { type: ['string', 'null'], description: 'ETag of the definition in force, for If-Match; null if there is none.' },
    changed: { type: 'array', items: { type: 'string' }, description: 'Fields that differ from the definition in force.' },
    hidden: {
      type: 'array',
      items: { type: 'string' },
      description:
        'Fields in force with values that are redacted for viewers. They were not compared. Absent: all fields were compared.',
    },
    reason: { type: ['string', 'null'], description: 'Why it would be DROPPED, or the job INVALID.' },
    fires: {
      title: 'PlannedFires',
      type: 'object',
      additionalProperties: false,
      required: ['added', 'removed', 'moved', 'kept', 'until'],
      properties: {
        added: times,
        removed: times,
        moved: {
          type: 'array',
          description: 'Pairs of a removed time and the added time next to it.',
          items: {
            title: 'MovedFire',
            type: 'object',
            additionalProperties: false,
            required: ['from', 'to'],
            properties: { from: time, to: time },
          },
        },
        kept: { type: 'integer', description: 'Number of times that stay.' },
        until: { ...time, description: 'End of the comparison: the horizon, or earlier if there were too many times.' },
      },
    },
    warnings: {
      type: 'array',
      items: { type: 'string' },
      description:
        'Allowed but probably unintended: a limit shared by jobs of several partitions, a pool or topic that does not exist, or a cycle of onSuccess and onFailure through this plan and the existing jobs. At most 1,000 jobs outside the plan are searched.',
    },
    problems: { type: 'array', items: fieldProblemSchema },
  },
} as const

const total = { type: 'integer' } as const

export const planSchema = {
  operationId: 'planJobs',
  tags: ['Jobs'],
  summary: 'Show what writing these definitions would change; nothing is written',
  description:
    'Times are those of the schedule from now on, as the owner would compute them if it read the definition now. The effects of active runs, overlap policies and intervals from the END of runs are not included. One answer has at most 100,000 times.',
  querystring: closed({}),
  body: {
    title: 'PlanRequest',
    ...closed(
      {
        jobs: {
          type: 'array',
          minItems: 1,
          maxItems: planJobsMax,
          items: definitionSchema,
          description: 'Definitions with their ids.',
        },
        horizonMs: {
          type: 'integer',
          minimum: 1,
          maximum: horizonMaxMs,
          default: planHorizonDefaultMs,
          description: 'Length of the compared time range, from now on.',
        },
        maxFires: {
          type: 'integer',
          minimum: 1,
          maximum: planFiresMax,
          default: planFiresDefault,
          description: 'Maximum number of times of each job that are compared, before and after the change.',
        },
      },
      ['jobs'],
    ),
  },
  response: {
    200: {
      title: 'Plan',
      type: 'object',
      additionalProperties: false,
      required: ['from', 'to', 'jobs', 'totals'],
      properties: {
        from: time,
        to: time,
        jobs: { type: 'array', items: plannedJobSchema },
        totals: {
          title: 'PlanTotals',
          type: 'object',
          additionalProperties: false,
          required: ['create', 'update', 'unchanged', 'dropped', 'invalid', 'added', 'removed', 'moved', 'kept'],
          properties: {
            ...{ create: total, update: total, unchanged: total, dropped: total, invalid: total },
            ...{ added: total, removed: total, moved: total, kept: total },
          },
        },
      },
    },
    ...problemResponses,
  },
} as const

/** Which jobs a forecast is about. */
export const dueFilterFields = {
  tag: { type: 'string', minLength: 1, maxLength: 64, description: 'Only jobs with this tag.' },
  handler: { type: 'string', minLength: 1, maxLength: 128, description: 'Only jobs with this handler.' },
  pool: { type: 'string', minLength: 1, maxLength: 64, description: 'Only jobs of this pool.' },
  periodMsMin: {
    type: 'integer',
    minimum: 1,
    maximum: horizonMaxMs,
    description: 'Only jobs whose next two occurrences are at least so far apart, and jobs with one occurrence.',
  },
} as const

export const forecastSchema = {
  operationId: 'getForecast',
  tags: ['Schedules'],
  summary: 'Number of occurrences that will be due',
  querystring: closed({
    from: { ...timeInput, description: 'Start of the range, ISO 8601 with an offset, or epoch ms. Default: now.' },
    horizonMs: { type: 'integer', minimum: 1, maximum: horizonMaxMs, default: forecastHorizonDefaultMs },
    buckets: {
      type: 'integer',
      minimum: 1,
      maximum: bucketsMax,
      default: bucketsDefault,
      description: 'Number of steps of equal length.',
    },
    ...dueFilterFields,
  }),
  response: {
    200: {
      title: 'Forecast',
      type: 'object',
      additionalProperties: false,
      required: ['from', 'to', 'bucketMs', 'buckets', 'overdue', 'jobs', 'sampled', 'estimate', 'until'],
      properties: {
        from: time,
        to: time,
        bucketMs: { type: 'integer' },
        buckets: {
          type: 'array',
          items: {
            title: 'ForecastBucket',
            type: 'object',
            additionalProperties: false,
            required: ['at', 'next', 'later'],
            properties: {
              at: { ...time, description: 'Start of the step.' },
              next: {
                type: 'integer',
                description:
                  'Jobs whose next occurrence is due in it. Exact, up to until; with a filter an estimate, if estimate is true.',
              },
              later: {
                type: 'integer',
                description: 'Occurrences of the same jobs after their next one. Rounded; estimated if estimate is true.',
              },
            },
          },
        },
        overdue: { type: 'integer', description: 'Occurrences of all jobs that were due before from and have not fired yet.' },
        jobs: { type: 'integer', description: 'Jobs whose next occurrence is in the range.' },
        sampled: {
          type: 'integer',
          description: 'Jobs among these whose later occurrences were computed; they represent the others.',
        },
        estimate: {
          type: 'boolean',
          description: 'Whether later is an estimate: from a sample, or because jobs recur too often.',
        },
        until: { ...time, description: 'End of the counted range: to, or earlier if there are too many occurrences.' },
      },
    },
    ...problemResponses,
  },
} as const

export const dueJobsSchema = {
  operationId: 'listDueJobs',
  tags: ['Schedules'],
  summary: 'The jobs that will be due in a range',
  querystring: closed(
    {
      from: { ...timeInput, description: 'Start of the range, ISO 8601 with an offset, or epoch ms.' },
      horizonMs: { type: 'integer', minimum: 1, maximum: horizonMaxMs, default: forecastHorizonDefaultMs },
      limit: { type: 'integer', minimum: 1, maximum: dueJobsMax, default: dueJobsDefault },
      ...dueFilterFields,
    },
    ['from'],
  ),
  response: {
    200: {
      title: 'DueJobs',
      type: 'object',
      additionalProperties: false,
      required: ['from', 'to', 'jobs', 'found', 'complete'],
      properties: {
        from: time,
        to: time,
        jobs: {
          type: 'array',
          description: 'The rarest first: those with the fewest occurrences in the range, then with the earliest ones.',
          items: {
            title: 'DueJob',
            type: 'object',
            additionalProperties: false,
            required: ['id', 'at', 'count'],
            properties: {
              id: { type: 'string' },
              at: { ...time, description: 'Its first occurrence in the range.' },
              count: { type: 'integer', description: 'Its occurrences in the range.' },
            },
          },
        },
        found: { type: 'integer', description: 'Number of jobs that were found, also of those beyond limit.' },
        complete: { type: 'boolean', description: 'False: there were too many jobs to look at each, so some may be missing.' },
      },
    },
    ...problemResponses,
  },
} as const
