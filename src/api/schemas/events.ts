/** Schemas of the routes that the dashboard listens to. */
import { closed, problemResponses } from './common.ts'

export const sessionSchema = {
  operationId: 'getSession',
  tags: ['System'],
  summary: 'What the caller may do',
  querystring: closed({}),
  response: {
    200: {
      title: 'Session',
      type: 'object',
      required: ['role', 'authentication'],
      additionalProperties: false,
      properties: {
        role: { type: 'string', enum: ['viewer', 'operator', 'admin'] },
        authentication: { type: 'boolean', description: 'False: this system asks nobody for a token.' },
      },
    },
    ...problemResponses,
  },
} as const

export const eventsSchema = {
  operationId: 'listenEvents',
  tags: ['System'],
  summary: 'How the system stands, as server-sent events',
  description:
    'Once a second an event `pulse`: the counts of all owners, which only grow while their processes live, a view of each partition, and what the auditors found.',
  produces: ['text/event-stream'],
  querystring: closed({}),
  response: { 200: { type: 'string', description: 'text/event-stream' }, ...problemResponses },
} as const

/** Between processes of one system. */
export const internalCountsSchema = { hide: true, querystring: closed({}) } as const
