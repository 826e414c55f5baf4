/** Schemas of the routes of dead letters. */
import { errorKindChars, timeLimit } from '../../../streams/text/index.ts'
import { closed, problemResponses, staleSchema } from './common.ts'
import { errorKindsListed, redriveMax, redrivesLeftMax } from './limits.ts'
import { inputProperties, inputRequired, jobFilter, jobPages, runParams, runSchema } from './runs.ts'

/** Dead runs are filtered by their ends, too. */
export const endFilter = {
  from: {
    type: 'string',
    minLength: 1,
    maxLength: 64,
    description: `Only dead runs that died at this time or later: ${timeLimit}`,
  },
  to: { type: 'string', minLength: 1, maxLength: 64, description: 'Only dead runs that died before this time.' },
  errorType: { type: 'string', minLength: 1, maxLength: 255, description: 'Only dead runs whose last error has this type.' },
  errorKind: {
    type: 'string',
    minLength: 1,
    maxLength: errorKindChars,
    description: 'Only dead runs whose last error is of this kind, as GET /v1/dead-letters lists them.',
  },
} as const

export const deadLettersSchema = {
  operationId: 'listDeadLetters',
  tags: ['Dead letters'],
  summary: 'Dead runs that can be redriven, newest first',
  description:
    'Owners read all their jobs with dead runs for each page, so its cost grows with their number. Runs whose ends are no longer kept come last. For viewers, filters of errors find only runs whose texts hold no secrets.',
  querystring: closed({
    ...jobFilter,
    ...endFilter,
    idPrefix: { type: 'string', minLength: 1, maxLength: 255, description: 'Only runs of jobs whose id begins with this.' },
    ...jobPages,
    limit: { ...jobPages.limit, description: 'Maximum number of runs.' },
  }),
  response: {
    200: {
      title: 'DeadLetterPage',
      type: 'object',
      additionalProperties: false,
      required: ['runs', 'cursor', 'total', 'dropped', 'kinds'],
      properties: {
        runs: { type: 'array', items: runSchema },
        total: { type: 'integer', description: 'Number of dead runs that match, on all pages.' },
        dropped: {
          type: 'integer',
          description:
            'Older dead runs of jobs with dead runs that match: they are not kept, because there was no room for them. Their records are in the topic `executions.dlq`.',
        },
        kinds: {
          type: 'array',
          description: `Their last errors by kind, the most frequent first; at most ${errorKindsListed}.`,
          items: {
            title: 'ErrorKind',
            ...closed(
              {
                kind: {
                  type: 'string',
                  description: 'Type and message with # for numbers and ids. Empty: the error is not kept.',
                },
                type: { type: 'string' },
                message: { type: 'string', description: 'Message of the newest.' },
                count: { type: 'integer' },
              },
              ['kind', 'type', 'message', 'count'],
            ),
          },
        },
        cursor: { type: ['string', 'null'], description: 'Cursor of the next page; null at the end.' },
        stale: staleSchema,
      },
    },
    ...problemResponses,
  },
} as const

export const deadLetterSchema = {
  operationId: 'getDeadLetter',
  tags: ['Dead letters'],
  summary: 'One dead run, with the Execution of its last attempt',
  description: 'The payload is the payload of the run, even if the definition has changed since. A redrive uses it again.',
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
          required: inputRequired,
          properties: inputProperties,
        },
      },
    },
    ...problemResponses,
  },
} as const

export const redriveManySchema = {
  operationId: 'redriveDeadLetters',
  tags: ['Dead letters'],
  summary: `Redrive all dead runs that match a filter, if they are at most ${redriveMax}`,
  description: `If more match, it redrives none and is refused with \`command-refused\`: use \`POST /v1/operations\` with the action REDRIVE, which redrives any number, each once, with a total and progress. A repeat redrives the runs that remain, and those that have died since: runs that were redriven and failed again are among these.`,
  querystring: closed({}),
  body: {
    title: 'RedriveRequest',
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      ...jobFilter,
      max: {
        type: 'integer',
        minimum: 1,
        maximum: redriveMax,
        default: redriveMax,
        description: 'Maximum number of runs, in the order of their jobs.',
      },
    },
  },
  response: {
    202: {
      title: 'RedriveResult',
      type: 'object',
      additionalProperties: false,
      required: ['runIds', 'left', 'more'],
      properties: {
        runIds: { type: 'array', items: { type: 'string' }, description: 'Dead runs that were redriven.' },
        left: {
          type: 'array',
          items: {
            title: 'RunLeft',
            ...closed({ runId: { type: 'string' }, detail: { type: 'string', description: 'Why it was not redriven.' } }, [
              'runId',
              'detail',
            ]),
          },
          description: `Dead runs that match but were not redriven, because their jobs have as many active runs as maxConcurrentRuns allows. Send the request again when some of these have ended. The list has at most ${redrivesLeftMax} entries.`,
        },
        more: { type: 'boolean', description: 'Whether the filter may match further runs.' },
      },
    },
    ...problemResponses,
  },
} as const
