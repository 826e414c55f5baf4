/** Schemas of the routes that look ahead: plan and forecast. */
import { closed, fieldProblemSchema, problemResponses, time, timeInput } from './common.ts'
import { definitionSchema } from './jobs.ts'
import {
  bucketsDefault,
  bucketsMax,
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
        'What writing the definition would do. UNCHANGED: the same is in force, so it need not be written. DROPPED: its version or dedupKey keeps it out. INVALID: see problems.',
    },
    etag: { type: ['string', 'null'], description: 'Of the definition in force, for If-Match; null where there is none.' },
    changed: { type: 'array', items: { type: 'string' }, description: 'Fields that differ from the definition in force.' },
    hidden: {
      type: 'array',
      items: { type: 'string' },
      description: 'Fields in force with values that a viewer is not shown; those were not compared. Absent: all was.',
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
          description: 'A time that goes and one that comes, next to one another.',
          items: {
            title: 'MovedFire',
            type: 'object',
            additionalProperties: false,
            required: ['from', 'to'],
            properties: { from: time, to: time },
          },
        },
        kept: { type: 'integer', description: 'Times that stay.' },
        until: { ...time, description: 'How far times were compared: the horizon, or less where there were too many.' },
      },
    },
    warnings: {
      type: 'array',
      items: { type: 'string' },
      description:
        'What is allowed and hardly meant: a circle of onSuccess and onFailure, through this plan and the jobs that are there. At most 1,000 jobs that are not in the plan are looked at for it.',
    },
    problems: { type: 'array', items: fieldProblemSchema },
  },
} as const

const total = { type: 'integer' } as const

export const planSchema = {
  operationId: 'planJobs',
  tags: ['Jobs'],
  summary: 'What writing these definitions would change; nothing is written',
  description:
    'Times are those of the schedule from now on, as the owner would compute them if it read the definition now. What a run in flight, an overlap rule or an interval from the END of runs would do to them is not known beforehand. One answer holds at most 100,000 times.',
  querystring: closed({}),
  body: {
    title: 'PlanRequest',
    ...closed(
      {
        jobs: { type: 'array', minItems: 1, maxItems: planJobsMax, items: definitionSchema, description: 'With their ids.' },
        horizonMs: {
          type: 'integer',
          minimum: 1,
          maximum: horizonMaxMs,
          default: planHorizonDefaultMs,
          description: 'From now on.',
        },
        maxFires: {
          type: 'integer',
          minimum: 1,
          maximum: planFiresMax,
          default: planFiresDefault,
          description: 'Times of each job, before and after, that are compared at most.',
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

export const forecastSchema = {
  operationId: 'getForecast',
  tags: ['Schedules'],
  summary: 'How many occurrences are due ahead',
  querystring: closed({
    from: { ...timeInput, description: 'Begin; now where it is left out. ISO 8601 with an offset, or epoch ms.' },
    horizonMs: { type: 'integer', minimum: 1, maximum: horizonMaxMs, default: forecastHorizonDefaultMs },
    buckets: { type: 'integer', minimum: 1, maximum: bucketsMax, default: bucketsDefault, description: 'Steps of equal length.' },
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
              at: { ...time, description: 'Begin of the step.' },
              next: { type: 'integer', description: 'Jobs whose next occurrence is due in it. Exact, up to until.' },
              later: {
                type: 'integer',
                description:
                  'Occurrences of the same jobs after their next one. Rounded, and an estimate where estimate says so.',
              },
            },
          },
        },
        overdue: { type: 'integer', description: 'Due before from and not yet fired.' },
        jobs: { type: 'integer', description: 'Jobs whose next occurrence is in the range.' },
        sampled: {
          type: 'integer',
          description: 'Jobs of them whose later occurrences were computed; they stand for the others.',
        },
        estimate: { type: 'boolean', description: 'Whether later is an estimate: of a sample, or of jobs that recur too often.' },
        until: { ...time, description: 'What is due after it is missing in the counts: to, or less where there is too much.' },
      },
    },
    ...problemResponses,
  },
} as const
