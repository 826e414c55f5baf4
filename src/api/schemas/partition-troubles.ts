/** What `/v1/partitions` says of a log that is not as it was, and of a transaction that holds a partition up. */
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
  'A transaction that some client has left open for a minute or longer: nobody can read the `records` from `offset` on before it ends. `since`: when its owner first saw it. Null: none is known.',
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
  'The last position of its owner that lay outside its log, which was read from `to` on instead: beyond-end when the topic was truncated, or deleted and made anew; expired when records expired unread; lost when job-state holds nothing of what was decided, and jobs began anew. Of a job-state beyond its end, `to` is where the log began that the local store was logged to again. Null: none since the process of the owner began.',
)
