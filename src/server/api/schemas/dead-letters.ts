/** Schemas of the routes of dead letters. */
import { errorKindChars, timeLimit } from '../../../../streams/text/index.ts'
import { answers, closed, integer, listOf, named, staleSchema, text, textOrNull, textUpTo } from './common.ts'
import { errorKindsListed } from './limits.ts'
import { inputProperties, inputRequired, jobFilter, jobPages, runParams, runSchema } from './runs.ts'

/** Dead runs are filtered by their ends, too. */
export const endFilter = {
  from: textUpTo(64, `Only dead runs that died at this time or later: ${timeLimit}`),
  to: textUpTo(64, 'Only dead runs that died before this time.'),
  errorType: textUpTo(255, 'Only dead runs whose last error has this type.'),
  errorKind: textUpTo(errorKindChars, 'Only dead runs whose last error is of this kind, as GET /v1/dead-letters lists them.'),
} as const

export const deadLettersSchema = {
  operationId: 'listDeadLetters',
  tags: ['Dead letters'],
  summary: 'Dead runs that can be redriven, newest first',
  description:
    'Owners read all their jobs with dead runs for each page, so its cost grows with their number. For viewers, filters of errors find only runs whose texts hold no secrets.',
  querystring: closed({
    ...jobFilter,
    ...endFilter,
    idPrefix: textUpTo(255, 'Only runs of jobs whose id begins with this.'),
    ...jobPages,
    limit: { ...jobPages.limit, description: 'Maximum number of runs.' },
  }),
  response: answers(
    named(
      'DeadLetterPage',
      {
        runs: listOf(runSchema),
        total: integer('Number of dead runs that match, on all pages.'),
        dropped: integer(
          'Older dead runs of jobs with dead runs that match: they are not kept, because there was no room for them. Their records are in the topic `executions.dlq`.',
        ),
        kinds: listOf(
          named('ErrorKind', {
            kind: text('Type and message with # for numbers and ids. Empty: it may hold a secret.'),
            type: { type: 'string' },
            message: text('Message of the newest.'),
            count: { type: 'integer' },
          }),
          `Their last errors by kind, the most frequent first; at most ${errorKindsListed}.`,
        ),
        cursor: textOrNull('Cursor of the next page; null at the end.'),
        stale: staleSchema,
      },
      ['stale'],
    ),
  ),
} as const

export const deadLetterSchema = {
  operationId: 'getDeadLetter',
  tags: ['Dead letters'],
  summary: 'One dead run, with the Execution of its last attempt',
  description: 'The payload is the payload of the run, even if the definition has changed since. A redrive uses it again.',
  params: runParams,
  querystring: closed({}),
  response: answers(
    named('DeadLetter', {
      run: runSchema,
      execution: {
        title: 'DeadExecution',
        type: 'object',
        required: inputRequired,
        properties: inputProperties,
      },
    }),
  ),
} as const
