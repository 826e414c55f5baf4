/** Joins an executor to a real cluster, for programs that run their own handlers. */
import { type Logger, pino } from 'pino'
import { settingsSchema } from '../../../schemas/index.ts'
import { httpHandlerName } from '../../../streams/targets/index.ts'
import { type TopicNames, topicsOfPool } from '../../../streams/topics/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import { LazyWriter } from '../../ground/concurrency/index.ts'
import { DuelogError, requireKnown, requireLogger, requireNode } from '../../ground/errors/index.ts'
import { limitRecordLogs } from '../../ground/logging/index.ts'
import { type Metrics, newMetrics } from '../../ground/metrics/index.ts'
import { newInstance } from '../../ground/process/index.ts'
import {
  type ClusterOptions,
  clusterOf,
  clusterOptionNames,
  endParts,
  processClock,
  type Step,
  topicPrefixDefault,
  watchClock,
  whenRegistryIsUp,
} from '../../log/cluster/index.ts'
import { PauseBook } from '../../log/pauses/index.ts'
import {
  builtInHandlers,
  Executor,
  type ExecutorView,
  type GivenHandlers,
  type HandlersFor,
  type Hook,
  handlerProblem,
  hooksProblem,
  reservedNameProblem,
} from '../../worker/executor/index.ts'
import type { AnyPayloads } from '../client/index.ts'
import { requireSound } from './option-checks.ts'

// From the schema itself: the room of the settings also loads ajv, which a worker does not need.
const httpDenyDefault = settingsSchema.properties.DUELOG_HTTP_DENY.default.split(',')
const clockStepMsMaxDefault = settingsSchema.properties.DUELOG_CLOCK_STEP_MS_MAX.default

/** `Payloads`: those of the handlers, by name, for the compiler; it may be left out. */
export interface WorkerOptions<Payloads extends object = AnyPayloads> extends Omit<ClusterOptions, 'logger'> {
  /** Pool of the worker; its topics must exist. Default `default`. */
  pool?: string | undefined
  /** Maximum handlers that run concurrently, at least 1. Default 50. */
  concurrency?: number | undefined
  /**
   * By name; a handler may take runs in batches, see BatchHandler, and may have a schema for its payload, see withSchema. The built-in ones (noop, log, sleep, fail, kafka.produce) are
   * there too, `http` only with one of the options that begin with http. Their names are reserved.
   */
  handlers: HandlersFor<Payloads>
  /** What to do around each run: logs, metrics, traces, context. The first one is the outermost. Default: none. */
  hooks?: readonly Hook[] | undefined
  /**
   * Addresses and networks that http targets must not reach. Default: that of DUELOG_HTTP_DENY. With this option, httpAllow or httpSigningKey this
   * worker makes the requests of http targets; without them it leaves them to other workers of its pool.
   */
  httpDeny?: string[] | undefined
  /** Addresses and networks that they may reach anyway. Default: none. */
  httpAllow?: string[] | undefined
  /** Key that signs the requests of http targets: whsec_ and 24 to 64 bytes in base64. Default: none. */
  httpSigningKey?: string | undefined
  /**
   * First part of the worker's name in the API, and what a job's `pinTo` names; of several workers with one name, one takes the run.
   * 1 to 255 characters without `@`, `:` and spaces. Default `worker`.
   */
  name?: string | undefined
  /**
   * How far the clock of this machine may step, or differ from the brokers' clocks, in ms. Beyond that no handler is started
   * until they agree. 0: nothing is compared. Default 2,000, like DUELOG_CLOCK_STEP_MS_MAX.
   */
  clockStepMsMax?: number | undefined
  /** Whether the lines of run.log are written to the topic run-logs. Default true. */
  runLogs?: boolean | undefined
  /** How long close() waits for handlers before it gives their runs back, in ms. Default 25,000. */
  drainMs?: number | undefined
  /** Default: warnings and errors, to standard output. */
  logger?: Logger | undefined
  /** Metrics for the program to show; see its `registry`. */
  metrics?: Metrics | undefined
}

const workerOptionNames = {
  ...clusterOptionNames,
  ...{ handlers: true, pool: true, concurrency: true, name: true, drainMs: true, metrics: true, clockStepMsMax: true },
  ...{ hooks: true, runLogs: true, httpDeny: true, httpAllow: true, httpSigningKey: true },
} as const satisfies Record<keyof WorkerOptions, true>

export interface Worker {
  /**
   * Joins the pool's group. Rejects with DuelogError `broker-unavailable`, with `registry-unavailable` after 20 s, or with `unsafe-topic` if the
   * pool has no topics; the worker is closed then, and another attempt needs another worker.
   */
  start(): Promise<void>
  /**
   * Takes no more runs, lets handlers finish, gives back the rest and leaves; if no broker answers, within 5 s. Safe to call
   * twice.
   */
  close(): Promise<void>
  /** The current state; undefined before start. */
  current(): ExecutorView | undefined
}

