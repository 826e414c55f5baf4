/** Schemas of the routes of pools, and of the pauses of pools and workers. */
import {
  answers,
  closed,
  enumOf,
  integer,
  integerOrNull,
  listOf,
  named,
  text,
  textOrNull,
  textUpTo,
  timeOrNull,
} from './common.ts'
import { workerSchema } from './system.ts'

const count = { type: 'integer' } as const

export const poolSchema = named('Pool', {
  pool: { type: 'string' },
  state: enumOf(
    ['ACTIVE', 'PAUSED', 'DRAINING', 'DRAINED'],
    'PAUSED: nothing starts, and running handlers go on. DRAINING: nothing is dispatched, and its workers still start what was. DRAINED: that is done.',
  ),
  stateSince: { ...timeOrNull, description: 'When it was paused or drained; null while it is active.' },
  pausedBy: textOrNull('Who paused or drained it.'),
  workers: integer('Members of its group. Paused workers have left it.'),
  wanted: {
    anyOf: [
      named('WorkersWanted', {
        workers: integer('Workers that the pool needs for its load, from 0 on, as the metric `duelog_pool_workers_wanted`.'),
        reason: enumOf(
          ['idle', 'running', 'backlog', 'forecast', 'arrivals', 'lateness', 'owners-unknown'],
          'What asks for so many: handlers at work, runs that wait, that come due, or that come now; that runs have waited too long; or that an owner does not answer, so that no worker is given up.',
        ),
        backlog: integer('Runs that wait for a worker.'),
        forecast: integer('Runs that come due within 30 s.'),
        lateMs: integer('How long the oldest of the backlog has waited at least, in ms.'),
      }),
      { type: 'null' },
    ],
    description: 'Null if it could not be measured.',
  },
  slots: integerOrNull('Handlers that its workers run at once; null if one does not say.'),
  handlers: listOf({ type: 'string' }, 'Handlers that its workers announce, at most 1,000.'),
  dispatched: integer('Runs that were dispatched and have not started.'),
  running: integer('Runs whose handler runs.'),
  waiting: integer('Runs that wait for a retry, a limit, a handler or the pool.'),
  withoutHandler: integer('Those of `waiting` whose handler no worker of the pool has.'),
  inPausedPool: integer('Those of `waiting` that wait until the pool is resumed.'),
})

export const poolsSchema = {
  operationId: 'listPools',
  tags: ['System'],
  summary: 'Pools with their workers, their runs, and whether they are paused',
  description:
    'Runs are counted for the pool of the definition in force. An owner knows only runs since its takeover at first, so the counts may be too low soon after one.',
  querystring: closed({}),
  response: answers(named('PoolList', { pools: listOf(poolSchema) })),
} as const

export const limitsSchema = {
  operationId: 'listLimits',
  tags: ['System'],
  summary: 'Concurrency keys and rate limits in use, those with most waiting runs first',
  description:
    'At most 200 keys. A key is counted in each partition by itself: jobs share it if they share a partition, as jobs with the same `{tag}` do.',
  querystring: closed({}),
  response: answers(
    named('LimitList', {
      limits: listOf(
        named(
          'Limit',
          {
            partition: count,
            key: text('The `concurrencyKey`, or the key of the `rateLimit`.'),
            limit: integer('Its slots, as of the last request; of a `rateLimit` the starts in `perMs`.'),
            held: integer('Slots in use; of a `rateLimit` the starts of the last `perMs`.'),
            waiting: integer('Runs that wait for a slot; of a `rateLimit` the starts that were given for a later time.'),
            perMs: integer('Of a `rateLimit`. Absent: a `concurrencyKey`.'),
            nextAt: text('Of a `rateLimit`: the earliest start that it would give now. ISO 8601, UTC.'),
          },
          ['perMs', 'nextAt'],
        ),
      ),
      missing: listOf(count, 'Partitions whose owner does not answer.'),
    }),
  ),
} as const

const poolParams = closed({ pool: textUpTo(200) }, ['pool'])
const workerParams = closed({ worker: textUpTo(512) }, ['worker'])
const changed = (params: object, answer: object) =>
  ({ tags: ['System'], querystring: closed({}), params, response: answers(answer) }) as const

export const poolChangeSchemas = {
  pause: {
    operationId: 'pausePool',
    summary: 'Pause a pool: its runs wait',
    description:
      'Jobs fire as before, and their runs wait with `waitsFor` POOL_PAUSED. Runs that were dispatched and not started come back and wait too; running handlers go on. The wait costs no attempt and no time of `startDeadlineMs`; `expireAt` holds. The pause reaches every owner and worker within about a second, and outlives restarts. To pause a paused pool changes nothing.',
    ...changed(poolParams, poolSchema),
  },
  drain: {
    operationId: 'drainPool',
    summary: 'Drain a pool: what was dispatched is done, and further runs wait',
    description: 'As a pause, but its workers still start what was dispatched before. The pool is DRAINED when nothing is left.',
    ...changed(poolParams, poolSchema),
  },
  resume: {
    operationId: 'resumePool',
    summary: 'Resume a pool: the runs that wait are dispatched',
    ...changed(poolParams, poolSchema),
  },
} as const

export const workerChangeSchemas = {
  pause: {
    operationId: 'pauseWorker',
    summary: 'Pause a worker: it takes no runs',
    description:
      'It leaves the groups of its pools, so that other workers take their partitions. Running handlers go on; what it has not started goes to others. A run that is pinned to it waits. The pause holds until it is resumed or ends.',
    ...changed(workerParams, workerSchema),
  },
  drain: {
    operationId: 'drainWorker',
    summary: 'Drain a worker: it takes no runs, and is DRAINED when its handlers have ended',
    ...changed(workerParams, workerSchema),
  },
  resume: {
    operationId: 'resumeWorker',
    summary: 'Resume a worker: it takes runs again',
    ...changed(workerParams, workerSchema),
  },
} as const
