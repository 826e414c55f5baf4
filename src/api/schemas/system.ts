/** Schemas of the routes of schedules, partitions and probes. */
import { previewCountDefault, previewCountMax } from '../limits.ts'
import { closed, problemResponses, time, timeOrNull } from './common.ts'
import { lastResetSchema, openTransactionSchema } from './partition-troubles.ts'

export const previewSchema = {
  operationId: 'previewSchedule',
  tags: ['Schedules'],
  summary: 'When a schedule is due',
  querystring: closed({}),
  body: closed(
    {
      schedule: { type: 'object', description: 'As in a job.' },
      from: {
        type: ['string', 'number'],
        description: 'Only times after it. ISO 8601 with an offset, or epoch ms. Default: now.',
      },
      count: { type: 'integer', minimum: 1, maximum: previewCountMax, default: previewCountDefault },
    },
    ['schedule'],
  ),
  response: {
    200: {
      type: 'object',
      required: ['fires'],
      additionalProperties: false,
      properties: {
        fires: {
          type: 'array',
          items: {
            type: 'object',
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

export const partitionsSchema = {
  operationId: 'listPartitions',
  tags: ['System'],
  summary: 'Who owns each partition, and where it stands',
  querystring: closed({}),
  response: {
    200: {
      type: 'object',
      required: ['partitions'],
      additionalProperties: false,
      properties: {
        partitions: {
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: false,
            required: [
              ...['partition', 'phase', 'instance', 'url', 'overdueMs', 'lag', 'mailboxDepth', 'jobsOffset'],
              ...['restoreRemaining', 'restoreTotal', 'restoreShare', 'underWay', 'standbys'],
              ...['zoneRules', 'zoneRulesDiffer', 'zoneWalk', 'lastReset', 'openTransaction'],
            ],
            properties: {
              partition: { type: 'integer' },
              phase: {
                type: 'string',
                enum: ['restoring', 'claiming', 'active', 'closed'],
                description: 'active: it fires. restoring: its owner reads the logs. closed: no owner answers for it.',
              },
              overdueMs: {
                type: 'integer',
                description: 'How long the oldest timer that is due has waited; 0 when none is overdue.',
              },
              problem: {
                type: ['string', 'null'],
                description:
                  'Why its owner decides nothing for now, whatever the phase: its clock is not trusted. Null: nothing is wrong.',
              },
              lag: {
                type: ['object', 'null'],
                additionalProperties: false,
                required: ['jobs', 'commands', 'events'],
                properties: { jobs: { type: 'integer' }, commands: { type: 'integer' }, events: { type: 'integer' } },
                description: 'Places of each log that the owner has not applied yet; null while it is not active.',
              },
              mailboxDepth: { type: 'integer', description: 'Records read and not yet applied.' },
              jobsOffset: { type: 'integer' },
              underWay: {
                type: 'object',
                description: 'Active runs that its owner knows of, by what they wait for.',
                properties: { dispatched: { type: 'integer' }, running: { type: 'integer' }, waiting: { type: 'integer' } },
              },
              restoreRemaining: { type: 'integer', description: 'Records still to be read.' },
              restoreTotal: { type: 'integer', description: 'Of how many.' },
              restoreShare: {
                type: ['number', 'null'],
                description: 'Share of the restore that is done, from 0 to 1; null without an owner.',
              },
              instance: { type: ['string', 'null'] },
              url: { type: ['string', 'null'], description: 'Null for the process that answers.' },
              zoneRules: {
                type: ['string', 'null'],
                description: 'Version of the time zone rules that its owner goes by, such as 2026a; null where nobody says.',
              },
              zoneRulesDiffer: {
                type: 'boolean',
                description: 'Whether a standby has other rules than the owner, which is right.',
              },
              lastReset: lastResetSchema,
              openTransaction: openTransactionSchema,
              zoneWalk: {
                type: ['object', 'null'],
                additionalProperties: false,
                required: ['checked', 'moved'],
                properties: { checked: { type: 'integer' }, moved: { type: 'integer' } },
                description:
                  'While its jobs are looked at because these rules have changed: how many were, and how many moved; null else.',
              },
              standbys: {
                type: 'array',
                description: 'Processes that keep a copy of the partition, ready to take it over.',
                items: {
                  type: 'object',
                  additionalProperties: false,
                  required: ['instance', 'url', 'phase', 'behindRecords', 'zoneRules'],
                  properties: {
                    instance: { type: ['string', 'null'], description: 'name@host:pid:boot' },
                    url: { type: ['string', 'null'], description: 'Null for the process that answers.' },
                    phase: {
                      type: 'string',
                      enum: ['restoring', 'following', 'claiming', 'closed'],
                      description: 'following: it keeps up. restoring: it still reads the logs.',
                    },
                    behindRecords: {
                      type: ['integer', 'null'],
                      description: 'Records of the logs that it lacks, as far as it knows; null while its store cannot be read.',
                    },
                    zoneRules: {
                      type: ['string', 'null'],
                      description: 'Version of its time zone rules; null where it does not say.',
                    },
                  },
                },
              },
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
