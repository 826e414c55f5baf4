/** Schemas of the routes of runs, and of the route that explains a job. */
import { priorityMax } from '../../../streams/topics/index.ts'
import {
  acceptedSchema,
  closed,
  idParams,
  jobStatuses,
  orNull,
  problemResponses,
  runWaitMs,
  staleQuery,
  staleSchema,
  time,
  timeOrNull,
} from './common.ts'
import { listLimitDefault, listLimitMax } from './limits.ts'

export const activeStatuses = ['DISPATCHED', 'RUNNING', 'RETRY_WAIT', 'WAITING'] as const

/** Runs are filtered by fields of their jobs. */
export const jobFilter = {
  tag: { type: 'string', minLength: 1, maxLength: 64 },
  handler: { type: 'string', minLength: 1, maxLength: 128 },
} as const

/** Pages of runs are counted in jobs. */
export const jobPages = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: listLimitMax,
    default: listLimitDefault,
    description: 'Maximum number of jobs, not runs.',
  },
  cursor: { type: 'string', minLength: 1, description: 'The cursor of the previous page.' },
  ...staleQuery,
} as const

export const runSchema = {
  title: 'Run',
  type: 'object',
  additionalProperties: false,
  required: [
    ...['runId', 'jobId', 'runNo', 'status', 'trigger', 'scheduledFor', 'attempts'],
    ...['startedAt', 'finishedAt', 'worker', 'result', 'errors'],
  ],
  properties: {
    runId: { type: 'string', description: '<jobId>/<runNo>' },
    jobId: { type: 'string' },
    runNo: { type: 'integer' },
    status: {
      type: 'string',
      enum: ['DISPATCHED', 'RUNNING', 'RETRY_WAIT', 'SUCCEEDED', 'EXPIRED', 'CANCELLED', 'DEAD', 'WAITING'],
    },
    trigger: { type: 'string', enum: ['SCHEDULE', 'MANUAL', 'REDRIVE', 'BACKFILL', 'FOLLOW_UP'] },
    commandId: { type: ['string', 'null'] },
    scheduledFor: time,
    attempts: { type: 'integer', description: 'Attempts that started.' },
    attempt: { type: 'integer', description: 'Number of the current or last one, with those that did not start.' },
    dueAt: { ...time, description: 'When the last attempt was due; a wait for a limit counts as before it.' },
    dispatchedAt: { ...time, description: 'When the last attempt was dispatched.' },
    startDeadlineAt: { ...time, description: 'While active: the current attempt must start before this time.' },
    waitsFor: {
      type: ['string', 'null'],
      enum: ['SLOT', 'RATE', 'HANDLER', 'POOL_PAUSED', null],
      description:
        'While WAITING: SLOT for a slot of its concurrencyKey, RATE for the start that its rateLimit gave it, HANDLER for a worker that has its handler, POOL_PAUSED until its pool is resumed.',
    },
    limitKey: {
      type: ['string', 'null'],
      description: 'While it waits for SLOT or RATE: its concurrencyKey, or the key of its rateLimit.',
    },
    startedAt: timeOrNull,
    finishedAt: timeOrNull,
    worker: { type: ['string', 'null'] },
    handler: { type: 'string', description: 'Handler of the run. Absent for a topic, or if another definition made the run.' },
    pool: { type: 'string', description: 'Pool of its workers; absent like the handler.' },
    progress: {
      type: ['number', 'null'],
      description: 'While it runs: the completed share that the handler reported last, from 0 to 1.',
    },
    message: { type: ['string', 'null'], description: 'While it runs: the last progress message of the handler.' },
    checkedAt: { ...timeOrNull, description: 'While it runs: when the last heartbeat was read.' },
    result: { description: 'The return value of the handler.' },
    note: { type: ['string', 'null'], description: 'Which part of the final report was left out, and why.' },
    errors: {
      type: 'array',
      description: 'The last five failed attempts.',
      items: {
        title: 'AttemptError',
        type: 'object',
        required: ['attempt', 'at', 'worker', 'type', 'message'],
        properties: {
          attempt: { type: 'integer' },
          at: time,
          worker: { type: ['string', 'null'] },
          type: { type: 'string' },
          message: { type: 'string' },
          dueAt: { ...timeOrNull, description: 'When the attempt was due; null if it failed under an earlier version.' },
          dispatchedAt: timeOrNull,
          startedAt: { ...timeOrNull, description: 'When the attempt started; null if it did not.' },
          stack: {
            type: ['string', 'null'],
            description: 'Only in the answer about one run: the stack of its last error, at most 2,000 characters.',
          },
        },
      },
    },
  },
} as const

/** What the handler of a run gets, in the words of a definition. */
export const inputProperties = {
  target: { type: 'object' },
  priority: {
    description: `HIGH, NORMAL or LOW, or a number from 0 to ${priorityMax}, as it was written.`,
    anyOf: [{ type: 'string' }, { type: 'integer', minimum: 0, maximum: priorityMax }],
  },
  attempt: { type: 'integer' },
  specOffset: { type: 'integer', description: 'Offset in the topic jobs of the definition from which the run was created.' },
  contentType: { type: 'string' },
  payload: { description: 'As in a definition.' },
  payloadBase64: { type: 'string' },
  headers: { type: 'object', description: 'Viewers see only the values of allowed headers; others are redacted.' },
} as const
export const inputRequired = ['target', 'priority', 'attempt', 'specOffset', 'headers'] as const

