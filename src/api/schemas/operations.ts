/** Schemas of the routes of operations: changes of many jobs or dead runs. */
import { jobActions, runActions } from '../../ports/index.ts'
import { closed, createHeaders, jobStatuses, orNull, problemResponses, time, timeOrNull } from './common.ts'
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

const filterSchema = {
  title: 'OperationFilter',
  ...closed({
    ...jobFilter,
    status: { type: 'string', enum: jobStatuses },
    idPrefix: { type: 'string', minLength: 1, maxLength: 255 },
    idContains: { type: 'string', minLength: 1, maxLength: 255 },
    ...endFilter,
    state: { type: 'string', enum: activeStatuses, description: 'With CANCEL_RUN: only runs in this state.' },
  }),
} as const

const ids = {
  type: 'array',
  minItems: 1,
  maxItems: operationIdsMax,
  items: { type: 'string', minLength: 1, maxLength: 300 },
} as const

const requestSchema = {
  title: 'OperationRequest',
  ...closed(
    {
      action: {
        type: 'string',
        enum: actions,
        description:
          'PAUSE, RESUME, CANCEL, TRIGGER and DELETE change jobs as the commands to one job do. REDRIVE and DISCARD change dead runs, CANCEL_RUN ends active runs that had begun. A discarded run keeps its record, and no longer counts as dead.',
      },
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
      payloadBase64: { type: 'string', description: 'The payload as base64. All jobs get these bytes.' },
    },
    ['action'],
  ),
} as const

export const operationSchema = {
  title: 'Operation',
  ...closed(
    {
      id: { type: 'string' },
      action: { type: 'string', description: 'As in the request. Later versions may have others.' },
      filter: orNull(filterSchema, 'As in the request; null if it had a list.'),
      listed: {
        type: ['integer', 'null'],
        description: 'Number of jobs or dead runs in the list of the request; null without one.',
      },
      payloadBytes: { type: ['integer', 'null'], description: 'Bytes of the payload in the request; null without one.' },
      actor: { type: ['string', 'null'], description: 'Who asked for it.' },
      status: {
        type: 'string',
        enum: ['WAITING', 'RUNNING', 'CANCELLING', 'DONE', 'CANCELLED', 'FAILED'],
        description: 'WAITING: no process has begun it. CANCELLING: it ends after the changes that have begun.',
      },
      total: {
        type: ['integer', 'null'],
        description: 'Number of jobs or dead runs that it found at its start. Null: not counted yet.',
      },
      applied: { type: 'integer', description: 'Jobs or dead runs that were changed.' },
      refused: { type: 'integer', description: 'Jobs or dead runs whose change was refused; see reasons.' },
      reasons: {
        type: 'array',
        items: {
          title: 'OperationReason',
          ...closed(
            {
              code: { type: 'string', description: 'A stable word, such as max-concurrent-runs.' },
              reason: { type: 'string', description: 'A sentence about the first of them.' },
              count: { type: 'integer' },
              example: { type: 'string', description: 'The first job or run; empty if none is known.' },
            },
            ['code', 'reason', 'count', 'example'],
          ),
        },
      },
      problem: { type: ['string', 'null'], description: 'Why it does not go on, or why it failed; null otherwise.' },
      createdAt: time,
      startedAt: timeOrNull,
      effectiveAt: {
        ...timeOrNull,
        description:
          'Since when it holds for all its jobs; null before. With PAUSE, CANCEL and DELETE by filter this is long before all are changed: from then on, a job that comes due is changed before, and starts no run. Otherwise: when all were changed.',
      },
      endedAt: timeOrNull,
      driver: { type: ['string', 'null'], description: 'The process that carries it out, or did.' },
    },
    [
      ...[
        'id',
        'action',
        'filter',
        'listed',
        'payloadBytes',
        'actor',
        'status',
        'total',
        'applied',
        'refused',
        'reasons',
        'problem',
      ],
      ...['createdAt', 'startedAt', 'effectiveAt', 'endedAt', 'driver'],
    ],
  ),
} as const

const operationParams = closed({ id: { type: 'string', minLength: 1, maxLength: 64 } }, ['id'])

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
  response: {
    200: { title: 'OperationCount', ...closed({ count: { type: 'integer' } }, ['count']) },
    ...problemResponses,
  },
} as const

export const listOperationsSchema = {
  operationId: 'listOperations',
  tags: ['Operations'],
  summary: 'Operations, newest first',
  description: `Ended operations are kept for ${operationsKeptMs / 86_400_000} days, and the last ${operationsKeptMax} of them at most.`,
  querystring: closed({
    active: { type: 'boolean', description: 'true: only operations that have not ended.' },
    limit: { type: 'integer', minimum: 1, maximum: operationsKeptMax, default: listLimitDefault },
  }),
  response: {
    200: {
      title: 'OperationList',
      ...closed({ operations: { type: 'array', items: operationSchema } }, ['operations']),
    },
    ...problemResponses,
  },
} as const

export const getOperationSchema = {
  operationId: 'getOperation',
  tags: ['Operations'],
  summary: 'One operation with its progress',
  params: operationParams,
  querystring: closed({}),
  response: { 200: operationSchema, ...problemResponses },
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
