/** Schemas of the routes that look ahead: plan and forecast. */
import {
  answers,
  closed,
  enumOf,
  fieldProblemSchema,
  flag,
  integer,
  integerUpTo,
  listOf,
  named,
  textOrNull,
  textUpTo,
  time,
  timeInput,
  titled,
} from './common.ts'
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

const times = listOf(time)

const plannedJobSchema = titled(
  'PlannedJob',
  {
    id: { type: ['string', 'null'] },
    action: enumOf(
      ['CREATE', 'UPDATE', 'UNCHANGED', 'DROPPED', 'INVALID'],
      'Effect of writing the definition. UNCHANGED: the same definition is in force. DROPPED: its version or dedupKey prevents it. INVALID: see problems.',
    ),
    etag: textOrNull('ETag of the definition in force, for If-Match; null if there is none.'),
    changed: listOf({ type: 'string' }, 'Fields that differ from the definition in force.'),
    hidden: listOf(
      { type: 'string' },
      'Fields in force with values that are redacted for viewers. They were not compared. Absent: all fields were compared.',
    ),
    reason: textOrNull('Why it would be DROPPED, or the job INVALID.'),
    fires: named('PlannedFires', {
      added: times,
      removed: times,
      moved: listOf(named('MovedFire', { from: time, to: time }), 'Pairs of a removed time and the added time next to it.'),
      kept: integer('Number of times that stay.'),
      until: { ...time, description: 'End of the comparison: the horizon, or earlier if there were too many times.' },
    }),
    warnings: listOf(
      { type: 'string' },
      'Allowed but probably unintended: a limit shared by jobs of several partitions, a pool or topic that does not exist, or a cycle of onSuccess and onFailure through this plan and the existing jobs. At most 1,000 jobs outside the plan are searched.',
    ),
    problems: listOf(fieldProblemSchema),
  },
  ['id', 'action'],
)

const total = { type: 'integer' } as const

export const planSchema = {
  operationId: 'planJobs',
  tags: ['Jobs'],
  summary: 'Show what writing these definitions would change; nothing is written',
  description:
    'Times are those of the schedule from now on, as the owner would compute them if it read the definition now. The effects of active runs, overlap policies and intervals from the END of runs are not included. One answer has at most 100,000 times.',
  querystring: closed({}),
  body: titled(
    'PlanRequest',
    {
      jobs: {
        type: 'array',
        minItems: 1,
        maxItems: planJobsMax,
        items: definitionSchema,
        description: 'Definitions with their ids.',
      },
      horizonMs: integerUpTo(horizonMaxMs, planHorizonDefaultMs, 'Length of the compared time range, from now on.'),
      maxFires: integerUpTo(
        planFiresMax,
        planFiresDefault,
        'Maximum number of times of each job that are compared, before and after the change.',
      ),
    },
    ['jobs'],
  ),
  response: answers(
    named('Plan', {
      from: time,
      to: time,
      jobs: listOf(plannedJobSchema),
      totals: named('PlanTotals', {
        ...{ create: total, update: total, unchanged: total, dropped: total, invalid: total },
        ...{ added: total, removed: total, moved: total, kept: total },
      }),
    }),
  ),
} as const

/** Which jobs a forecast is about. */
const dueFilterFields = {
  tag: textUpTo(64, 'Only jobs with this tag.'),
  handler: textUpTo(128, 'Only jobs with this handler.'),
  pool: textUpTo(64, 'Only jobs of this pool.'),
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
    horizonMs: integerUpTo(horizonMaxMs, forecastHorizonDefaultMs),
    buckets: integerUpTo(bucketsMax, bucketsDefault, 'Number of steps of equal length.'),
    ...dueFilterFields,
  }),
  response: answers(
    named('Forecast', {
      from: time,
      to: time,
      bucketMs: { type: 'integer' },
      buckets: listOf(
        named('ForecastBucket', {
          at: { ...time, description: 'Start of the step.' },
          next: integer(
            'Jobs whose next occurrence is due in it. Exact, up to until; with a filter an estimate, if estimate is true.',
          ),
          later: integer('Occurrences of the same jobs after their next one. Rounded; estimated if estimate is true.'),
        }),
      ),
      overdue: integer('Occurrences of all jobs that were due before from and have not fired yet.'),
      jobs: integer('Jobs whose next occurrence is in the range.'),
      sampled: integer('Jobs among these whose later occurrences were computed; they represent the others.'),
      estimate: flag('Whether later is an estimate: from a sample, or because jobs recur too often.'),
      until: { ...time, description: 'End of the counted range: to, or earlier if there are too many occurrences.' },
    }),
  ),
} as const

export const dueJobsSchema = {
  operationId: 'listDueJobs',
  tags: ['Schedules'],
  summary: 'The jobs that will be due in a range',
  querystring: closed(
    {
      from: { ...timeInput, description: 'Start of the range, ISO 8601 with an offset, or epoch ms.' },
      horizonMs: integerUpTo(horizonMaxMs, forecastHorizonDefaultMs),
      limit: integerUpTo(dueJobsMax, dueJobsDefault),
      ...dueFilterFields,
    },
    ['from'],
  ),
  response: answers(
    named('DueJobs', {
      from: time,
      to: time,
      jobs: listOf(
        named('DueJob', {
          id: { type: 'string' },
          at: { ...time, description: 'Its first occurrence in the range.' },
          count: integer('Its occurrences in the range.'),
        }),
        'The rarest first: those with the fewest occurrences in the range, then with the earliest ones.',
      ),
      found: integer('Number of jobs that were found, also of those beyond limit.'),
      complete: flag('False: there were too many jobs to look at each, so some may be missing.'),
    }),
  ),
} as const
