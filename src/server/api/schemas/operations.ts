/** Schemas of the routes of operations: changes of many jobs or dead runs. */
import { jobActions, runActions } from '../../../ground/records/index.ts'
import {
  answers,
  closed,
  createHeaders,
  enumOf,
  flag,
  integer,
  integerOrNull,
  integerUpTo,
  jobStatuses,
  listOf,
  named,
  orNull,
  problemResponses,
  text,
  textOrNull,
  textUpTo,
  time,
  timeOrNull,
  titled,
} from './common.ts'
import { endFilter } from './dead-letters.ts'
import {
  listLimitDefault,
  operationIdsMax,
  operationPayloadBytesMax,
  operationsActiveMax,
  operationsKeptMax,
  operationsKeptMs,
  operationsPerCallerMax,
  operationsReserved,
} from './limits.ts'
import { activeStatuses, jobFilter } from './runs.ts'

const actions = [...jobActions, ...runActions]

const filterSchema = titled('OperationFilter', {
  ...jobFilter,
  status: { type: 'string', enum: jobStatuses },
  idPrefix: textUpTo(255),
  idContains: textUpTo(255),
  ...endFilter,
  state: enumOf(activeStatuses, 'With CANCEL_RUN: only runs in this state.'),
})

const ids = {
  type: 'array',
  minItems: 1,
  maxItems: operationIdsMax,
  items: textUpTo(300),
} as const

const requestSchema = titled(
  'OperationRequest',
  {
    action: enumOf(
      actions,
      'PAUSE, RESUME, CANCEL, TRIGGER and DELETE change jobs as the commands to one job do. REDRIVE and DISCARD change dead runs, CANCEL_RUN ends active runs that had begun. A discarded run keeps its record, and no longer counts as dead.',
    ),
    filter: {
      ...filterSchema,
      description: 'Jobs that match all of it. An empty filter chooses all jobs. Give either a filter or a list.',
    },
    jobIds: {
      ...ids,
      description: `At most ${operationIdsMax} jobs. With REDRIVE and DISCARD: all their dead runs; with CANCEL_RUN: all their active runs.`,
    },
    runIds: { ...ids, description: 'With REDRIVE and DISCARD: dead runs, with CANCEL_RUN: active runs, as `<jobId>/<runNo>`.' },
    payload: {
      description: `With TRIGGER: payload of each run, in place of that of the definition; at most ${operationPayloadBytesMax} bytes. A job whose contentType is not JSON takes a text only.`,
    },
    payloadBase64: text('The payload as base64. All jobs get these bytes.'),
  },
  ['action'],
)

export const operationSchema = named('Operation', {
  id: { type: 'string' },
  action: text('As in the request. Later versions may have others.'),
  filter: orNull(filterSchema, 'As in the request; null if it had a list.'),
  listed: integerOrNull('Number of jobs or dead runs in the list of the request; null without one.'),
  payloadBytes: integerOrNull('Bytes of the payload in the request; null without one.'),
  actor: textOrNull('Who asked for it.'),
  status: enumOf(
    ['WAITING', 'RUNNING', 'CANCELLING', 'DONE', 'CANCELLED', 'FAILED'],
    'WAITING: no process has begun it. CANCELLING: it ends after the changes that have begun.',
  ),
  total: integerOrNull('Number of jobs or dead runs that it found at its start. Null: not counted yet.'),
  applied: integer('Jobs or dead runs that were changed.'),
  refused: integer('Jobs or dead runs whose change was refused; see reasons.'),
  reasons: listOf(
    named('OperationReason', {
      code: text('A stable word, such as max-concurrent-runs.'),
      reason: text('A sentence about the first of them.'),
      count: { type: 'integer' },
      example: text('The first job or run; empty if none is known.'),
    }),
  ),
  problem: textOrNull('Why it does not go on, or why it failed; null otherwise.'),
  createdAt: time,
  startedAt: timeOrNull,
  effectiveAt: textOrNull(
    'Since when it holds for all its jobs; null before. With PAUSE, CANCEL and DELETE by filter this is long before all are changed: from then on, a job that comes due is changed before, and starts no run. Otherwise: when all were changed.',
  ),
  endedAt: timeOrNull,
  driver: textOrNull('The process that carries it out, or did.'),
})

const operationParams = closed({ id: textUpTo(64) }, ['id'])

export const createOperationSchema = {
  operationId: 'createOperation',
  tags: ['Operations'],
  summary: 'Change many jobs or dead runs as one operation, which goes on in the background',
  description: `It goes on if the process that carries it out ends: another process continues, and no change is made twice. It changes what exists when it begins: jobs that are defined later, and runs that die later, are left alone, so that each dead run is redriven once even if it fails again. Jobs that are already as wanted are not counted. At most ${operationsActiveMax} operations go on at once, ${operationsPerCallerMax} of one caller; the last ${operationsReserved} places are for PAUSE, CANCEL, CANCEL_RUN and callers that have none.`,
  querystring: closed({}),
  headers: createHeaders,
  body: requestSchema,
  response: { 202: operationSchema, ...problemResponses },
} as const

export const countOperationSchema = {
  operationId: 'countOperation',
  tags: ['Operations'],
  summary: 'How many jobs or dead runs an operation would find; nothing is changed',
  querystring: closed({}),
  body: requestSchema,
  response: answers(named('OperationCount', { count: { type: 'integer' } })),
} as const

export const listOperationsSchema = {
  operationId: 'listOperations',
  tags: ['Operations'],
  summary: 'Operations, newest first',
  description: `Ended operations are kept for ${operationsKeptMs / 86_400_000} days, and the last ${operationsKeptMax} of them at most.`,
  querystring: closed({
    active: flag('true: only operations that have not ended.'),
    limit: integerUpTo(operationsKeptMax, listLimitDefault),
  }),
  response: answers(named('OperationList', { operations: listOf(operationSchema) })),
} as const

export const getOperationSchema = {
  operationId: 'getOperation',
  tags: ['Operations'],
  summary: 'One operation with its progress',
  params: operationParams,
  querystring: closed({}),
  response: answers(operationSchema),
} as const

export const cancelOperationSchema = {
  operationId: 'cancelOperation',
  tags: ['Operations'],
  summary: 'End an operation early; what it has changed stays changed',
  description: 'The changes that have begun still end. An operation that has ended stays as it is.',
  params: operationParams,
  querystring: closed({}),
  body: { type: ['object', 'null'], additionalProperties: false, properties: {} },
  response: { 202: operationSchema, ...problemResponses },
} as const
