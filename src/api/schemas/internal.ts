/** Schemas of the routes between processes of one system. They are not part of the public API. */
import { closed } from './common.ts'
import { listChunkMax } from './limits.ts'

const partition = { type: 'integer', minimum: 0 } as const
const offset = { type: 'integer', minimum: 0 } as const

/** Not in the published description. */
const hide = { hide: true } as const

export const internalPartitionsSchema = { ...hide, querystring: closed({}) } as const

export const internalJobSchema = {
  ...hide,
  params: closed({ partition, id: { type: 'string' } }, ['partition', 'id']),
  querystring: closed({}),
} as const

export const internalDeadRunSchema = {
  ...hide,
  params: closed({ partition, id: { type: 'string' }, runNo: { type: 'integer', minimum: 1 } }, ['partition', 'id', 'runNo']),
  querystring: closed({ stale: { type: 'boolean' } }),
} as const
/** A copy may answer as well; it may be stale. */
export const internalReadSchema = { ...internalJobSchema, querystring: closed({ stale: { type: 'boolean' } }) } as const

export const internalListSchema = {
  ...hide,
  params: closed({ partition }, ['partition']),
  querystring: closed(
    {
      status: { type: 'string' },
      tag: { type: 'string' },
      handler: { type: 'string' },
      dead: { type: 'boolean' },
      idPrefix: { type: 'string' },
      idContains: { type: 'string' },
      runStatus: { type: 'string' },
      active: { type: 'boolean' },
      dueBefore: { type: 'integer' },
      limit: { type: 'integer', minimum: 1, maximum: listChunkMax },
      after: { type: 'string' },
      stale: { type: 'boolean' },
    },
    ['limit'],
  ),
} as const

const epochMs = { type: 'integer', minimum: 0 } as const

export const internalForecastSchema = {
  ...hide,
  params: closed({ partition }, ['partition']),
  querystring: closed({ from: epochMs, to: epochMs, bucketMs: { type: 'integer', minimum: 1 } }, ['from', 'to', 'bucketMs']),
} as const

export const internalWorkersSchema = {
  ...hide,
  params: closed({ partition }, ['partition']),
  querystring: closed({}),
} as const

export const internalAppliedSchema = {
  ...hide,
  params: closed({ partition }, ['partition']),
  querystring: closed({ jobs: offset, commands: offset, timeoutMs: { type: 'integer', minimum: 0, maximum: 60_000 } }, [
    'timeoutMs',
  ]),
} as const
