/** Schema of the route that shows the partitions. */
import { closed, orNull, problemResponses } from './common.ts'
import { lastResetSchema, latenessSchema, openTransactionSchema, standingSchema } from './partition-troubles.ts'

export const partitionsSchema = {
  operationId: 'listPartitions',
  tags: ['System'],
  summary: 'Partitions with their owners, phases and lag',
  querystring: closed({}),
  response: {
    200: {
      type: 'object',
      title: 'PartitionList',
      required: ['partitions'],
      additionalProperties: false,
      properties: {
        partitions: {
          type: 'array',
          items: {
            title: 'Partition',
            type: 'object',
            additionalProperties: false,
            required: [
              ...['partition', 'phase', 'instance', 'url', 'overdueMs', 'lag', 'mailboxDepth', 'jobsOffset'],
              ...['restoreRemaining', 'restoreTotal', 'restoreShare', 'underWay', 'lateness', 'standbys'],
              ...['zoneRules', 'zoneRulesDiffer', 'zoneWalk', 'lastReset', 'openTransaction', 'standing'],
            ],
            properties: {
              partition: { type: 'integer' },
              phase: {
                type: 'string',
                enum: ['restoring', 'claiming', 'active', 'closed'],
                description:
                  'active: it fires. restoring: its owner reads the logs. claiming: its owner takes it over. closed: no owner answers for it.',
              },
              overdueMs: {
                type: 'integer',
                description: 'Time in ms that the oldest due timer has waited; 0 if none is overdue.',
              },
              lateness: latenessSchema('StartLateness'),
              problem: {
                type: ['string', 'null'],
                description:
                  'Why its owner decides nothing at the moment, in any phase: its clock is not trusted. Null: no problem.',
              },
              lag: orNull(
                {
                  title: 'OwnerLag',
                  type: 'object',
                  additionalProperties: false,
                  required: ['jobs', 'commands', 'events'],
                  properties: { jobs: { type: 'integer' }, commands: { type: 'integer' }, events: { type: 'integer' } },
                },
                'Offsets of each log that the owner has not applied yet; null while it is not active.',
              ),
              mailboxDepth: { type: 'integer', description: 'Records read and not yet applied.' },
              jobsOffset: { type: 'integer' },
              underWay: {
                title: 'UnderWay',
                type: 'object',
                description: 'Active runs that its owner knows, by status.',
                properties: {
                  dispatched: { type: 'integer' },
                  running: { type: 'integer' },
                  waiting: { type: 'integer' },
                  withoutHandler: {
                    type: 'integer',
                    description: 'Those of the waiting runs whose handler no worker of their pool has.',
                  },
                  inPausedPools: {
                    type: 'integer',
                    description: 'Those of the waiting runs whose pool is paused or drained.',
                  },
                },
              },
              restoreRemaining: { type: 'integer', description: 'Records that remain to be read in the restore.' },
              restoreTotal: { type: 'integer', description: 'All records of the restore.' },
              restoreShare: {
                type: ['number', 'null'],
                description: 'Completed share of the restore, from 0 to 1; null without an owner.',
              },
              instance: { type: ['string', 'null'] },
              url: { type: ['string', 'null'], description: 'Null for the process that answers.' },
              zoneRules: {
                type: ['string', 'null'],
                description: 'Version of the time zone rules of its owner, such as 2026a; null if not known.',
              },
              zoneRulesDiffer: {
                type: 'boolean',
                description: 'Whether a standby has other rules than the owner. The rules of the owner apply.',
              },
              standing: standingSchema('Standing'),
              lastReset: lastResetSchema,
              openTransaction: openTransactionSchema,
              zoneWalk: orNull(
                {
                  title: 'ZoneWalk',
                  type: 'object',
                  additionalProperties: false,
                  required: ['checked', 'moved'],
                  properties: { checked: { type: 'integer' }, moved: { type: 'integer' } },
                },
                'While its jobs are checked after a change of these rules: the number checked, and the number whose next time moved. Otherwise null.',
              ),
              standbys: {
                type: 'array',
                description: 'Processes that keep a copy of the partition for a takeover.',
                items: {
                  title: 'Standby',
                  type: 'object',
                  additionalProperties: false,
                  required: ['instance', 'url', 'phase', 'behindRecords', 'zoneRules'],
                  properties: {
                    instance: { type: ['string', 'null'], description: 'name@host:pid:boot' },
                    url: { type: ['string', 'null'], description: 'Null for the process that answers.' },
                    phase: {
                      type: 'string',
                      enum: ['restoring', 'following', 'claiming', 'closed'],
                      description: 'following: it keeps up with the logs. restoring: it still reads them.',
                    },
                    behindRecords: {
                      type: ['integer', 'null'],
                      description:
                        'Number of records that its copy lacks, as far as it knows; null while its store cannot be read.',
                    },
                    zoneRules: {
                      type: ['string', 'null'],
                      description: 'Version of its time zone rules; null if not known.',
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
    ...problemResponses,
  },
} as const
