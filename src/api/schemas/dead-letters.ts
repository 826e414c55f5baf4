/** Schemas of the routes of dead letters. */
import { listLimitDefault, listLimitMax, redriveMax } from '../limits.ts'
import { closed, problemResponses, staleQuery, staleSchema } from './common.ts'
import { runSchema } from './runs.ts'

const deadFilter = {
  tag: { type: 'string', minLength: 1, maxLength: 64 },
  handler: { type: 'string', minLength: 1, maxLength: 128 },
} as const

export const deadLettersSchema = {
  operationId: 'listDeadLetters',
  tags: ['Dead letters'],
  summary: 'Dead runs that can be redriven, in the order of their jobs',
  querystring: closed({
    ...deadFilter,
    limit: { type: 'integer', minimum: 1, maximum: listLimitMax, default: listLimitDefault, description: 'Jobs, not runs.' },
    cursor: { type: 'string', minLength: 1, description: 'What the page before gave.' },
    ...staleQuery,
  }),
  response: {
    200: {
      type: 'object',
      additionalProperties: false,
      required: ['runs', 'cursor'],
      properties: {
        runs: { type: 'array', items: runSchema },
        cursor: { type: ['string', 'null'], description: 'Asks for the next page; null at the end.' },
        stale: staleSchema,
      },
    },
    ...problemResponses,
  },
} as const

export const redriveManySchema = {
  operationId: 'redriveDeadLetters',
  tags: ['Dead letters'],
  summary: 'Redrive all dead runs that a filter finds',
  querystring: closed({}),
  body: {
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      ...deadFilter,
      max: { type: 'integer', minimum: 1, maximum: redriveMax, default: redriveMax, description: 'Runs.' },
    },
  },
  response: {
    202: {
      type: 'object',
      additionalProperties: false,
      required: ['runIds', 'more'],
      properties: {
        runIds: { type: 'array', items: { type: 'string' }, description: 'Dead runs whose redrive is in the log.' },
        more: { type: 'boolean', description: 'Whether the filter may find further ones.' },
      },
    },
    ...problemResponses,
  },
} as const
