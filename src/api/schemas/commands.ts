/** Schemas of the routes of commands. */
import { closed, idempotencyHeaders, idParams, instantSchema, problemResponses } from './common.ts'
import { runParams } from './runs.ts'

/** A command that is in the log. */
const commandSchema = {
  title: 'CommandResult',
  type: 'object',
  required: ['commandId', 'applied'],
  additionalProperties: false,
  properties: {
    commandId: { type: 'string', description: 'Made from Idempotency-Key where there was one.' },
    applied: { type: 'boolean', description: 'Whether the owner was seen to have applied it within 5 s.' },
    runId: { type: ['string', 'null'], description: 'The run that was made; null where none was, see reason.' },
    reason: { type: ['string', 'null'] },
    status: { type: 'string', description: 'Status of the job after the command.' },
    code: { type: 'string', const: 'wait-timeout' },
    detail: { type: 'string' },
  },
} as const

// Without a body there is nothing to check, so the schema lets its absence pass.
const triggerBody = {
  title: 'TriggerRequest',
  type: ['object', 'null'],
  additionalProperties: false,
  properties: {
    payload: { description: "In place of the definition's payload, as in the definition." },
    payloadBase64: { type: 'string', description: 'The same as bytes.' },
  },
} as const

export const triggerSchema = {
  operationId: 'triggerJob',
  tags: ['Jobs'],
  summary: 'One run now, besides the schedule',
  params: idParams,
  querystring: closed({}),
  headers: idempotencyHeaders,
  body: triggerBody,
  response: { 202: commandSchema, ...problemResponses },
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
  summary: 'Let no occurrence fire until the job is resumed',
  ...simpleCommand,
} as const

export const resumeSchema = {
  operationId: 'resumeJob',
  summary: 'Let a paused job fire again; its catchUp decides about what was due meanwhile',
  ...simpleCommand,
} as const

export const cancelJobSchema = {
  operationId: 'cancelJob',
  summary: 'End the runs of a job and let nothing more of it fire; a new definition revives it',
  ...simpleCommand,
} as const

export const backfillSchema = {
  operationId: 'backfillJob',
  tags: ['Jobs'],
  summary: 'One run for each occurrence of a past range',
  params: idParams,
  querystring: closed({}),
  headers: idempotencyHeaders,
  body: {
    title: 'BackfillRequest',
    ...closed(
      {
        from: { ...instantSchema, description: 'First nominal time, inclusive.' },
        to: { ...instantSchema, description: 'End, exclusive; at most now.' },
      },
      ['from', 'to'],
    ),
  },
  response: { 200: commandSchema, 202: commandSchema, ...problemResponses },
} as const

export const cancelRunSchema = {
  operationId: 'cancelRun',
  tags: ['Runs'],
  summary: 'End one run; its handler is told by its AbortSignal',
  params: runParams,
  querystring: closed({}),
  headers: idempotencyHeaders,
  body: noBody,
  response: { 200: commandSchema, 202: commandSchema, ...problemResponses },
} as const

export const redriveRunSchema = {
  operationId: 'redriveRun',
  tags: ['Runs'],
  summary: 'Make a dead run once more, as a new run with the same payload and target',
  params: runParams,
  querystring: closed({}),
  headers: idempotencyHeaders,
  body: noBody,
  response: { 202: commandSchema, ...problemResponses },
} as const
