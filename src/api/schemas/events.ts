/** Schemas of the routes of the session and of the live events. */
import { closed, orNull, problemResponses } from './common.ts'
import { latenessSchema, standingSchema } from './partition-troubles.ts'

export const sessionSchema = {
  operationId: 'getSession',
  tags: ['System'],
  summary: 'Role and name of the caller',
  querystring: closed({}),
  response: {
    200: {
      title: 'Session',
      type: 'object',
      required: ['role', 'authentication', 'name'],
      additionalProperties: false,
      properties: {
        role: { type: 'string', enum: ['viewer', 'operator', 'admin'] },
        authentication: { type: 'boolean', description: 'False: this system requires no token.' },
        name: {
          type: ['string', 'null'],
          description: 'Name of the token, or its role; the subject of a JWT. Null without authentication.',
        },
      },
    },
    ...problemResponses,
  },
} as const

const count = { type: 'integer' } as const
const countByName = { type: 'object', additionalProperties: count } as const
const epochMs = { type: 'integer', description: 'Epoch ms.' } as const

const countsSchema = {
  title: 'Counts',
  type: 'object',
  description: 'Sums over all owners. They fall when a process ends, so a negative difference means nothing.',
  required: ['definitions', 'dispatched', 'written', 'retries', 'leasesLost', 'ended', 'skipped', 'lateness'],
  properties: {
    definitions: { ...count, description: 'Definitions that were applied.' },
    dispatched: { ...count, description: 'Attempts handed to workers.' },
    written: { ...count, description: 'Records written to topic targets.' },
    retries: { ...count, description: 'Failed attempts that are retried.' },
    leasesLost: count,
    ended: { ...countByName, description: 'Runs that ended, by status.' },
    skipped: { ...countByName, description: 'Skipped occurrences, by reason.' },
    lateness: {
      type: 'array',
      description:
        'Reported starts by lateness, as pairs: upper bound in ms (null: none), and the number of starts between the previous bound and this one.',
      items: { type: 'array', minItems: 2, maxItems: 2, items: {} },
    },
  },
} as const

const ownerStateSchema = {
  title: 'OwnerState',
  type: 'object',
  description:
    'State of a partition, as its owner reports it. Fields that are not required are absent in earlier versions of Duelog.',
  required: [
    ...['partition', 'phase', 'restoreRemaining', 'restoreTotal', 'mailboxDepth', 'jobsOffset', 'overdueMs'],
    ...['underWay', 'instance', 'url'],
  ],
  properties: {
    partition: count,
    phase: { type: 'string', enum: ['restoring', 'following', 'claiming', 'active', 'closed'] },
    restoreRemaining: { ...count, description: 'Records that remain to be read in the restore.' },
    restoreTotal: { ...count, description: 'All records of the restore.' },
    mailboxDepth: { ...count, description: 'Records read and not yet applied.' },
    jobsOffset: count,
    overdueMs: { type: 'number', description: 'Time in ms that the oldest due timer has waited; 0 if none is overdue.' },
    lateness: latenessSchema('OwnerStartLateness'),
    zoneRules: { type: 'string', description: 'Version of the time zone rules of the owner, such as 2026a.' },
    zoneWalk: orNull(
      { title: 'OwnerZoneWalk', type: 'object', required: ['checked', 'moved'], properties: { checked: count, moved: count } },
      'While its jobs are checked after a change of these rules.',
    ),
    problem: { type: ['string', 'null'], description: 'Why the owner decides nothing at the moment.' },
    lastReset: orNull(
      {
        title: 'OwnerPositionReset',
        type: 'object',
        required: ['topic', 'from', 'to', 'reason', 'at'],
        properties: {
          topic: { type: 'string' },
          from: count,
          to: count,
          reason: { type: 'string', enum: ['beyond-end', 'expired', 'lost'] },
          at: epochMs,
        },
      },
      'The last position that was outside its log.',
    ),
    openTransaction: orNull(
      {
        title: 'OwnerOpenTransaction',
        type: 'object',
        required: ['topic', 'offset', 'records', 'since'],
        properties: { topic: { type: 'string' }, offset: count, records: count, since: epochMs },
      },
      'A transaction that blocks one of its topics.',
    ),
    underWay: {
      title: 'OwnerActiveRuns',
      type: 'object',
      required: ['dispatched', 'running', 'waiting'],
      properties: { dispatched: count, running: count, waiting: count, withoutHandler: count, inPausedPools: count },
    },
    pools: {
      type: 'array',
      description: 'The same by pool: that of the definition in force. At most 1,000 pools. Absent in earlier versions.',
      items: {
        title: 'OwnerPoolRuns',
        type: 'object',
        required: ['pool', 'dispatched', 'running', 'waiting', 'withoutHandler'],
        properties: {
          pool: { type: 'string' },
          ...{ dispatched: count, running: count, waiting: count, withoutHandler: count, inPausedPools: count },
        },
      },
    },
    standing: standingSchema('OwnerStanding'),
    instance: {
      type: ['string', 'null'],
      description: 'name@host:pid:boot; null if no member is assigned or it does not answer.',
    },
    url: { type: ['string', 'null'], description: 'Null for the process that answers, and without an owner.' },
  },
} as const

/** The data of an event. No route answers it as JSON, so the document lists it by itself. */
export const statsMessageSchema = {
  title: 'StatsMessage',
  type: 'object',
  description: 'The data of each event of /v1/events.',
  required: ['at', 'counts', 'partitions'],
  properties: {
    at: epochMs,
    counts: countsSchema,
    partitions: { type: 'array', items: ownerStateSchema },
    proof: orNull(
      {
        title: 'ProofSummary',
        type: 'object',
        required: ['found', 'audited', 'judgedUntil'],
        properties: {
          ...{ found: count, unacknowledged: { ...count, description: 'Absent in earlier versions.' }, audited: count },
          judgedUntil: { type: ['integer', 'null'], description: 'Epoch ms.' },
        },
      },
      'Findings of the auditors, and the time up to which they have judged; null if unknown. Absent in earlier versions.',
    ),
  },
} as const

export const eventsSchema = {
  operationId: 'listenEvents',
  tags: ['System'],
  summary: 'State of the system, as server-sent events',
  description:
    'One event `pulse` each second. It has the counts of all owners, a view of each partition, and the findings of the auditors. A count never decreases while its process runs.',
  produces: ['text/event-stream'],
  querystring: closed({}),
  response: { 200: { type: 'string', description: 'text/event-stream' }, ...problemResponses },
} as const

/** Between processes of one system. */
export const internalCountsSchema = { hide: true, querystring: closed({}) } as const
