/** Schemas of the partitions and of their problems: a position outside its log, an open transaction, and what needs attention. */
import { answers, closed, enumOf, flag, integer, integerOrNull, listOf, named, orNull, textOrNull, time } from './common.ts'

const openTransaction = named('OpenTransaction', {
  topic: { type: 'string' },
  offset: { type: 'integer' },
  records: { type: 'integer' },
  since: time,
})

export const openTransactionSchema = orNull(
  openTransaction,
  'A transaction that a client has left open for a minute or longer. Until it ends, the `records` from `offset` on cannot be read. `since`: when the owner of the partition first saw it. Null: none is known.',
)

/** `title`: of the type in the document; two routes have it. */
export const standingSchema = (title: string) =>
  orNull(
    named(title, {
      deadRuns: integer('Dead letters: runs that can be redriven.'),
      deadJobs: integer('Jobs that have dead letters.'),
      invalid: integer('INVALID jobs.'),
      paused: integer('PAUSED jobs.'),
    }),
    'What needs attention until somebody acts. Its owner counts it from its store, so a restart does not change it. Null while it is being counted, or if the owner does not tell.',
  )

/** `title`: as above. */
export const latenessSchema = (title: string) =>
  orNull(
    named(title, {
      starts: integer('Handlers that started, as their workers reported to this owner.'),
      p50Ms: integer('Half of them started later than this after their due time, to 25%.'),
      p99Ms: integer('1% of them started later than this, to 25%.'),
      maxMs: { type: 'integer' },
    }),
    'Start lateness of the last five minutes. Null: nothing started, or the owner does not tell.',
  )

const lastReset = named('PositionReset', {
  topic: { type: 'string' },
  from: { type: 'integer' },
  to: { type: 'integer' },
  reason: enumOf(['beyond-end', 'expired', 'lost']),
  at: time,
})

export const lastResetSchema = orNull(
  lastReset,
  'The last position of the owner that was outside its log. The log was read from `to` on instead. beyond-end: the topic was truncated, or deleted and created again. expired: records expired before they were read. lost: job-state has no decided states, and jobs begins again. Null: none since the process of the owner started.',
)

export const partitionsSchema = {
  operationId: 'listPartitions',
  tags: ['System'],
  summary: 'Partitions with their owners, phases and lag',
  querystring: closed({}),
  response: answers(
    named('PartitionList', {
      partitions: listOf(
        named(
          'Partition',
          {
            partition: { type: 'integer' },
            phase: enumOf(
              ['restoring', 'claiming', 'active', 'closed'],
              'active: it fires. restoring: its owner reads the logs. claiming: its owner takes it over. closed: no owner answers for it.',
            ),
            overdueMs: integer('Time in ms that the oldest due timer has waited; 0 if none is overdue.'),
            lateness: latenessSchema('StartLateness'),
            problem: textOrNull(
              'Why its owner decides nothing at the moment, in any phase: its clock is not trusted. Null: no problem.',
            ),
            lag: orNull(
              named('OwnerLag', { jobs: { type: 'integer' }, commands: { type: 'integer' }, events: { type: 'integer' } }),
              'Offsets of each log that the owner has not applied yet; null while it is not active.',
            ),
            mailboxDepth: integer('Records read and not yet applied.'),
            jobsOffset: { type: 'integer' },
            underWay: {
              title: 'UnderWay',
              type: 'object',
              description: 'Active runs that its owner knows, by status.',
              properties: {
                dispatched: { type: 'integer' },
                running: { type: 'integer' },
                waiting: { type: 'integer' },
                withoutHandler: integer('Those of the waiting runs whose handler no worker of their pool has.'),
                inPausedPools: integer('Those of the waiting runs whose pool is paused or drained.'),
              },
            },
            restoreRemaining: integer('Records that remain to be read in the restore.'),
            restoreTotal: integer('All records of the restore.'),
            restoreShare: {
              type: ['number', 'null'],
              description: 'Completed share of the restore, from 0 to 1; null without an owner.',
            },
            instance: { type: ['string', 'null'] },
            url: textOrNull('Null for the process that answers.'),
            zoneRules: textOrNull('Version of the time zone rules of its owner, such as 2026a; null if not known.'),
            zoneRulesDiffer: flag('Whether a standby has other rules than the owner. The rules of the owner apply.'),
            standing: standingSchema('Standing'),
            lastReset: lastResetSchema,
            openTransaction: openTransactionSchema,
            zoneWalk: orNull(
              named('ZoneWalk', { checked: { type: 'integer' }, moved: { type: 'integer' } }),
              'While its jobs are checked after a change of these rules: the number checked, and the number whose next time moved. Otherwise null.',
            ),
            standbys: listOf(
              named('Standby', {
                instance: textOrNull('name@host:pid:boot'),
                url: textOrNull('Null for the process that answers.'),
                phase: enumOf(
                  ['restoring', 'following', 'claiming', 'closed'],
                  'following: it keeps up with the logs. restoring: it still reads them.',
                ),
                behindRecords: integerOrNull(
                  'Number of records that its copy lacks, as far as it knows; null while its store cannot be read.',
                ),
                zoneRules: textOrNull('Version of its time zone rules; null if not known.'),
              }),
              'Processes that keep a copy of the partition for a takeover.',
            ),
          },
          ['problem'],
        ),
      ),
    }),
  ),
} as const
