/** Schemas of the routes of schedules, workers and probes. */
import { closed, instantSchema, problemResponses, time, timeOrNull } from './common.ts'
import { previewCountDefault, previewCountMax } from './limits.ts'

export const previewSchema = {
  operationId: 'previewSchedule',
  tags: ['Schedules'],
  summary: 'Next times of a schedule',
  querystring: closed({}),
  body: {
    title: 'PreviewRequest',
    ...closed(
      {
        schedule: { title: 'Schedule', type: 'object' },
        from: { ...instantSchema, description: 'Only times after this one. Default: now.' },
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
              note: { type: 'string', description: 'How daylight saving moved this time.' },
            },
          },
        },
        warnings: {
          type: 'array',
          items: { type: 'string' },
          description: 'Allowed but probably unintended, such as weekdays as Quartz numbers them. Absent: no warnings.',
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

export const livenessSchema = { operationId: 'getLiveness', summary: 'Whether the process is live', ...probe } as const
export const readinessSchema = {
  operationId: 'getReadiness',
  summary: 'Whether the process is ready for requests',
  ...probe,
} as const

export const openApiSchema = {
  operationId: 'getOpenApi',
  tags: ['System'],
  summary: 'This description, as OpenAPI 3.1',
  response: { 200: { type: 'object' }, ...problemResponses },
} as const

export const workerSchema = {
  title: 'Worker',
  type: 'object',
  additionalProperties: false,
  required: [
    'instance',
    'name',
    'host',
    'pid',
    'version',
    'connected',
    'pools',
    'running',
    'runIds',
    'lastHeardAt',
    'state',
    'stateSince',
    'pausedBy',
  ],
  properties: {
    instance: { type: 'string', description: 'name@host:pid:boot' },
    name: { type: ['string', 'null'] },
    host: { type: ['string', 'null'] },
    pid: { type: ['integer', 'null'] },
    version: { type: ['string', 'null'], description: 'Release of Duelog; null for a worker that is not from Duelog.' },
    connected: {
      type: 'boolean',
      description: 'Whether it is a member of a group. False: it has left, but a run of it has not ended yet.',
    },
    pools: {
      type: 'array',
      items: {
        title: 'WorkerPool',
        type: 'object',
        additionalProperties: false,
        required: ['pool', 'slots', 'partitions', 'handlers'],
        properties: {
          pool: { type: 'string' },
          slots: { type: ['integer', 'null'], description: 'Maximum number of concurrent handlers.' },
          partitions: { type: 'integer', description: 'Number of partitions of executions topics that it reads.' },
          handlers: {
            type: ['array', 'null'],
            items: { type: 'string' },
            description:
              'Names of its handlers; null if it does not announce them, as a worker of another program or of an earlier release.',
          },
        },
      },
    },
    running: { type: 'integer', description: 'Number of started attempts that have not ended.' },
    runIds: { type: 'array', items: { type: 'string' }, description: 'Some of these runs.' },
    state: {
      type: 'string',
      enum: ['ACTIVE', 'PAUSED', 'DRAINING', 'DRAINED'],
      description: 'PAUSED: it takes no runs. DRAINING: it takes none, and its handlers have not ended. DRAINED: they have.',
    },
    stateSince: { ...timeOrNull, description: 'When it was paused or drained; null while it is active.' },
    pausedBy: { type: ['string', 'null'], description: 'Who paused or drained it.' },
    lastHeardAt: { ...timeOrNull, description: 'When an owner last read a report of this worker; null if none has.' },
  },
} as const

/** Executor processes with one parent. */
const executorsSchema = {
  title: 'ExecutorProcesses',
  ...closed(
    {
      parent: { type: 'string', description: 'name@host:pid:boot of the process that keeps them, by DUELOG_EXECUTOR_PROCESSES.' },
      name: { type: ['string', 'null'] },
      host: { type: ['string', 'null'] },
      pid: { type: ['integer', 'null'] },
      pools: { type: 'array', items: { type: 'string' } },
      running: {
        type: 'integer',
        description:
          'Those that are members of a pool. One that starts is not yet; one that stops is until its handlers have ended.',
      },
      wanted: { type: 'integer', description: 'As many as the parent keeps by its last decision.' },
      min: { type: 'integer' },
      max: { type: 'integer', description: 'The same as `min`: their number is fixed.' },
      reason: {
        type: 'string',
        description: 'Why there are so many: start, cool-down, or a reason of `wanted` of a pool, such as backlog.',
      },
      reasonPool: { type: ['string', 'null'], description: 'The pool whose load decided.' },
      since: { ...time, description: 'When it was decided.' },
      coolDownMs: { type: 'integer', description: 'A process ends when fewer have been enough for this time.' },
    },
    [
      ...['parent', 'name', 'host', 'pid', 'pools', 'running', 'wanted', 'min', 'max', 'reason', 'reasonPool', 'since'],
      'coolDownMs',
    ],
  ),
} as const

export const workersSchema = {
  operationId: 'listWorkers',
  tags: ['System'],
  summary: 'Workers of all pools, and their runs',
  description:
    'Members of the consumer groups of the pools, paused workers, and the reports that the owners of the partitions have read from them. An owner knows only reports since its takeover, so the list may be incomplete soon after one.',
  querystring: closed({}),
  response: {
    200: {
      type: 'object',
      title: 'WorkerList',
      required: ['workers', 'executors'],
      additionalProperties: false,
      properties: { workers: { type: 'array', items: workerSchema }, executors: { type: 'array', items: executorsSchema } },
    },
    ...problemResponses,
  },
} as const
