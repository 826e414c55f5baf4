/** Schemas of the routes of commands. */
import {
  answers,
  closed,
  enumOf,
  flag,
  idempotencyHeaders,
  idParams,
  instantSchema,
  integer,
  named,
  problemResponses,
  runWaitMs,
  text,
  textOrNull,
  timeOrNull,
  titled,
} from './common.ts'
import { backfillCountMax } from './limits.ts'
import { runEndProperties, runParams } from './runs.ts'

/** A command that is in the log. */
const commandSchema = titled(
  'CommandResult',
  {
    commandId: text('Derived from Idempotency-Key if the request had one.'),
    applied: flag('Whether the owner confirmed within 5 s that it applied the command.'),
    runId: textOrNull('The created run. Null: none was created, or it is no longer kept; see reason.'),
    reason: { type: ['string', 'null'] },
    status: text('Status of the job after the command.'),
    code: { type: 'string', const: 'wait-timeout' },
    detail: { type: 'string' },
  },
  ['commandId', 'applied'],
)

/** A command that makes a run, which the answer may wait for. */
const runCommandSchema = {
  ...commandSchema,
  title: 'RunCommandResult',
  properties: { ...commandSchema.properties, ...runEndProperties },
} as const

const runWaitQuery = closed({
  wait: enumOf(
    ['ended'],
    'The answer waits until the run has ended, and has it; the status is then 200. It is 202 if that takes more than timeoutMs.',
  ),
  timeoutMs: runWaitMs,
})

// The body may be absent.
const triggerBody = {
  title: 'TriggerRequest',
  type: ['object', 'null'],
  additionalProperties: false,
  properties: {
    payload: { description: 'Replaces the payload of the definition; same form.' },
    payloadBase64: text('The payload as base64.'),
  },
} as const

export const triggerSchema = {
  operationId: 'triggerJob',
  tags: ['Jobs'],
  summary: 'Start one run now, outside the schedule',
  params: idParams,
  querystring: runWaitQuery,
  headers: idempotencyHeaders,
  body: triggerBody,
  response: { 200: runCommandSchema, 202: runCommandSchema, ...problemResponses },
} as const

const noBody = { type: ['object', 'null'], additionalProperties: false, properties: {} } as const

const simpleCommand = {
  tags: ['Jobs'],
  params: idParams,
  querystring: closed({}),
  headers: idempotencyHeaders,
  body: noBody,
  response: { 200: commandSchema, 202: commandSchema, ...problemResponses },
} as const

export const pauseSchema = {
  operationId: 'pauseJob',
  summary: 'Pause a job: no occurrence fires until it is resumed',
  ...simpleCommand,
} as const

export const resumeSchema = {
  operationId: 'resumeJob',
  summary: 'Resume a paused job; its catchUp decides about occurrences that were due during the pause',
  ...simpleCommand,
} as const

export const cancelJobSchema = {
  operationId: 'cancelJob',
  summary: 'Cancel a job: its runs end, and it does not fire again until it gets a new definition',
  ...simpleCommand,
} as const

const backfillBody = named('BackfillRequest', {
  from: { ...instantSchema, description: 'First nominal time, inclusive.' },
  to: { ...instantSchema, description: 'End, exclusive; not after now.' },
})

export const backfillSchema = {
  operationId: 'backfillJob',
  tags: ['Jobs'],
  summary: 'Create one run for each occurrence of a past range',
  description: 'Its commandId is the id of the backfill, and of its runs. `backfill` of the job shows its progress.',
  params: idParams,
  querystring: closed({}),
  headers: idempotencyHeaders,
  body: backfillBody,
  response: { 200: commandSchema, 202: commandSchema, ...problemResponses },
} as const

export const countBackfillSchema = {
  operationId: 'countBackfill',
  tags: ['Jobs'],
  summary: 'Count the runs that a backfill would create; nothing is written',
  params: idParams,
  querystring: closed({}),
  body: backfillBody,
  response: answers(
    named('BackfillCount', {
      occurrences: integer(`At most ${backfillCountMax}.`),
      isMore: flag('Whether the range has more than that.'),
      first: { ...timeOrNull, description: 'Nominal time of the first run. Null: there is none.' },
      last: { ...timeOrNull, description: 'Nominal time of the last run that was counted.' },
    }),
  ),
} as const

export const cancelBackfillSchema = {
  operationId: 'cancelBackfill',
  ...simpleCommand,
  summary: 'End the backfill in progress: it makes no further runs, and those that it has made go on',
} as const

export const skipSchema = {
  operationId: 'skipNext',
  tags: ['Jobs'],
  summary: 'Skip the next occurrence; the schedule goes on with the one after it',
  params: idParams,
  querystring: closed({}),
  headers: idempotencyHeaders,
  body: {
    title: 'SkipRequest',
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      at: {
        ...instantSchema,
        description:
          'Nominal time of the occurrence that you mean. If it is not the next one, nothing is skipped. Default: the next one.',
      },
    },
  },
  response: { 200: commandSchema, 202: commandSchema, ...problemResponses },
} as const

export const cancelRunSchema = {
  operationId: 'cancelRun',
  tags: ['Runs'],
  summary: 'Cancel one run; its handler is notified through its AbortSignal',
  params: runParams,
  querystring: closed({}),
  headers: idempotencyHeaders,
  body: noBody,
  response: { 200: commandSchema, 202: commandSchema, ...problemResponses },
} as const

export const retryRunSchema = {
  operationId: 'retryRun',
  tags: ['Runs'],
  summary: 'Retry a run now that waits for its next attempt',
  description: 'Its next attempt begins without the rest of the backoff. It counts as an attempt, as it would have later.',
  params: runParams,
  querystring: closed({}),
  headers: idempotencyHeaders,
  body: noBody,
  response: { 200: commandSchema, 202: commandSchema, ...problemResponses },
} as const

export const redriveRunSchema = {
  operationId: 'redriveRun',
  tags: ['Runs'],
  summary: 'Redrive a dead run: a new run with the same payload and target',
  params: runParams,
  querystring: runWaitQuery,
  headers: idempotencyHeaders,
  body: noBody,
  response: { 200: runCommandSchema, 202: runCommandSchema, ...problemResponses },
} as const
