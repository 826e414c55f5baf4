/** A test system as users see it, and its options. */
import type { Logger } from 'pino'
import { isPoolName, poolNameLimit } from '../../streams/definitions/index.ts'
import { httpHandlerName } from '../../streams/targets/index.ts'
import type { AnyPayloads, Client, Time } from '../clients/client/index.ts'
import { DuelogError, requireKnown, requireLogger, requireNode } from '../ground/errors/index.ts'
import { isPayloadSchema, type PayloadSchema } from '../ground/records/index.ts'
import { type HandlersFor, type Hook, handlerProblem, hooksProblem, reservedNameProblem } from '../worker/executor/index.ts'
import { checkZone } from './times.ts'
import type { TestRecord } from './topic-records.ts'

/**
 * The client of a Duelog in memory, and what moves its time. Requests are answered once everything that is due at this instant has happened; only
 * `advanceTo`, `advanceBy` and waits for runs and lines move virtual time.
 */
export interface TestSystem<Payloads extends object = AnyPayloads> extends Client<Payloads> {
  /** Virtual time in epoch ms. */
  now(): number
  /** Lets time pass to an instant, and everything happen that is due by then. Rejects with `bad-request` for a time before now. */
  advanceTo(time: Time): Promise<void>
  /** Lets this many ms pass. */
  advanceBy(ms: number): Promise<void>
  /** Resolves when this many ms of virtual time have passed. Handlers wait with it; it rejects with the signal's reason. */
  sleep(ms: number, options?: { signal?: AbortSignal | undefined }): Promise<void>
  /** Records of a topic that jobs or handlers wrote, in the order of their appends. */
  records(topic: string): Promise<TestRecord[]>
  /** Starts another worker, of the pool `default` and with the name `worker` unless others are given. Resolves with its full name. */
  startWorker(options?: { pool?: string | undefined; name?: string | undefined }): Promise<string>
  /** Stops one worker, or all, as a deploy does: their handlers have 25 s to return. `name`: the full name, or that which was given. */
  stopWorker(name?: string): Promise<void>
  /**
   * One worker dies, or all: nothing that they have not written yet is known to anybody. Their runs begin another attempt once their leases are over.
   * Each is replaced at once, unless `restart` is false.
   */
  crashWorker(name?: string, options?: { restart?: boolean | undefined }): Promise<void>
  /**
   * The worker of the running run of this job is cut off until the lease is lost, so time passes. Its handlers go on meanwhile. The next attempt
   * may begin while the first one still runs, whose outcome no longer counts.
   */
  loseLease(id: string): Promise<void>
  /** The scheduler dies and another one takes over; with `storeLost`, from the log alone. */
  crashScheduler(options?: { storeLost?: boolean | undefined }): Promise<void>
}

export interface TestSystemOptions<Payloads extends object = AnyPayloads> {
  /**
   * As for createWorker, or a function that makes them for this test system, which gives them its `sleep` and `now`. The built-in handlers noop,
   * log, sleep, fail and kafka.produce are there too; their names are reserved.
   */
  handlers: HandlersFor<Payloads> | ((duelog: TestSystem) => HandlersFor<Payloads>)
  /** Hooks around each run, as for createWorker. Default: none. */
  hooks?: readonly Hook[] | undefined
  /** Schemas of payloads by handler, as for createClient. Default: none. */
  schemas?: Readonly<Record<string, PayloadSchema>> | undefined
  /** Zone of times without an offset that are given to the test system, such as Europe/Paris. Default: times need an offset. */
  zone?: string | undefined
  /** Virtual time at the start. Default: 2027-01-01T00:00:00Z. */
  now?: Time | undefined
  /** Chooses the order of all that happens at one instant; the same seed gives the same order. A whole number from 0 on. Default 1. */
  seed?: number | undefined
  /** Pools of workers. Default: `default` alone. */
  pools?: readonly string[] | undefined
  /** Handlers that one worker runs at once, at least 1. Default 50. */
  concurrency?: number | undefined
  /** Topics that jobs may write to. Default: all. */
  topics?: readonly string[] | undefined
  /** Partitions of every topic, 1 to 64. Default 2. */
  partitions?: number | undefined
  /** How long virtual time waits for a handler that works in real time, in real ms. Then it goes on without it. Default 1,000. */
  handlerWaitMs?: number | undefined
  /** The most steps of one call, at least 1. The call rejects beyond that. Default 2,000,000, about a minute. */
  stepsMax?: number | undefined
  /** Default: nothing is logged. */
  logger?: Logger | undefined
}

