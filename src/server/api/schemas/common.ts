/** Parts of the JSON schemas of several routes. They check requests and document answers. */
import { jobIdBytesMax } from '../../../../streams/definitions/index.ts'
import { errorTable } from '../../../ground/errors/index.ts'
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

/** The same as a component of the document. */
export const titled = <Properties extends object>(title: string, ...given: Parameters<typeof closed<Properties>>) => ({
  title,
  ...closed(...given),
})

/** An object of an answer, a component of the document: its properties and no others. All are required but the optional ones. */
export const named = <Properties extends object>(
  title: string,
  properties: Properties,
  optional: readonly (keyof Properties)[] = [],
) => ({
  ...{ title, type: 'object' as const, additionalProperties: false as const },
  ...{ required: Object.keys(properties).filter((name) => !optional.includes(name as keyof Properties)), properties },
})

/** The same with room for further properties. */
export const open = <Properties extends object>(...given: Parameters<typeof named<Properties>>) => {
  const { additionalProperties: _, ...schema } = named(...given)
  return schema
}

const described = (description?: string) => (description === undefined ? {} : { description })
export const text = (description?: string) => ({ type: 'string', ...described(description) }) as const
export const textUpTo = (maxLength: number, description?: string) =>
  ({ type: 'string', minLength: 1, maxLength, ...described(description) }) as const
export const textOrNull = (description?: string) => ({ type: ['string', 'null'], ...described(description) }) as const
export const integer = (description?: string) => ({ type: 'integer', ...described(description) }) as const
/** From 1 on. */
export const integerUpTo = (maximum: number, fallback: number, description?: string) =>
  ({ type: 'integer', minimum: 1, maximum, default: fallback, ...described(description) }) as const
export const enumOf = <Value extends string>(values: readonly Value[], description?: string) =>
  ({ type: 'string', enum: values, ...described(description) }) as const
export const integerOrNull = (description?: string) => ({ type: ['integer', 'null'], ...described(description) }) as const
export const flag = (description?: string) => ({ type: 'boolean', ...described(description) }) as const
export const listOf = <Items extends object>(items: Items, description?: string) =>
  ({ type: 'array', items, ...described(description) }) as const

export const time = text('Time in ISO 8601, UTC.')
export const timeOrNull = textOrNull('Time in ISO 8601, UTC; null if there is none.')
/** One branch for each type: generators of typed clients ignore several types in one schema. */
export const instantSchema = {
  title: 'Instant',
  description: 'Time in ISO 8601 with an offset, or epoch ms.',
  oneOf: [{ type: 'string' }, { type: 'integer' }],
} as const
export const timeInput = text('Time in ISO 8601 with an offset, or epoch ms.')

// The limit is in bytes, which JSON schema cannot say; the routes check it.
export const idParams = closed({ id: text(`Job id, percent-encoded: 1 to ${jobIdBytesMax} bytes of UTF-8.`) }, ['id'])

const ifMatch = text('The write happens only if the job has this ETag. With * it may have any ETag. Otherwise the answer is 412.')

export const ifMatchHeaders = { type: 'object', properties: { 'if-match': ifMatch } } as const

export const putHeaders = {
  type: 'object',
  properties: {
    'if-match': ifMatch,
    'if-none-match': text('Only * is possible: the write happens only if the job does not exist. Otherwise the answer is 412.'),
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
  wait: enumOf(['applied'], 'The answer waits until the owner has applied the change. It is 202 if that takes more than 5 s.'),
})

export const runWaitMs = integerUpTo(runWaitMsMax, runWaitMsDefault, 'With wait=ended: how long the answer waits. Unit: ms.')

/** The same for requests that make a run. */
export const endedWaitQuery = closed({
  wait: enumOf(
    ['applied', 'ended'],
    'applied: the answer waits until the owner has applied the change; it is 202 if that takes more than 5 s. ended: the answer waits until the first run of this definition, or of a later one, has ended, and has the run; it is 202 if that takes more than timeoutMs.',
  ),
  timeoutMs: runWaitMs,
})

export const staleQuery = {
  stale: flag(
    'true: if the owner of a partition does not answer, the copy of a standby is read, or the part that the owner has restored so far. The header Duelog-Stale then names each such partition and the number of records of the logs that its copy lacks: `3;behind=120`, or `behind=unknown` for an owner that may have been replaced. Such an answer has no ETag.',
  ),
} as const

/** The copies from which a list was read. */
export const staleSchema = listOf(
  named('StaleCopy', {
    partition: { type: 'integer' },
    behindRecords: integerOrNull('Null: not known.'),
  }),
  'With stale=true: partitions that were read from a copy, as in the header Duelog-Stale. Absent if all owners answered.',
)

/** A problem with one field of a definition. */
export const fieldProblemSchema = open(
  'FieldProblem',
  { field: { type: 'string' }, value: {}, limit: { type: 'string' }, message: { type: 'string' } },
  ['value'],
)

export const problemSchema = {
  ...open(
    'Problem',
    {
      type: { type: 'string' },
      title: text('Meaning of the code.'),
      status: { type: 'integer' },
      detail: text('What happened, where, and what to do.'),
      code: enumOf(Object.keys(errorTable), 'Stable; programs may rely on it.'),
      retriable: flag('Whether the same request may succeed later.'),
      instance: text('Identifies the request in the log of the server.'),
      problems: listOf(fieldProblemSchema),
    },
    ['instance', 'problems'],
  ),
  description: 'Problem details, RFC 9457.',
} as const

/** Every route may answer with a problem. */
export const problemResponses = { '4xx': problemSchema, '5xx': problemSchema } as const

/** The answers of a route that has one, besides problems. */
export const answers = <Answer extends object>(answer: Answer) => ({ 200: answer, ...problemResponses }) as const

/** A change that is in the log. `applied`: the owner has confirmed that it applied it. */
export const acceptedSchema = named(
  'Accepted',
  {
    id: { type: 'string' },
    etag: text('Version of the definition, as in the ETag header.'),
    partition: { type: 'integer' },
    offset: { type: 'integer' },
    applied: { type: 'boolean' },
    status: enumOf(
      jobStatuses,
      'With wait=applied: status of the job with this definition. INVALID: it does not fire, and reason says why.',
    ),
    reason: text('With status INVALID: why.'),
    code: {
      type: 'string',
      const: 'wait-timeout',
      description: 'With 202: the change is durable, but what the request waits for did not happen in time.',
    },
    detail: { type: 'string' },
    warnings: listOf(
      { type: 'string' },
      'Allowed but probably unintended, such as a cycle of onSuccess and onFailure, or a limit shared by jobs of several partitions. Absent: no warnings.',
    ),
  },
  ['status', 'reason', 'code', 'detail', 'warnings'],
)
