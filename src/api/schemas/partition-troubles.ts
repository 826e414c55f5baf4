/** Schemas of problems in `/v1/partitions`: a position outside its log, an open transaction that blocks a partition, and what needs attention. */
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

/** `title`: of the type in the document; two routes have it. */
export const standingSchema = (title: string) =>
  orNull(
    {
      title,
      type: 'object',
      additionalProperties: false,
      required: ['deadRuns', 'deadJobs', 'invalid', 'paused'],
      properties: {
        deadRuns: { type: 'integer', description: 'Dead letters: runs that can be redriven.' },
        deadJobs: { type: 'integer', description: 'Jobs that have dead letters.' },
        invalid: { type: 'integer', description: 'INVALID jobs.' },
        paused: { type: 'integer', description: 'PAUSED jobs.' },
      },
    } as const,
    'What needs attention until somebody acts. Its owner counts it from its store, so a restart does not change it. Null while it is being counted, or if the owner does not tell.',
  )

/** `title`: as above. */
export const latenessSchema = (title: string) =>
  orNull(
    {
      title,
      type: 'object',
      additionalProperties: false,
      required: ['starts', 'p50Ms', 'p99Ms', 'maxMs'],
      properties: {
        starts: { type: 'integer', description: 'Handlers that started, as their workers reported to this owner.' },
        p50Ms: { type: 'integer', description: 'Half of them started later than this after their due time, to 25%.' },
        p99Ms: { type: 'integer', description: '1% of them started later than this, to 25%.' },
        maxMs: { type: 'integer' },
      },
    } as const,
    'Start lateness of the last five minutes. Null: nothing started, or the owner does not tell.',
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
