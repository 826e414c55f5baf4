/** Schemas of the routes of schedules, partitions and probes. */
import { previewCountDefault, previewCountMax } from '../limits.ts'
import { closed, problemResponses, time } from './common.ts'

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
            required: ['partition', 'phase', 'restoreRemaining', 'mailboxDepth', 'jobsOffset', 'instance', 'url'],
            properties: {
              partition: { type: 'integer' },
              phase: { type: 'string', enum: ['restoring', 'claiming', 'active', 'closed'] },
              restoreRemaining: { type: 'integer' },
              mailboxDepth: { type: 'integer' },
              jobsOffset: { type: 'integer' },
              instance: { type: ['string', 'null'] },
              url: { type: ['string', 'null'], description: 'Null for the process that answers.' },
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
