/** Parts of the JSON schemas of several routes. They check requests and document answers. */
import { jobIdBytesMax } from '../../../streams/definitions/index.ts'
import { errorTable } from '../../errors/index.ts'
import { runWaitMsDefault, runWaitMsMax } from './limits.ts'

export const jobStatuses = ['ACTIVE', 'PAUSED', 'COMPLETED', 'INVALID'] as const

/** A named schema or null. Generators of clients lose the name of a type if one schema lists several types. */
export const orNull = <Schema extends object, Description extends string>(schema: Schema, description: Description) => ({
  anyOf: [schema, { type: 'null' }] as const,
  description,
})

/** An object without further properties: a misspelled name is refused, not ignored. */
export const closed = <Properties extends object>(properties: Properties, required: readonly string[] = []) => ({
  type: 'object' as const,
  additionalProperties: false as const,
  properties,
  required,
})

export const time = { type: 'string', description: 'Time in ISO 8601, UTC.' } as const
export const timeOrNull = { type: ['string', 'null'], description: 'Time in ISO 8601, UTC; null if there is none.' } as const
/** One branch for each type: generators of typed clients ignore several types in one schema. */
export const instantSchema = {
  title: 'Instant',
  description: 'Time in ISO 8601 with an offset, or epoch ms.',
  oneOf: [{ type: 'string' }, { type: 'integer' }],
} as const
export const timeInput = { type: 'string', description: 'Time in ISO 8601 with an offset, or epoch ms.' } as const

// The limit is in bytes, which JSON schema cannot say; the routes check it.
export const idParams = closed(
  { id: { type: 'string', description: `Job id, percent-encoded: 1 to ${jobIdBytesMax} bytes of UTF-8.` } },
  ['id'],
)

const ifMatch = {
  type: 'string',
  description: 'The write happens only if the job has this ETag. With * it may have any ETag. Otherwise the answer is 412.',
} as const

export const ifMatchHeaders = { type: 'object', properties: { 'if-match': ifMatch } } as const

export const putHeaders = {
  type: 'object',
  properties: {
    'if-match': ifMatch,
    'if-none-match': {
      type: 'string',
      description: 'Only * is possible: the write happens only if the job does not exist. Otherwise the answer is 412.',
    },
  },
} as const

const keyed = (meaning: string) =>
  ({
    type: 'object',
    properties: {
      'idempotency-key': {
        type: 'string',
        pattern: '^[!-~]{1,255}$',
        description: `Chosen by you: 1 to 255 visible ASCII characters. ${meaning}`,
      },
    },
  }) as const

export const idempotencyHeaders = keyed(
  'A repeat of the same command to the same job or run with the same key has no further effect and gets the same answer as the first, even if the first answer was lost: only one run is created. This holds as long as the command is one of the last 32 of the job, or its run is active or the last one. Without the key, each request is a separate command.',
)

/** The same for a request that creates a job. */
export const createHeaders = keyed(
  'A repeat by the same caller with the same key and the same definition creates no second job as long as the first exists. It is answered with the first job and 200, even if the first answer was lost. The same key with another definition creates another job.',
)

export const waitQuery = closed({
  wait: {
    type: 'string',
    enum: ['applied'],
    description: 'The answer waits until the owner has applied the change. It is 202 if that takes more than 5 s.',
  },
})

export const runWaitMs = {
  type: 'integer',
  minimum: 1,
  maximum: runWaitMsMax,
  default: runWaitMsDefault,
  description: 'With wait=ended: how long the answer waits. Unit: ms.',
} as const

/** The same for requests that make a run. */
export const endedWaitQuery = closed({
  wait: {
    type: 'string',
    enum: ['applied', 'ended'],
    description:
      'applied: the answer waits until the owner has applied the change; it is 202 if that takes more than 5 s. ended: the answer waits until the first run of this definition, or of a later one, has ended, and has the run; it is 202 if that takes more than timeoutMs.',
  },
  timeoutMs: runWaitMs,
})

export const staleQuery = {
  stale: {
    type: 'boolean',
    description:
      'true: if the owner of a partition does not answer, the copy of a standby is read, or the part that the owner has restored so far. The header Duelog-Stale then names each such partition and the number of records of the logs that its copy lacks: `3;behind=120`, or `behind=unknown` for an owner that may have been replaced. Such an answer has no ETag.',
  },
} as const

/** The copies from which a list was read. */
export const staleSchema = {
  type: 'array',
  description:
    'With stale=true: partitions that were read from a copy, as in the header Duelog-Stale. Absent if all owners answered.',
  items: {
    title: 'StaleCopy',
    type: 'object',
    additionalProperties: false,
    required: ['partition', 'behindRecords'],
    properties: {
      partition: { type: 'integer' },
      behindRecords: { type: ['integer', 'null'], description: 'Null: not known.' },
    },
  },
} as const

/** A problem with one field of a definition. */
export const fieldProblemSchema = {
  title: 'FieldProblem',
  type: 'object',
  required: ['field', 'limit', 'message'],
  properties: { field: { type: 'string' }, value: {}, limit: { type: 'string' }, message: { type: 'string' } },
} as const

export const problemSchema = {
  title: 'Problem',
  type: 'object',
  description: 'Problem details, RFC 9457.',
  required: ['type', 'title', 'status', 'detail', 'code', 'retriable'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string', description: 'Meaning of the code.' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What happened, where, and what to do.' },
    code: { type: 'string', enum: Object.keys(errorTable), description: 'Stable; programs may rely on it.' },
    retriable: { type: 'boolean', description: 'Whether the same request may succeed later.' },
    instance: { type: 'string', description: 'Identifies the request in the log of the server.' },
    problems: { type: 'array', items: fieldProblemSchema },
  },
} as const

/** Every route may answer with a problem. */
export const problemResponses = { '4xx': problemSchema, '5xx': problemSchema } as const

/** A change that is in the log. `applied`: the owner has confirmed that it applied it. */
export const acceptedSchema = {
  title: 'Accepted',
  type: 'object',
  required: ['id', 'etag', 'partition', 'offset', 'applied'],
  additionalProperties: false,
  properties: {
    id: { type: 'string' },
    etag: { type: 'string', description: 'Version of the definition, as in the ETag header.' },
    partition: { type: 'integer' },
    offset: { type: 'integer' },
    applied: { type: 'boolean' },
    status: {
      type: 'string',
      enum: jobStatuses,
      description: 'With wait=applied: status of the job with this definition. INVALID: it does not fire, and reason says why.',
    },
    reason: { type: 'string', description: 'With status INVALID: why.' },
    code: {
      type: 'string',
      const: 'wait-timeout',
      description: 'With 202: the change is durable, but what the request waits for did not happen in time.',
    },
    detail: { type: 'string' },
    warnings: {
      type: 'array',
      items: { type: 'string' },
      description:
        'Allowed but probably unintended, such as a cycle of onSuccess and onFailure, or a limit shared by jobs of several partitions. Absent: no warnings.',
    },
  },
} as const
