/** Schemas of two problems in `/v1/partitions`: a position outside its log, and an open transaction that blocks a partition. */
import { orNull, time } from './common.ts'

const openTransaction = {
  title: 'OpenTransaction',
  type: 'object',
  additionalProperties: false,
  required: ['topic', 'offset', 'records', 'since'],
  properties: { topic: { type: 'string' }, offset: { type: 'integer' }, records: { type: 'integer' }, since: time },
} as const

export const openTransactionSchema = orNull(
  openTransaction,
  'A transaction that a client has left open for a minute or longer. Until it ends, the `records` from `offset` on cannot be read. `since`: when the owner of the partition first saw it. Null: none is known.',
)

const lastReset = {
  title: 'PositionReset',
  type: 'object',
  additionalProperties: false,
  required: ['topic', 'from', 'to', 'reason', 'at'],
  properties: {
    topic: { type: 'string' },
    from: { type: 'integer' },
    to: { type: 'integer' },
    reason: { type: 'string', enum: ['beyond-end', 'expired', 'lost'] },
    at: time,
  },
} as const

export const lastResetSchema = orNull(
  lastReset,
  'The last position of the owner that was outside its log. The log was read from `to` on instead. beyond-end: the topic was truncated, or deleted and created again. expired: records expired before they were read. lost: job-state has no decided states, and jobs begins again. For job-state with beyond-end, `to` is the start of the log to which the local store was written again. Null: none since the process of the owner started.',
)