const runDetailSchema = {
  ...runSchema,
  title: 'RunDetail',
  required: [...runSchema.required, 'redrivable', 'lastRunNo', 'onSuccess', 'onFailure'],
  properties: {
    ...runSchema.properties,
    redrivable: { type: 'boolean', description: 'Whether it is a dead run that can be redriven.' },
    lastRunNo: { type: 'integer', description: 'Number of the last run of the job.' },
    onSuccess: {
      type: 'array',
      items: { type: 'string' },
      description: 'Jobs that follow a success, by the definition in force.',
    },
    onFailure: {
      type: 'array',
      items: { type: 'string' },
      description: 'Jobs that follow a failure, by the definition in force.',
    },
    input: orNull(
      { title: 'RunInput', type: 'object', required: inputRequired, properties: inputProperties },
      'With input=true: what the handler gets. Null: it is not kept, because the run has ended and its payload came with a command, or its definition was replaced.',
    ),
  },
} as const

/** What a wait for the end of a run adds to an answer. */
export const runEndProperties = {
  run: orNull(runSchema, 'With wait=ended: the run that has ended. Null: there is none and will be none; reason says why.'),
} as const

/** The answer to the write of a definition, which may wait for a run. */
export const writtenSchema = {
  ...acceptedSchema,
  title: 'Written',
  properties: { ...acceptedSchema.properties, ...runEndProperties },
} as const

export const awaitRunSchema = {
  operationId: 'awaitRun',
  tags: ['Runs'],
  summary: 'Wait until a run of a job has ended',
  description:
    'Give exactly one of runNo, commandId and etag. The answer comes at once if the run has ended or cannot come, and after timeoutMs with ended false if it is still awaited; then send the request again.',
  params: idParams,
  querystring: closed({
    runNo: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'This run.' },
    commandId: {
      type: 'string',
      minLength: 1,
      maxLength: 512,
      description: 'The run that this command made, such as a trigger.',
    },
    etag: {
      type: 'string',
      pattern: '^"?\\d{1,9}\\.\\d{1,16}"?$',
      description: 'The first run that ends of the definition with this ETag. A later definition of the job has runs of its own.',
    },
    timeoutMs: { ...runWaitMs, description: 'How long the answer waits. Unit: ms.' },
  }),
  response: {
    200: {
      title: 'AwaitedRun',
      type: 'object',
      required: ['ended', 'run', 'reason'],
      additionalProperties: false,
      properties: {
        ended: { type: 'boolean', description: 'False: the run is still awaited.' },
        run: orNull(runSchema, 'The run that has ended. Null: it is still awaited, or reason says why it cannot come.'),
        reason: { type: ['string', 'null'], description: 'Why there is no such run, in a sentence.' },
      },
    },
    ...problemResponses,
  },
} as const

export const listRunsSchema = {
  operationId: 'listRuns',
  tags: ['Runs'],
  summary: 'Active runs of a job, then its last ended ones, newest first',
  params: idParams,
  querystring: closed(staleQuery),
  response: {
    200: {
      type: 'object',
      title: 'RunList',
      required: ['runs'],
      additionalProperties: false,
      properties: { runs: { type: 'array', items: runSchema } },
    },
    ...problemResponses,
  },
} as const

export const runParams = closed(
  { jobId: idParams.properties.id, runNo: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } },
  ['jobId', 'runNo'],
)

export const listActiveRunsSchema = {
  operationId: 'listActiveRuns',
  tags: ['Runs'],
  summary: 'Active runs of all jobs, in the order of their jobs',
  querystring: closed({
    state: { type: 'string', enum: activeStatuses, description: 'Only runs in this state.' },
    ...jobFilter,
    ...jobPages,
  }),
  response: {
    200: {
      type: 'object',
      title: 'RunPage',
      required: ['runs', 'cursor'],
      additionalProperties: false,
      properties: {
        runs: { type: 'array', items: runSchema },
        cursor: { type: ['string', 'null'], description: 'Cursor of the next page; null at the end.' },
        stale: staleSchema,
      },
    },
    ...problemResponses,
  },
} as const

export const getRunSchema = {
  operationId: 'getRun',
  tags: ['Runs'],
  summary: 'One run',
  description: 'The last eleven ended runs of a job are kept here, and dead runs that can be redriven. The topic `runs` has all.',
  params: runParams,
  querystring: closed({
    input: { type: 'boolean', default: false, description: 'Whether the answer contains the input of the run, of up to 1 MiB.' },
    ...staleQuery,
  }),
  response: { 200: runDetailSchema, ...problemResponses },
} as const

export const whySchema = {
  operationId: 'explainJob',
  tags: ['Jobs'],
  summary: 'Explain why a job fired or did not: the current state, then the last decisions, newest first',
  params: idParams,
  querystring: closed(staleQuery),
  response: {
    200: {
      title: 'JobExplanation',
      type: 'object',
      additionalProperties: false,
      required: ['id', 'status', 'why'],
      properties: {
        id: { type: 'string' },
        status: { type: 'string', enum: jobStatuses },
        why: {
          type: 'array',
          items: {
            title: 'Reason',
            type: 'object',
            required: ['code', 'text', 'at'],
            properties: {
              code: { type: 'string' },
              text: { type: 'string' },
              at: timeOrNull,
              commandId: { type: 'string', description: 'The refused command, if the reason is one.' },
            },
          },
        },
      },
    },
    ...problemResponses,
  },
} as const
