/** Duelog in memory and in virtual time, for tests of handlers, schedules and flows: no Kafka, no network, no files, no waiting. */
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { httpHandlerName } from '../../streams/targets/index.ts'
import { isoTime, quoted } from '../../streams/text/index.ts'
import { type AnyPayloads, type Client, createHttpClient, PayloadChecker } from '../clients/client/index.ts'
import type { Clock } from '../ground/clock/index.ts'
import { DuelogError } from '../ground/errors/index.ts'
import type { Fetch } from '../ground/network/index.ts'
import type { LogWriter } from '../ground/ports/index.ts'
import { builtInHandlers, type GivenHandlers, type Handlers, NonRetryableError, type Run } from '../worker/executor/index.ts'
import { Driver } from './driver.ts'
import { timeMsDefault } from './fake-run.ts'
import { HandlerCalls } from './handler-calls.ts'
import { checkHandlers, checkOptions, type TestSystem, type TestSystemOptions } from './options.ts'
import { Processes, prefix } from './processes.ts'
import { openServer, type Server } from './server.ts'
import { type Brokers, Chance, Io, ManualClock, MemoryLog, VirtualTime } from './simulation/index.ts'
import { checkMs, Sleeps } from './sleeps.ts'
import { timeOf } from './times.ts'
import { recordsOf } from './topic-records.ts'
import { WorkerFaults } from './worker-faults.ts'

/**
 * `Payloads`, payloads by handler: with it the compiler checks each job, as with createClient. Throws DuelogError `bad-config` for an option that is
 * unknown or not allowed.
 */
export function testSystem<Payloads extends object = AnyPayloads, Handled extends object = Payloads>(
  options: TestSystemOptions<Handled>,
): TestSystem<Payloads> {
  checkOptions(options as unknown as TestSystemOptions)
  const { handlers } = options
  let given: GivenHandlers = {}
  const system = systemOf(options as unknown as TestSystemOptions, () => given)
  const made: unknown = typeof handlers === 'function' ? handlers(system) : handlers
  checkHandlers(made)
  given = made as GivenHandlers
  return system as unknown as TestSystem<Payloads>
}

/** `given`: the handlers of the user, asked for when the first worker starts. */
function systemOf(options: TestSystemOptions, given: () => GivenHandlers): TestSystem {
  const { zone, seed = 1, partitions = 2, pools = ['default'], concurrency = 50, handlerWaitMs = 1_000 } = options
  const { hooks = [], topics, logger, schemas, stepsMax = 2_000_000 } = options
  const time = new VirtualTime(options.now === undefined ? timeMsDefault : timeOf(options.now, zone, 'now of testSystem'))
  const chance = new Chance(seed)
  const log = new MemoryLog(partitions, () => time.nowMs)
  const faults = { lossiness: 0, slowMs: 0, isFull: false }
  const brokers: Brokers = { time, log, io: new Io(chance), chance, groups: new Set(), clusterId: 'test', ...faults }
  const calls = new HandlerCalls(handlerWaitMs)
  const clock = new ManualClock(time)
  const sleeps = new Sleeps(clock, calls)
  const standard = builtIns(sleeps, clock, () => processes.machine('handlers').log.writer())
  const handlers = (): GivenHandlers => ({ ...standard, ...given() })
  const processes: Processes = new Processes({
    ...{ brokers, calls, handlers, hooks, pools, topics, concurrency, logger },
    onFailure: (error) => {
      driver.failure ??= error
    },
  })
  const driver: Driver = new Driver({ brokers, calls, members: () => processes.members(), stepsMax })
  const start = async (): Promise<Server> => {
    const server = await openServer({ processes, log, pools, topics })
    processes.pauses = server.pauses
    const workers = pools.map((pool) => processes.startWorker(pool, 'worker'))
    const others = [processes.startScheduler(), processes.startRetrier(), server.pauses.start()]
    await driver.during(Promise.all([...others, ...workers]))
    return server
  }
  let server: Promise<Server> | undefined
  const started = (): Promise<Server> => {
    server ??= start()
    return server
  }
  const fetch: Fetch = async (url, { body: given, ...init } = {}) => {
    const { fetch: send } = await started()
    // The lines of an upload may wait for this system, which stands still during a request.
    const body = given instanceof Readable ? await text(given) : given
    return driver.request(() => send(url, { ...init, ...(body !== undefined && { body }) }))
  }
  const address = { url: 'http://localhost', token: undefined, givenBy: 'testSystem', fetch }
  const checker = schemas === undefined ? undefined : new PayloadChecker(schemas)
  const client: Client = createHttpClient(address, undefined, checker, drivenClock(clock, driver))
  const moves = movesOf({ driver, zone, started })
  const records: TestSystem['records'] = async (topic) => {
    await started()
    if (typeof topic !== 'string' || topic === '') throw refused(`The topic of records is ${quoted(topic)}; give its name`)
    return driver.during(Promise.resolve()).then(() => recordsOf(log, topic))
  }
  const workers = new WorkerFaults({ driver, calls, clock, processes, partitions, pools, started })
  return Object.assign(client, moves, {
    records,
    sleep: sleeps.sleep.bind(sleeps),
    startWorker: workers.start.bind(workers),
    stopWorker: workers.stop.bind(workers),
    crashWorker: workers.crash.bind(workers),
    loseLease: workers.loseLease.bind(workers),
    crashScheduler: workers.crashScheduler.bind(workers),
  })
}