/** Throws DuelogError `bad-config`, also for a Node that is too old. */
export function createWorker<Payloads extends object = AnyPayloads>(options: WorkerOptions<Payloads>): Worker {
  requireNode('createWorker')
  requireOptions(options)
  const { pool = 'default', concurrency = 50, name = 'worker', drainMs = 25_000 } = options
  const logger = options.logger ?? pino({ name, level: 'warn', ...limitRecordLogs() })
  const metrics = options.metrics ?? newMetrics()
  const stepMsMax = options.clockStepMsMax ?? clockStepMsMaxDefault
  const clock = processClock({ stepMsMax, needsProof: false, metrics, logger })
  const { log, names, openCodecs } = clusterOf({ ...options, logger }, clock.appended)
  let starting: Promise<Executor> | undefined
  let executor: Executor | undefined
  let pauses: PauseBook | undefined
  let closed = false
  let endWatch: (() => Promise<void>) | undefined
  const produced = new LazyWriter(log)
  const builtIn = builtInsOf(options as WorkerOptions, produced, clock)
  const open = async (): Promise<Executor> => {
    await requirePoolTopics(() => log.topics(), names, pool)
    const codecs = await whenRegistryIsUp(() => openCodecs([pool]), { clock, logger, isClosed: () => closed })
    const instance = newInstance(name)
    pauses = new PauseBook({ log, codec: codecs.pause, names, instance, clock, metrics, logger })
    if (!closed) await pauses.start()
    executor = new Executor({
      log,
      codecs: { ...codecs, runLog: options.runLogs === false ? undefined : codecs.runLog },
      names,
      pool,
      concurrency,
      // Payload types exist for the compiler only.
      handlers: { ...builtIn, ...(options.handlers as GivenHandlers) },
      hooks: options.hooks,
      instance,
      clock,
      metrics,
      logger,
      drainMs,
      pauses,
    })
    // The number of partitions is unknown here; the first one always exists.
    endWatch = watchClock(clock, { log, topics: [names.events, names.jobs], partitions: 1, instance: newInstance(name) })
    if (!closed) await executor.start()
    return executor
  }
  const release = (): Promise<void> => {
    const stops = [endWatch, () => pauses?.stop(), () => produced.close(), () => executor?.stop()]
    const steps: Step[] = stops.map((stop) => async () => stop?.())
    return endParts(steps, { log, clock, logger, onGivenUp: () => executor?.giveBack() })
  }
  return {
    async start() {
      starting ??= open().catch(async (error: unknown) => {
        // Open connections would go on trying, and keep the program of a caller alive that handles the error.
        await release()
        throw error
      })
      await starting
    },
    async close() {
      closed = true
      await starting?.catch(() => undefined)
      await release()
    },
    current: () => executor?.current(),
  }
}

/** Throws DuelogError `bad-config`. */
function requireOptions<Payloads extends object>(options: WorkerOptions<Payloads>): void {
  requireKnown('createWorker', options, workerOptionNames)
  requireSound('createWorker', options)
  if (options.logger !== undefined) requireLogger('createWorker', options.logger)
  requireHandlers(options.handlers)
  const hookProblem = options.hooks === undefined ? undefined : hooksProblem(options.hooks)
  if (hookProblem !== undefined) throw new DuelogError('bad-config', hookProblem)
  const { name } = options
  if (name === undefined || (typeof name === 'string' && /^[^@:\s]{1,255}$/.test(name))) return
  const allowed = '1 to 255 characters without "@", ":" and spaces'
  throw new DuelogError('bad-config', `name of the worker is ${JSON.stringify(name)}; allowed: ${allowed}`)
}

/**
 * Without `http` unless the program says how to make requests. It shares the pool of the built-in worker, and would otherwise send a part
 * of the webhooks without their signature, and refuse addresses that the settings of Duelog allow.
 */
function builtInsOf(options: WorkerOptions, produced: LazyWriter, clock: Clock): GivenHandlers {
  const { httpDeny, httpAllow, httpSigningKey, topicPrefix } = options
  const { [httpHandlerName]: http, ...others } = builtInHandlers({
    httpDeny: httpDeny ?? httpDenyDefault,
    httpAllow: httpAllow ?? [],
    httpSigningKey,
    writer: () => produced.open(),
    prefix: topicPrefix ?? topicPrefixDefault,
    clock,
  })
  const makesRequests = [httpDeny, httpAllow, httpSigningKey].some((option) => option !== undefined)
  return makesRequests && http !== undefined ? { ...others, [httpHandlerName]: http } : others
}

function requireHandlers(handlers: unknown): void {
  if (typeof handlers !== 'object' || handlers === null)
    throw new DuelogError(
      'bad-config',
      'handlers of createWorker is missing; give an object of functions by name, {} for the built-in ones alone',
    )
  for (const [name, handler] of Object.entries(handlers)) {
    const problem = reservedNameProblem(name) ?? handlerProblem(name, handler)
    if (problem !== undefined) throw new DuelogError('bad-config', problem)
  }
}

/** Rejects with DuelogError `unsafe-topic`, which names the pool and what to do. `topics`: those that this worker may see. */
async function requirePoolTopics(topics: () => Promise<string[]>, names: TopicNames, pool: string): Promise<void> {
  const existing = new Set(await topics())
  const missing = topicsOfPool(names, pool).find((topic) => !existing.has(topic))
  if (missing === undefined) return
  // A worker has the right to see this topic in any case.
  if (!existing.has(names.control))
    throw new DuelogError(
      'unsafe-topic',
      `There is no Duelog here: ${names.control} does not exist, or this worker may not see it. Start Duelog first, which creates its topics, or name its topicPrefix and its brokers. With ACLs, grant Describe on its topics.`,
    )
  throw new DuelogError(
    'unsafe-topic',
    `Pool ${pool} has no topics: ${missing} does not exist, or this worker may not see it. Create them with \`duelog topics apply --pools ${pool}\`, or start Duelog with ${pool} in DUELOG_POOLS, and start the worker again; or name another pool. With ACLs, grant Describe on them.`,
  )
}
