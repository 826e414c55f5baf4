/** Schemas of the routes of runs, and of the route that explains a job. */
import { priorityMax } from '../../../../streams/topics/index.ts'
import {
  acceptedSchema,
  answers,
  closed,
  enumOf,
  flag,
  idParams,
  integer,
  integerUpTo,
  jobStatuses,
  listOf,
  named,
  open,
  orNull,
  runWaitMs,
  staleQuery,
  staleSchema,
  text,
  textOrNull,
  textUpTo,
  time,
  timeOrNull,
  titled,
} from './common.ts'
import { listLimitDefault, listLimitMax } from './limits.ts'

export const activeStatuses = ['DISPATCHED', 'RUNNING', 'RETRY_WAIT', 'WAITING'] as const

/** Runs are filtered by fields of their jobs. */
export const jobFilter = {
  tag: textUpTo(64, 'One of the tags of the job.'),
  handler: textUpTo(128, 'Name of the handler of the job.'),
} as const

/** Pages of runs are counted in jobs. */
export const jobPages = {
  limit: integerUpTo(listLimitMax, listLimitDefault, 'Maximum number of jobs, not runs.'),
  cursor: { type: 'string', minLength: 1, description: 'The cursor of the previous page.' },
  ...staleQuery,
} as const

export const runSchema = titled(
  'Run',
  {
    runId: text('<jobId>/<runNo>'),
    jobId: { type: 'string' },
    runNo: { type: 'integer' },
    status: enumOf(['DISPATCHED', 'RUNNING', 'RETRY_WAIT', 'SUCCEEDED', 'EXPIRED', 'CANCELLED', 'DEAD', 'WAITING']),
    trigger: enumOf(['SCHEDULE', 'MANUAL', 'REDRIVE', 'BACKFILL', 'FOLLOW_UP']),
    commandId: { type: ['string', 'null'] },
    scheduledFor: time,
    attempts: integer('Attempts that started.'),
    attempt: integer('Number of the current or last one, with those that did not start.'),
    dueAt: { ...time, description: 'When the last attempt was due; a wait for a limit counts as before it.' },
    dispatchedAt: { ...time, description: 'When the last attempt was dispatched.' },
    startDeadlineAt: { ...time, description: 'While active: the current attempt must start before this time.' },
    waitsFor: {
      type: ['string', 'null'],
      enum: ['SLOT', 'RATE', 'HANDLER', 'POOL_PAUSED', null],
      description:
        'While WAITING: SLOT for a slot of its concurrencyKey, RATE for the start that its rateLimit gave it, HANDLER for a worker that has its handler, POOL_PAUSED until its pool is resumed.',
    },
    limitKey: textOrNull('While it waits for SLOT or RATE: its concurrencyKey, or the key of its rateLimit.'),
    startedAt: timeOrNull,
    finishedAt: timeOrNull,
    worker: { type: ['string', 'null'] },
    handler: text('Handler of the run. Absent for a topic, or if another definition made the run.'),
    pool: text('Pool of its workers; absent like the handler.'),
    progress: {
      type: ['number', 'null'],
      description: 'While it runs: the completed share that the handler reported last, from 0 to 1.',
    },
    message: textOrNull('While it runs: the last progress message of the handler.'),
    checkedAt: { ...timeOrNull, description: 'While it runs: when the last heartbeat was read.' },
    result: { description: 'The return value of the handler.' },
    note: textOrNull('Which part of the final report was left out, and why.'),
    errors: listOf(
      open(
        'AttemptError',
        {
          attempt: { type: 'integer' },
          at: time,
          worker: { type: ['string', 'null'] },
          type: { type: 'string' },
          message: { type: 'string' },
          dueAt: { ...time, description: 'When the attempt was due.' },
          dispatchedAt: time,
          startedAt: { ...timeOrNull, description: 'When the attempt started; null if it did not.' },
          stack: textOrNull('Only in the answer about one run: the stack of its last error, at most 2,000 characters.'),
        },
        ['stack'],
      ),
      'The last five failed attempts.',
    ),
  },
  [
    'runId',
    'jobId',
    'runNo',
    'status',
    'trigger',
    'scheduledFor',
    'attempts',
    'startedAt',
    'finishedAt',
    'worker',
    'result',
    'errors',
  ],
)

/** What the handler of a run gets, in the words of a definition. */
export const inputProperties = {
  target: { type: 'object' },
  priority: {
    description: `HIGH, NORMAL or LOW, or a number from 0 to ${priorityMax}, as it was written.`,
    anyOf: [{ type: 'string' }, { type: 'integer', minimum: 0, maximum: priorityMax }],
  },
  attempt: { type: 'integer' },
  specOffset: integer('Offset in the topic jobs of the definition from which the run was created.'),
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
    redrivable: flag('Whether it is a dead run that can be redriven.'),
    lastRunNo: integer('Number of the last run of the job.'),
    onSuccess: listOf({ type: 'string' }, 'Jobs that follow a success, by the definition in force.'),
    onFailure: listOf({ type: 'string' }, 'Jobs that follow a failure, by the definition in force.'),
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
    commandId: textUpTo(512, 'The run that this command made, such as a trigger.'),
    etag: {
      type: 'string',
      pattern: '^"?\\d{1,9}\\.\\d{1,16}"?$',
      description: 'The first run that ends of the definition with this ETag. A later definition of the job has runs of its own.',
    },
    timeoutMs: { ...runWaitMs, description: 'How long the answer waits. Unit: ms.' },
  }),
  response: answers(
    named('AwaitedRun', {
      ended: flag('False: the run is still awaited.'),
      run: orNull(runSchema, 'The run that has ended. Null: it is still awaited, or reason says why it cannot come.'),
      reason: textOrNull('Why there is no such run, in a sentence.'),
    }),
  ),
} as const

export const listRunsSchema = {
  operationId: 'listRuns',
  tags: ['Runs'],
  summary: 'Active runs of a job, then its last ended ones, newest first',
  params: idParams,
  querystring: closed(staleQuery),
  response: answers(named('RunList', { runs: listOf(runSchema) })),
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
    state: enumOf(activeStatuses, 'Only runs in this state.'),
    ...jobFilter,
    ...jobPages,
  }),
  response: answers(
    named(
      'RunPage',
      {
        runs: listOf(runSchema),
        cursor: textOrNull('Cursor of the next page; null at the end.'),
        stale: staleSchema,
      },
      ['stale'],
    ),
  ),
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
  response: answers(runDetailSchema),
} as const

export const whySchema = {
  operationId: 'explainJob',
  tags: ['Jobs'],
  summary: 'Explain why a job fired or did not: the current state, then the last decisions, newest first',
  params: idParams,
  querystring: closed(staleQuery),
  response: answers(
    named('JobExplanation', {
      id: { type: 'string' },
      status: { type: 'string', enum: jobStatuses },
      why: listOf(
        open(
          'Reason',
          {
            code: { type: 'string' },
            text: { type: 'string' },
            at: timeOrNull,
            commandId: text('The refused command, if the reason is one.'),
          },
          ['commandId'],
        ),
      ),
    }),
  ),
} as const
