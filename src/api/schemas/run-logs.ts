/** Schema of the route of the lines that a run has written. */
import { closed, idParams, orNull, problemResponses, staleQuery, time, timeInput } from './common.ts'
import { runLogLinesDefault, runLogLinesMax } from './limits.ts'
import { runParams } from './runs.ts'

const runLogLineSchema = {
  title: 'RunLogLine',
  type: 'object',
  additionalProperties: false,
  required: ['at', 'level', 'text', 'fields', 'shortened', 'attempt', 'no', 'worker'],
  properties: {
    at: { ...time, description: "When the handler wrote the line, by the worker's clock." },
    level: { type: 'string', enum: ['debug', 'info', 'warn', 'error'] },
    text: { type: 'string' },
    fields: orNull({ type: 'object', additionalProperties: true }, 'Values beside the text: texts, numbers, booleans and null.'),
    shortened: { type: 'boolean', description: 'Whether parts of the line were over a limit and left out.' },
    attempt: { type: 'integer', description: 'Number of the attempt.' },
    no: { type: 'integer', description: 'Number of the line; each worker counts the lines of an attempt from 1.' },
    worker: { type: 'string', description: 'name@host:pid:boot of the worker.' },
  },
} as const

export const runLogsSchema = {
  operationId: 'getRunLogs',
  tags: ['Runs'],
  summary: 'Lines that the handler of a run wrote with run.log, in the order of their arrival',
  description:
    'An answer may have no lines and a cursor: it covers a bounded part of the topic. Ask again with the cursor at once; with caughtUp true, after about a second. The cursor is null when the run has ended and all its lines were read; for a run with trackRuns false, whose end nobody knows, when attemptTimeoutMs and a minute have passed since its dispatch. For a run that is no longer kept, give from, and to if it is known.',
  params: closed({ ...idParams.properties, runNo: runParams.properties.runNo }, ['id', 'runNo']),
  querystring: closed({
    limit: { type: 'integer', minimum: 1, maximum: runLogLinesMax, default: runLogLinesDefault, description: 'Maximum lines.' },
    cursor: { type: 'string', minLength: 1, maxLength: 100, description: 'The cursor of the previous answer.' },
    from: {
      ...timeInput,
      description: 'Only lines that arrived from then on. ISO 8601 with an offset, or epoch ms. Default: the start of the run.',
    },
    to: {
      ...timeInput,
      description:
        'Only lines that arrived before. ISO 8601 with an offset, or epoch ms. Default: a minute after the end of the run.',
    },
    ...staleQuery,
  }),
  response: {
    200: {
      title: 'RunLogPage',
      type: 'object',
      additionalProperties: false,
      required: ['lines', 'cursor', 'caughtUp', 'unreadable'],
      properties: {
        lines: { type: 'array', items: runLogLineSchema },
        cursor: { type: ['string', 'null'], description: 'Where the next answer continues; null: no more lines will come.' },
        caughtUp: { type: 'boolean', description: 'Whether all lines that have arrived were read.' },
        unreadable: {
          type: 'integer',
          description: 'Records of the job in this part of the topic that are no lines. They were skipped.',
        },
      },
    },
    ...problemResponses,
  },
} as const
