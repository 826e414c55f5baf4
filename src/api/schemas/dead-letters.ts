/** Schemas of the routes of dead letters. */
import { closed, problemResponses, staleSchema } from './common.ts'
import { redriveMax, redrivesLeftMax } from './limits.ts'
import { jobFilter, jobPages, runParams, runSchema } from './runs.ts'

export const deadLettersSchema = {
  operationId: 'listDeadLetters',
  tags: ['Dead letters'],
  summary: 'Dead runs that can be redriven, in the order of their jobs',
  querystring: closed({
    ...jobFilter,
    ...jobPages,
  }),
  response: {
    200: {
      title: 'DeadLetterPage',
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

export const deadLetterSchema = {
  operationId: 'getDeadLetter',
  tags: ['Dead letters'],
  summary: 'One dead run, with what its last attempt was given',
  description: 'The payload is that of the run, also when the definition has changed since. A redrive gives it once more.',
  params: runParams,
  querystring: closed({}),
  response: {
    200: {
      title: 'DeadLetter',
      type: 'object',
      additionalProperties: false,
      required: ['run', 'execution'],
      properties: {
        run: runSchema,
        execution: {
          title: 'DeadExecution',
          type: 'object',
          required: ['target', 'priority', 'attempt', 'specOffset', 'headers'],
          properties: {
            target: { type: 'object' },
            priority: { type: 'string' },
            attempt: { type: 'integer' },
            specOffset: { type: 'integer', description: 'Offset in jobs of the definition that the run was made from.' },
            contentType: { type: 'string' },
            payload: { description: 'As in a definition.' },
            payloadBase64: { type: 'string' },
            headers: { type: 'object', description: 'Viewers see the values of harmless ones only.' },
          },
        },
      },
    },
    ...problemResponses,
  },
} as const

export const redriveManySchema = {
  operationId: 'redriveDeadLetters',
  tags: ['Dead letters'],
  summary: 'Redrive all dead runs that a filter finds',
  description:
    'Each dead run is made again once, however often this is sent. A repeat goes on with what is left, and with what is dead by then.',
  querystring: closed({}),
  body: {
    title: 'RedriveRequest',
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      ...jobFilter,
      max: { type: 'integer', minimum: 1, maximum: redriveMax, default: redriveMax, description: 'Runs.' },
    },
  },
  response: {
    202: {
      title: 'RedriveResult',
      type: 'object',
      additionalProperties: false,
      required: ['runIds', 'left', 'more'],
      properties: {
        runIds: { type: 'array', items: { type: 'string' }, description: 'Dead runs that are made again.' },
        left: {
          type: 'array',
          items: {
            title: 'RunLeft',
            ...closed({ runId: { type: 'string' }, detail: { type: 'string', description: 'Why not.' } }, ['runId', 'detail']),
          },
          description: `Dead runs that were found and not made again, because their jobs have as many active runs as maxConcurrentRuns allows. Send the request again when some of these have ended. The first ${redrivesLeftMax} are named.`,
        },
        more: { type: 'boolean', description: 'Whether the filter may find further ones.' },
      },
    },
    ...problemResponses,
  },
} as const
