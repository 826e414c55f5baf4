/** Parts of the JSON schemas of several routes. Requests are checked against them; answers are documented by them. */
import { jobIdBytesMax } from '../../../streams/definitions/index.ts'
import { errorTable } from '../../errors/index.ts'

export const jobStatuses = ['ACTIVE', 'PAUSED', 'COMPLETED', 'INVALID'] as const

/** What has a name of its own, or null: generators lose the name of a type that is one of several in one schema. */
export const orNull = <Schema extends object, Description extends string>(schema: Schema, description: Description) => ({
  anyOf: [schema, { type: 'null' }] as const,
  description,
})

/** A request's own part is closed: a misspelt name is refused, not ignored. */
export const closed = <Properties extends object>(properties: Properties, required: readonly string[] = []) => ({
  type: 'object' as const,
  additionalProperties: false as const,
  properties,
  required,
})

export const time = { type: 'string', description: 'Time in ISO 8601, UTC.' } as const
export const timeOrNull = { type: ['string', 'null'], description: 'Time in ISO 8601, UTC; null where there is none.' } as const
/** One branch for each type: generators of typed clients make nothing of several types in one schema. */
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

export const ifMatchHeaders = {
  type: 'object',
  properties: { 'if-match': { type: 'string', description: 'Only if the job has this ETag; * for any. Else 412.' } },
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
  'A repeat of the same command to the same job or run with the same key does nothing more and answers as the first, also after a lost answer: one run comes of it. It holds as long as the command is one of the last 32 of the job, or its run is active or the last one. Without it, each request is a command of its own.',
)

/** The same of a request that makes a job. */
export const createHeaders = keyed(
  'A repeat by the same caller with the same key and the same definition makes no second job as long as the first is there, and is answered with that one and 200, also after a lost answer. The same key with another definition makes another job.',
)

export const waitQuery = closed({
  wait: {
    type: 'string',
    enum: ['applied'],
    description: 'Answer when the owner has applied the change; 202 when it has not within 5 s.',
  },
})

export const staleQuery = {
  stale: {
    type: 'boolean',
    description:
      'true: where the owner does not answer, the copy of a standby does, or what the owner has restored so far. The header Duelog-Stale then names each such partition and how many records of the logs its copy lacks: `3;behind=120`, or `behind=unknown` for an owner that may have been replaced. Such an answer has no ETag.',
  },
} as const

/** What a list that was read from copies says of them. */
export const staleSchema = {
  type: 'array',
  description: 'With stale=true: partitions that a copy answered for, as in the header Duelog-Stale. Absent when all are fresh.',
  items: {
    title: 'StaleCopy',
    type: 'object',
    additionalProperties: false,
    required: ['partition', 'behindRecords'],
    properties: {
      partition: { type: 'integer' },
      behindRecords: { type: ['integer', 'null'], description: 'Null: it is not known.' },
    },
  },
} as const

/** What is wrong with one field of a definition. */
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
    title: { type: 'string', description: 'What the code means.' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What happened, where, and what to do.' },
    code: { type: 'string', enum: Object.keys(errorTable), description: 'Stable; programs may rely on it.' },
    retriable: { type: 'boolean', description: 'Whether the same request may succeed later.' },
    instance: { type: 'string', description: 'Names the request in the log of the server.' },
    problems: { type: 'array', items: fieldProblemSchema },
  },
} as const

/** Every route may answer with a problem. */
export const problemResponses = { '4xx': problemSchema, '5xx': problemSchema } as const

/** A change that is in the log. `applied` tells whether the owner was seen to have taken it in. */
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
      description: 'With wait=applied: how the job stands with this definition. INVALID: it does not fire, and reason says why.',
    },
    reason: { type: 'string', description: 'With status INVALID: why.' },
    code: {
      type: 'string',
      const: 'wait-timeout',
      description: 'With 202: the change is durable, but was not seen applied in time.',
    },
    detail: { type: 'string' },
    warnings: {
      type: 'array',
      items: { type: 'string' },
      description: 'What is allowed and hardly meant, such as a circle of onSuccess and onFailure. Absent: nothing was found.',
    },
  },
} as const
