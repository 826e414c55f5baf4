/** Schemas of the routes of schedules, partitions and probes. */
import { previewCountDefault, previewCountMax } from '../limits.ts'
import { closed, problemResponses, time } from './common.ts'

export const previewSchema = {
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
            required: ['partition', 'phase', 'restoreRemaining', 'mailboxDepth', 'jobsOffset', 'underWay', 'instance', 'url'],
            properties: {
              partition: { type: 'integer' },
              phase: { type: 'string', enum: ['restoring', 'claiming', 'active', 'closed'] },
              restoreRemaining: { type: 'integer' },
              mailboxDepth: { type: 'integer' },
              jobsOffset: { type: 'integer' },
              underWay: {
                type: 'object',
                description: 'Active runs that its owner knows of, by what they wait for.',
                properties: { dispatched: { type: 'integer' }, running: { type: 'integer' }, waiting: { type: 'integer' } },
              },
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
  summary: 'Metrics for Prometheus',
  response: { 200: { type: 'string' }, ...problemResponses },
} as const

const healthSchema = {
  type: 'object',
  required: ['status'],
  additionalProperties: false,
  properties: { status: { type: 'string', const: 'ok' } },
} as const

export const probeSchema = {
  summary: 'Whether the process lives, or serves',
  response: { 200: healthSchema, ...problemResponses },
} as const