interface MovesParts {
  driver: Driver
  zone: string | undefined
  started: () => Promise<unknown>
}

function movesOf({ driver, zone, started }: MovesParts): Pick<TestSystem, 'now' | 'advanceTo' | 'advanceBy'> {
  return {
    now: () => driver.nowMs,
    async advanceTo(time) {
      const untilMs = timeOf(time, zone, 'time of advanceTo')
      await started()
      if (untilMs < driver.nowMs)
        throw refused(`advanceTo goes back from ${isoTime(driver.nowMs)} to ${isoTime(untilMs)}; virtual time only goes on`)
      await driver.advance(untilMs)
    },
    async advanceBy(ms) {
      checkMs(ms, 'ms of advanceBy')
      if (!Number.isInteger(ms)) throw refused(`ms of advanceBy is ${ms}; virtual time has whole ms`)
      await started()
      await driver.advance(driver.nowMs + ms)
    },
  }
}

/** The clock of the client. While the client waits on it, time passes as for a request. */
function drivenClock(clock: ManualClock, driver: Driver): Clock {
  return {
    nowMs: () => clock.nowMs(),
    steadyMs: () => clock.steadyMs(),
    at(atMs, task) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const cancelTimer = clock.at(atMs, () => {
        task()
        resolve()
      })
      void driver.request(() => promise, Number.POSITIVE_INFINITY)
      return () => {
        cancelTimer()
        resolve()
      }
    },
  }
}

/** The handlers of every worker, without those that would use real time or a real network. */
function builtIns(sleeps: Sleeps, clock: ManualClock, writer: () => Promise<LogWriter>): Handlers {
  let opened: Promise<LogWriter> | undefined
  const open = (): Promise<LogWriter> => {
    opened ??= writer()
    return opened
  }
  return {
    ...builtInHandlers({ httpDeny: [], httpSigningKey: undefined, writer: open, prefix, clock }),
    sleep: ({ payload, signal }: Run) => sleeps.sleep((payload as { ms?: number } | null)?.ms ?? Number.NaN, { signal }),
    [httpHandlerName]: ({ http }: Run) => {
      throw new NonRetryableError(
        `testSystem makes no HTTP requests, such as ${http?.method} ${http?.url}. Give it a handler named ${httpHandlerName} that answers instead.`,
      )
    },
  }
}

const refused = (message: string): DuelogError => new DuelogError('bad-request', message)
