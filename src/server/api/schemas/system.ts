/** Schemas of the routes of schedules, settings, workers and probes. */
import {
  answers,
  closed,
  enumOf,
  flag,
  instantSchema,
  integer,
  integerOrNull,
  integerUpTo,
  listOf,
  named,
  open,
  text,
  textOrNull,
  time,
  timeOrNull,
  titled,
} from './common.ts'
import { previewCountDefault, previewCountMax } from './limits.ts'

export const previewSchema = {
  operationId: 'previewSchedule',
  tags: ['Schedules'],
  summary: 'Next times of a schedule',
  querystring: closed({}),
  body: titled(
    'PreviewRequest',
    {
      schedule: { title: 'Schedule', type: 'object' },
      from: { ...instantSchema, description: 'Only times after this one. Default: now.' },
      count: integerUpTo(previewCountMax, previewCountDefault),
    },
    ['schedule'],
  ),
  response: answers(
    named(
      'Preview',
      {
        fires: listOf(
          named(
            'DueTime',
            {
              at: time,
              atMs: integer('Epoch ms.'),
              note: text('How daylight saving moved this time.'),
            },
            ['note'],
          ),
        ),
        warnings: listOf(
          { type: 'string' },
          'Allowed but probably unintended, such as weekdays as Quartz numbers them. Absent: no warnings.',
        ),
      },
      ['warnings'],
    ),
  ),
} as const

export const metricsSchema = {
  operationId: 'getMetrics',
  tags: ['System'],
  summary: 'Metrics for Prometheus',
  produces: ['text/plain'],
  response: answers({ type: 'string' }),
} as const

const healthSchema = named('Health', { status: { type: 'string', const: 'ok' } })

const probe = { tags: ['System'], response: answers(healthSchema) } as const

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
  response: answers({ type: 'object' }),
} as const

export const workerSchema = named('Worker', {
  instance: text('name@host:pid:boot'),
  name: { type: ['string', 'null'] },
  host: { type: ['string', 'null'] },
  pid: { type: ['integer', 'null'] },
  version: textOrNull('Release of Duelog; null for a worker that is not from Duelog.'),
  connected: flag('Whether it is a member of a group. False: it has left, but a run of it has not ended yet.'),
  pools: listOf(
    named('WorkerPool', {
      pool: { type: 'string' },
      slots: integerOrNull('Maximum number of concurrent handlers.'),
      partitions: integer('Number of partitions of executions topics that it reads.'),
      handlers: {
        type: ['array', 'null'],
        items: { type: 'string' },
        description: 'Names of its handlers; null if it does not announce them, as a worker of another program.',
      },
    }),
  ),
  running: integer('Number of started attempts that have not ended.'),
  runIds: listOf({ type: 'string' }, 'Some of these runs.'),
  state: enumOf(
    ['ACTIVE', 'PAUSED', 'DRAINING', 'DRAINED'],
    'PAUSED: it takes no runs. DRAINING: it takes none, and its handlers have not ended. DRAINED: they have.',
  ),
  stateSince: { ...timeOrNull, description: 'When it was paused or drained; null while it is active.' },
  pausedBy: textOrNull('Who paused or drained it.'),
  lastHeardAt: { ...timeOrNull, description: 'When an owner last read a report of this worker; null if none has.' },
})

/** Executor processes with one parent. */
const executorsSchema = named('ExecutorProcesses', {
  parent: text('name@host:pid:boot of the process that keeps them, by DUELOG_EXECUTOR_PROCESSES.'),
  name: { type: ['string', 'null'] },
  host: { type: ['string', 'null'] },
  pid: { type: ['integer', 'null'] },
  pools: listOf({ type: 'string' }),
  running: integer(
    'Those that are members of a pool. One that starts is not yet; one that stops is until its handlers have ended.',
  ),
  wanted: integer('As many as the parent keeps by its last decision.'),
  min: { type: 'integer' },
  max: integer('The same as `min`: their number is fixed.'),
  reason: text('Why there are so many: start, cool-down, or a reason of `wanted` of a pool, such as backlog.'),
  reasonPool: textOrNull('The pool whose load decided.'),
  since: { ...time, description: 'When it was decided.' },
  coolDownMs: integer('A process ends when fewer have been enough for this time.'),
})

export const workersSchema = {
  operationId: 'listWorkers',
  tags: ['System'],
  summary: 'Workers of all pools, and their runs',
  description:
    'Members of the consumer groups of the pools, paused workers, and the reports that the owners of the partitions have read from them. An owner knows only reports since its takeover, so the list may be incomplete soon after one.',
  querystring: closed({}),
  response: answers(named('WorkerList', { workers: listOf(workerSchema), executors: listOf(executorsSchema) })),
} as const

const settingSchema = named('EffectiveSetting', {
  name: { type: 'string' },
  value: textOrNull('Null if it is absent or secret.'),
  given: flag('Whether it was set. False: the default applies.'),
  secret: { type: 'boolean' },
  unit: { type: ['string', 'null'] },
  description: { type: 'string' },
})

const topicSchema = open('TopicPlan', {
  topic: { type: 'string' },
  schema: text('Name of the schema of its record values.'),
  config: { type: 'object', additionalProperties: { type: 'string' } },
})

export const settingsSchema = {
  operationId: 'getSettings',
  tags: ['System'],
  summary: 'Settings of the answering process, without secrets',
  description: 'Its settings with their defaults, and the topics as it creates them if they are missing.',
  querystring: closed({}),
  response: answers(
    named('Settings', {
      settings: listOf(settingSchema),
      topics: listOf(topicSchema),
      partitions: integer('Number of partitions of every topic.'),
    }),
  ),
} as const
