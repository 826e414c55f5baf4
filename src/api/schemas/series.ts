/** Schema of the route of the series: what happened in each step of the last hour or the last 24 h. */
import { closed, problemResponses, time, timeOrNull } from './common.ts'
import { seriesDayMs, seriesFineStepMs, seriesHourMs, seriesMarksMax, seriesStepMs } from './limits.ts'

const column = (description: string) =>
  ({
    type: 'array',
    maxItems: seriesDayMs / seriesStepMs,
    items: { type: ['number', 'null'], minimum: 0 },
    description,
  }) as const

const columns = {
  dispatched: column('Attempts handed to workers, and records written to topic targets.'),
  started: column('Starts that workers reported, and records written to topic targets.'),
  ended: column('Runs that ended, with any status.'),
  failed: column('Of these, runs that ended as FAILED or DEAD.'),
  retried: column('Failed attempts that are retried.'),
  skipped: column('Skipped occurrences.'),
  active: column('Largest number of dispatched and running runs.'),
  waiting: column('Largest number of runs that waited for a retry or a limit.'),
  backlog: column('Largest number of undelivered attempts and unprocessed records.'),
  overdueMs: column('Longest time in ms that a due timer had waited.'),
  deadLetters: column('Dead letters that stood at the end of the step.'),
  p50Ms: column('Start lateness in ms that half of the starts did not exceed. Null if none was reported.'),
  p99Ms: column('The same for 99 of 100 starts.'),
  maxMs: column('Bound in ms of the latest start. The classes of lateness are 25% wide.'),
} as const

export const seriesSchema = {
  operationId: 'getSeries',
  tags: ['System'],
  summary: 'What happened in the last hour or the last 24 h, for charts',
  description: `The process that answers asks all owners every ${seriesFineStepMs / 1_000} s. It keeps steps of ${seriesFineStepMs / 1_000} s for ${seriesHourMs / 3_600_000} h in memory, and of ${seriesStepMs / 60_000} min for ${seriesDayMs / 3_600_000} h in memory and in its data folder, so a restart leaves a gap and loses nothing before it. In the first hour after a restart, the last hour has steps of a minute too. Each column has one value for each step; null where nothing is known.`,
  querystring: closed({ range: { type: 'string', enum: ['hour', 'day'], default: 'day' } }),
  response: {
    200: {
      title: 'Series',
      type: 'object',
      additionalProperties: false,
      required: ['range', 'rangeMs', 'stepMs', 'from', 'columns', 'marks'],
      properties: {
        range: { type: 'string', enum: ['hour', 'day'] },
        rangeMs: { type: 'integer' },
        stepMs: { type: 'integer' },
        from: { ...timeOrNull, description: 'Begin of the first step; null if there is none yet.' },
        columns: {
          title: 'SeriesColumns',
          type: 'object',
          additionalProperties: false,
          required: Object.keys(columns),
          properties: columns,
        },
        marks: {
          type: 'array',
          maxItems: seriesMarksMax,
          description: 'Processes that started, partitions that moved to another owner, and versions that changed. Oldest first.',
          items: {
            title: 'SeriesMark',
            type: 'object',
            additionalProperties: false,
            required: ['at', 'kind', 'text', 'version'],
            properties: {
              at: time,
              kind: { type: 'string', enum: ['start', 'takeover', 'deploy'] },
              text: { type: 'string' },
              version: { type: ['string', 'null'], description: 'The versions that ran from then on, where they became known.' },
            },
          },
        },
      },
    },
    ...problemResponses,
  },
} as const
