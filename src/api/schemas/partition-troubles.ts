/** What `/v1/partitions` says of a log that is not as it was, and of a transaction that holds a partition up. */
import { time } from './common.ts'

export const openTransactionSchema = {
  type: ['object', 'null'],
  additionalProperties: false,
  required: ['topic', 'offset', 'records', 'since'],
  properties: { topic: { type: 'string' }, offset: { type: 'integer' }, records: { type: 'integer' }, since: time },
  description:
    'A transaction that some client has left open for a minute or longer: nobody can read the `records` from `offset` on before it ends. `since`: when its owner first saw it. Null: none is known.',
} as const

export const lastResetSchema = {
  type: ['object', 'null'],
  additionalProperties: false,
  required: ['topic', 'from', 'to', 'reason', 'at'],
  properties: {
    topic: { type: 'string' },
    from: { type: 'integer' },
    to: { type: 'integer' },
    reason: { type: 'string', enum: ['beyond-end', 'expired', 'lost'] },
    at: time,
  },
  description:
    'The last position of its owner that lay outside its log, which was read from `to` on instead: beyond-end when the topic was truncated, or deleted and made anew; expired when records expired unread; lost when job-state holds nothing of what was decided, and jobs began anew. Of a job-state beyond its end, `to` is where the log began that the local store was logged to again. Null: none since the process of the owner began.',
} as const
