/** Schemas of the routes of schedules, workers and probes. */
import { closed, instantSchema, problemResponses, time, timeOrNull } from './common.ts'
import { previewCountDefault, previewCountMax } from './limits.ts'

export const previewSchema = {
  operationId: 'previewSchedule',
  tags: ['Schedules'],
  summary: 'When a schedule is due',
  querystring: closed({}),
  body: {
    title: 'PreviewRequest',
    ...closed(
      {
        schedule: { title: 'Schedule', type: 'object' },
        from: { ...instantSchema, description: 'Only times after it. Default: now.' },
        count: { type: 'integer', minimum: 1, maximum: previewCountMax, default: previewCountDefault },
      },
      ['schedule'],
    ),
  },
  response: {
    200: {
      type: 'object',
      title: 'Preview',
      required: ['fires'],
      additionalProperties: false,
      properties: {
        fires: {
          type: 'array',
          items: {
            type: 'object',
            title: 'DueTime',
            required: ['at', 'atMs'],
            additionalProperties: false,
            properties: {
              at: time,
              atMs: { type: 'integer', description: 'Epoch ms.' },
              note: { type: 'string', description: 'What daylight saving did.' },
            },
          },
        },
      },
    },
    ...problemResponses,
  },
} as const

export const metricsSchema = {
  operationId: 'getMetrics',
  tags: ['System'],
  summary: 'Metrics for Prometheus',
  produces: ['text/plain'],
  response: { 200: { type: 'string' }, ...problemResponses },
} as const

const healthSchema = {
  title: 'Health',
  type: 'object',
  required: ['status'],
  additionalProperties: false,
  properties: { status: { type: 'string', const: 'ok' } },
} as const

const probe = { tags: ['System'], response: { 200: healthSchema, ...problemResponses } } as const

export const livenessSchema = { operationId: 'getLiveness', summary: 'Whether the process lives', ...probe } as const
export const readinessSchema = { operationId: 'getReadiness', summary: 'Whether the process serves', ...probe } as const

export const openApiSchema = {
  operationId: 'getOpenApi',
  tags: ['System'],
  summary: 'This description, as OpenAPI 3.1',
  response: { 200: { type: 'object' }, ...problemResponses },
} as const

export const workersSchema = {
  operationId: 'listWorkers',
  tags: ['System'],
  summary: 'Workers of all pools, and what they run',
  description:
    'Members of the groups of the pools, and what the owners of the partitions have heard from them since they own these: soon after a takeover it may be less than there is.',
  querystring: closed({}),
  response: {
    200: {
      type: 'object',
      title: 'WorkerList',
      required: ['workers'],
      additionalProperties: false,
      properties: {
        workers: {
          type: 'array',
          items: {
            title: 'Worker',
            type: 'object',
            additionalProperties: false,
            required: ['instance', 'name', 'host', 'pid', 'version', 'connected', 'pools', 'running', 'runIds', 'lastHeardAt'],
            properties: {
              instance: { type: 'string', description: 'name@host:pid:boot' },
              name: { type: ['string', 'null'] },
              host: { type: ['string', 'null'] },
              pid: { type: ['integer', 'null'] },
              version: { type: ['string', 'null'], description: 'Release of Duelog; null for a worker of another make.' },
              connected: {
                type: 'boolean',
                description: 'Whether it is a member of a group; false with a run that nobody has ended yet.',
              },
              pools: {
                type: 'array',
                items: {
                  title: 'WorkerPool',
                  type: 'object',
                  additionalProperties: false,
                  required: ['pool', 'slots', 'partitions'],
                  properties: {
                    pool: { type: 'string' },
                    slots: { type: ['integer', 'null'], description: 'Handlers that it runs at once.' },
                    partitions: { type: 'integer', description: 'Partitions of executions topics that it reads.' },
                  },
                },
              },
              running: { type: 'integer', description: 'Attempts that it has begun and not ended.' },
              runIds: { type: 'array', items: { type: 'string' }, description: 'Some of their runs.' },
              lastHeardAt: { ...timeOrNull, description: 'When an owner last read a report of it; null where none has.' },
            },
          },
        },
      },
    },
    ...problemResponses,
  },
} as const
