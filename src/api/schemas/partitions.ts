/** Schema of the route that shows the partitions. */
import { closed, orNull, problemResponses } from './common.ts'
import { lastResetSchema, openTransactionSchema } from './partition-troubles.ts'

export const partitionsSchema = {
  operationId: 'listPartitions',
  tags: ['System'],
  summary: 'Who owns each partition, and where it stands',
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
              ...['restoreRemaining', 'restoreTotal', 'restoreShare', 'underWay', 'standbys'],
              ...['zoneRules', 'zoneRulesDiffer', 'zoneWalk', 'lastReset', 'openTransaction'],
            ],
            properties: {
              partition: { type: 'integer' },
              phase: {
                type: 'string',
                enum: ['restoring', 'claiming', 'active', 'closed'],
                description: 'active: it fires. restoring: its owner reads the logs. closed: no owner answers for it.',
              },
              overdueMs: {
                type: 'integer',
                description: 'How long the oldest timer that is due has waited; 0 when none is overdue.',
              },
              problem: {
                type: ['string', 'null'],
                description:
                  'Why its owner decides nothing for now, whatever the phase: its clock is not trusted. Null: nothing is wrong.',
              },
              lag: orNull(
                {
                  title: 'OwnerLag',
                  type: 'object',
                  additionalProperties: false,
                  required: ['jobs', 'commands', 'events'],
                  properties: { jobs: { type: 'integer' }, commands: { type: 'integer' }, events: { type: 'integer' } },
                },
                'Places of each log that the owner has not applied yet; null while it is not active.',
              ),
              mailboxDepth: { type: 'integer', description: 'Records read and not yet applied.' },
              jobsOffset: { type: 'integer' },
              underWay: {
                title: 'UnderWay',
                type: 'object',
                description: 'Active runs that its owner knows of, by what they wait for.',
                properties: { dispatched: { type: 'integer' }, running: { type: 'integer' }, waiting: { type: 'integer' } },
              },
              restoreRemaining: { type: 'integer', description: 'Records still to be read.' },
              restoreTotal: { type: 'integer', description: 'Of how many.' },
              restoreShare: {
                type: ['number', 'null'],
                description: 'Share of the restore that is done, from 0 to 1; null without an owner.',
              },
              instance: { type: ['string', 'null'] },
              url: { type: ['string', 'null'], description: 'Null for the process that answers.' },
              zoneRules: {
                type: ['string', 'null'],
                description: 'Version of the time zone rules that its owner goes by, such as 2026a; null where nobody says.',
              },
              zoneRulesDiffer: {
                type: 'boolean',
                description: 'Whether a standby has other rules than the owner, which is right.',
              },
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
                'While its jobs are looked at because these rules have changed: how many were, and how many moved; null else.',
              ),
              standbys: {
                type: 'array',
                description: 'Processes that keep a copy of the partition, ready to take it over.',
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
                      description: 'following: it keeps up. restoring: it still reads the logs.',
                    },
                    behindRecords: {
                      type: ['integer', 'null'],
                      description: 'Records of the logs that it lacks, as far as it knows; null while its store cannot be read.',
                    },
                    zoneRules: {
                      type: ['string', 'null'],
                      description: 'Version of its time zone rules; null where it does not say.',
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