const optionNames = {
  ...{ handlers: true, hooks: true, schemas: true, zone: true, now: true, seed: true, pools: true, concurrency: true },
  ...{ topics: true, partitions: true, handlerWaitMs: true, stepsMax: true, logger: true },
} as const satisfies Record<keyof TestSystemOptions, true>

/** Throws `bad-config`. */
export function checkOptions(options: TestSystemOptions): void {
  requireNode('testSystem')
  requireKnown('testSystem', options, optionNames)
  const { hooks, schemas = {} } = options
  const problem = hooks === undefined ? undefined : hooksProblem(hooks)
  if (problem !== undefined) throw wrong(problem)
  if (typeof schemas !== 'object' || schemas === null || Array.isArray(schemas))
    throw wrong('schemas of testSystem is no object of schemas by handler')
  for (const [name, schema] of Object.entries(schemas))
    if (!isPayloadSchema(schema))
      throw wrong(`schemas of testSystem: the one of handler ${JSON.stringify(name)} does not follow Standard Schema`)
  checkZone(options.zone)
  checkNumbers(options)
  for (const list of ['pools', 'topics'] as const) checkNames(list, options[list])
  checkPools(options.pools)
  if (options.logger !== undefined) requireLogger('testSystem', options.logger)
  if (options.pools?.length === 0) throw wrong('pools of testSystem is empty; give at least one name')
}

/** Throws `bad-config`. */
export function checkHandlers(handlers: unknown): void {
  if (typeof handlers === 'object' && handlers !== null && 'then' in handlers && typeof handlers.then === 'function')
    throw wrong('handlers of testSystem is a promise; the function that makes the handlers must return them at once')
  if (typeof handlers !== 'object' || handlers === null || Array.isArray(handlers))
    throw wrong('handlers of testSystem is missing; give an object of functions by name, {} for the built-in ones alone')
  for (const [name, handler] of Object.entries(handlers)) {
    // A handler of a test may answer for the requests of `target.http`.
    const problem = (name === httpHandlerName ? undefined : reservedNameProblem(name)) ?? handlerProblem(name, handler)
    if (problem !== undefined) throw wrong(problem)
  }
}

function checkNumbers(options: TestSystemOptions): void {
  const limits = [
    ['seed', 0, Number.MAX_SAFE_INTEGER],
    ['concurrency', 1, 10_000],
    ['partitions', 1, 64],
    ['handlerWaitMs', 1, 600_000],
    ['stepsMax', 1, Number.MAX_SAFE_INTEGER],
  ] as const
  for (const [name, min, max] of limits) {
    const { [name]: value = min } = options
    if (!Number.isInteger(value) || value < min || value > max)
      throw wrong(`${name} of testSystem is ${JSON.stringify(value)}; allowed: a whole number from ${min} to ${max}`)
  }
}

function checkNames(what: string, names: unknown): void {
  if (names === undefined) return
  const areNames = Array.isArray(names) && names.every((name) => typeof name === 'string' && name !== '')
  if (!areNames) throw wrong(`${what} of testSystem is no list of names`)
}

function checkPools(pools: readonly string[] | undefined): void {
  const odd = pools?.find((pool) => !isPoolName(pool))
  if (odd !== undefined) throw wrong(`pools of testSystem has ${JSON.stringify(odd)}; allowed: ${poolNameLimit}`)
  if (pools !== undefined && new Set(pools).size < pools.length) throw wrong('pools of testSystem names a pool twice')
}

const wrong = (message: string): DuelogError => new DuelogError('bad-config', message)
