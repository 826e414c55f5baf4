/** Schemas of the routes of the session and of the live events. */
import { closed, problemResponses } from './common.ts'

export const sessionSchema = {
  operationId: 'getSession',
  tags: ['System'],
  summary: 'Role of the caller',
  querystring: closed({}),
  response: {
    200: {
      title: 'Session',
      type: 'object',
      required: ['role', 'authentication'],
      additionalProperties: false,
      properties: {
        role: { type: 'string', enum: ['viewer', 'operator', 'admin'] },
        authentication: { type: 'boolean', description: 'False: this system requires no token.' },
      },
    },
    ...problemResponses,
  },
} as const

export const eventsSchema = {
  operationId: 'listenEvents',
  tags: ['System'],
  summary: 'State of the system, as server-sent events',
  description:
    'One event `pulse` each second. It has the counts of all owners, a view of each partition, and the findings of the auditors. A count never decreases while its process runs.',
  produces: ['text/event-stream'],
  querystring: closed({}),
  response: { 200: { type: 'string', description: 'text/event-stream' }, ...problemResponses },
} as const

/** Between processes of one system. */
export const internalCountsSchema = { hide: true, querystring: closed({}) } as const
