/** Schemas of the routes of the session, of the live events, and of the series: what happened in each step of the last hour or 24 h. */
import {
  answers,
  closed,
  enumOf,
  flag,
  integer,
  integerOrNull,
  listOf,
  named,
  open,
  orNull,
  text,
  textOrNull,
  time,
  timeOrNull,
} from './common.ts'
import { seriesDayMs, seriesFineStepMs, seriesHourMs, seriesMarksMax, seriesStepMs } from './limits.ts'
import { latenessSchema, standingSchema } from './partitions.ts'

export const sessionSchema = {
  operationId: 'getSession',
  tags: ['System'],
  summary: 'Role and name of the caller',
  querystring: closed({}),
  response: answers(
    named('Session', {
      role: enumOf(['viewer', 'operator', 'admin']),
      authentication: flag('False: this system requires no token.'),
      name: textOrNull('Name of the token, or its role; the subject of a JWT. Null without authentication.'),
    }),
  ),
} as const

const count = { type: 'integer' } as const
const countByName = { type: 'object', additionalProperties: count } as const
const epochMs = integer('Epoch ms.')

const countsSchema = {
  ...open('Counts', {
    definitions: integer('Definitions that were applied.'),
    dispatched: integer('Attempts handed to workers.'),
    written: integer('Records written to topic targets.'),
    retries: integer('Failed attempts that are retried.'),
    leasesLost: count,
    ended: { ...countByName, description: 'Runs that ended, by status.' },
    skipped: { ...countByName, description: 'Skipped occurrences, by reason.' },
    lateness: listOf(
      { type: 'array', minItems: 2, maxItems: 2, items: {} },
      'Reported starts by lateness, as pairs: upper bound in ms (null: none), and the number of starts between the previous bound and this one.',
    ),
  }),
  description: 'Sums over all owners. They fall when a process ends, so a negative difference means nothing.',
} as const

const ownerStateSchema = {
  ...open(
    'OwnerState',
    {
      partition: count,
      phase: enumOf(['restoring', 'following', 'claiming', 'active', 'closed']),
      restoreRemaining: integer('Records that remain to be read in the restore.'),
      restoreTotal: integer('All records of the restore.'),
      mailboxDepth: integer('Records read and not yet applied.'),
      jobsOffset: count,
      overdueMs: { type: 'number', description: 'Time in ms that the oldest due timer has waited; 0 if none is overdue.' },
      lateness: latenessSchema('OwnerStartLateness'),
      zoneRules: text('Version of the time zone rules of the owner, such as 2026a.'),
      zoneWalk: orNull(
        open('OwnerZoneWalk', { checked: count, moved: count }),
        'While its jobs are checked after a change of these rules.',
      ),
      problem: textOrNull('Why the owner decides nothing at the moment.'),
      lastReset: orNull(
        open('OwnerPositionReset', {
          topic: { type: 'string' },
          from: count,
          to: count,
          reason: enumOf(['beyond-end', 'expired', 'lost']),
          at: epochMs,
        }),
        'The last position that was outside its log.',
      ),
      openTransaction: orNull(
        open('OwnerOpenTransaction', { topic: { type: 'string' }, offset: count, records: count, since: epochMs }),
        'A transaction that blocks one of its topics.',
      ),
      underWay: open('OwnerActiveRuns', {
        dispatched: count,
        running: count,
        waiting: count,
        withoutHandler: count,
        inPausedPools: count,
      }),
      pools: listOf(
        open('OwnerPoolRuns', {
          pool: { type: 'string' },
          ...{ dispatched: count, running: count, waiting: count, withoutHandler: count, inPausedPools: count },
        }),
        'The same by pool: that of the definition in force. At most 1,000 pools.',
      ),
      standing: standingSchema('OwnerStanding'),
      instance: textOrNull('name@host:pid:boot; null if no member is assigned or it does not answer.'),
      url: textOrNull('Null for the process that answers, and without an owner.'),
    },
    ['lateness', 'zoneRules', 'zoneWalk', 'problem', 'lastReset', 'openTransaction', 'pools', 'standing'],
  ),
  description: 'State of a partition, as its owner reports it. Fields that are not required are absent while it has none.',
} as const

/** The data of an event. No route answers it as JSON, so the document lists it by itself. */
export const statsMessageSchema = {
  ...open(
    'StatsMessage',
    {
      at: epochMs,
      counts: countsSchema,
      partitions: listOf(ownerStateSchema),
      proof: orNull(
        open('ProofSummary', {
          ...{ found: count, unacknowledged: count, audited: count },
          judgedUntil: integerOrNull('Epoch ms.'),
        }),
        'Findings of the auditors, and the time up to which they have judged; null if unknown.',
      ),
    },
    ['proof'],
  ),
  description: 'The data of each event of /v1/events.',
} as const

export const eventsSchema = {
  operationId: 'listenEvents',
  tags: ['System'],
  summary: 'State of the system, as server-sent events',
  description:
    'One event `pulse` each second. It has the counts of all owners, a view of each partition, and the findings of the auditors. A count never decreases while its process runs.',
  produces: ['text/event-stream'],
  querystring: closed({}),
  response: answers(text('text/event-stream')),
} as const

const column = (description: string) =>
  ({
    type: 'array',
    maxItems: seriesDayMs / seriesStepMs,
    items: { type: ['number', 'null'], minimum: 0 },
    description,
  }) as const

const columns = {
  dispatched: column('Attempts handed to workers, and records written to topic targets.'),
  started: column('Starts that workers reported, and records written to topic targets.'),
  ended: column('Runs that ended, with any status.'),
  failed: column('Of these, runs that ended as FAILED or DEAD.'),
  retried: column('Failed attempts that are retried.'),
  skipped: column('Skipped occurrences.'),
  active: column('Largest number of dispatched and running runs.'),
  waiting: column('Largest number of runs that waited for a retry or a limit.'),
  backlog: column('Largest number of undelivered attempts and unprocessed records.'),
  overdueMs: column('Longest time in ms that a due timer had waited.'),
  deadLetters: column('Dead letters that stood at the end of the step.'),
  p50Ms: column('Start lateness in ms that half of the starts did not exceed. Null if none was reported.'),
  p99Ms: column('The same for 99 of 100 starts.'),
  maxMs: column('Bound in ms of the latest start. The classes of lateness are 25% wide.'),
} as const

export const seriesSchema = {
  operationId: 'getSeries',
  tags: ['System'],
  summary: 'What happened in the last hour or the last 24 h, for charts',
  description: `The process that answers asks all owners every ${seriesFineStepMs / 1_000} s. It keeps steps of ${seriesFineStepMs / 1_000} s for ${seriesHourMs / 3_600_000} h in memory, and of ${seriesStepMs / 60_000} min for ${seriesDayMs / 3_600_000} h in memory and in its data folder, so a restart leaves a gap and loses nothing before it. In the first hour after a restart, the last hour has steps of a minute too. Each column has one value for each step; null where nothing is known.`,
  querystring: closed({ range: { type: 'string', enum: ['hour', 'day'], default: 'day' } }),
  response: answers(
    named('Series', {
      range: enumOf(['hour', 'day']),
      rangeMs: { type: 'integer' },
      stepMs: { type: 'integer' },
      from: { ...timeOrNull, description: 'Begin of the first step; null if there is none yet.' },
      columns: named('SeriesColumns', columns),
      marks: {
        type: 'array',
        maxItems: seriesMarksMax,
        description: 'Processes that started, partitions that moved to another owner, and versions that changed. Oldest first.',
        items: named('SeriesMark', {
          at: time,
          kind: enumOf(['start', 'takeover', 'deploy']),
          text: { type: 'string' },
          version: textOrNull('The versions that ran from then on, where they became known.'),
        }),
      },
    }),
  ),
} as const
