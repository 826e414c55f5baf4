/** Joins the parts of a test system. */
import { httpHandlerName } from '../../streams/runs/index.ts'
import { PayloadChecker } from '../client/index.ts'
import { builtInHandlers, type GivenHandlers, type Handlers, NonRetryableError, type Run } from '../executor/index.ts'
import type { LogWriter } from '../ports/index.ts'
import { Driver } from './driver.ts'
import { timeMsDefault } from './fake-run.ts'
import { HandlerCalls } from './handler-calls.ts'
import { timeOf } from './json-values.ts'
import type { TestSystemOptions } from './options.ts'
import { Processes, prefix } from './processes.ts'
import { RunHistory } from './run-history.ts'
import { type Brokers, Chance, Io, ManualClock, MemoryLog, VirtualTime } from './simulation/index.ts'
import { Sleeps } from './sleeps.ts'
import type { TestClientParts } from './test-client.ts'
import type { WorkerFaultsParts } from './worker-faults.ts'

export interface Parts extends TestClientParts, WorkerFaultsParts {
  log: MemoryLog
  sleeps: Sleeps
}

/** `given`: the handlers of the user, asked for when the first worker starts. */
export function partsOf(options: TestSystemOptions, given: () => GivenHandlers): Parts {
  const { zone, seed = 1, partitions = 2, pools = ['default'], concurrency = 50, handlerWaitMs = 1_000 } = options
  const { hooks = [], topics, logger, schemas, stepsMax = 2_000_000 } = options
  const beginMs = options.now === undefined ? timeMsDefault : timeOf(options.now, zone, 'now of testSystem')
  const time = new VirtualTime(beginMs)
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
  let starting: Promise<void> | undefined
  const start = async (): Promise<void> => {
    const workers = pools.map((pool) => processes.startWorker(pool, 'worker'))
    await driver.during(Promise.all([processes.startScheduler(), processes.startRetrier(), ...workers]))
  }
  const started = (): Promise<void> => {
    starting ??= start()
    return starting
  }
  const checker = schemas === undefined ? undefined : new PayloadChecker(schemas)
  return { driver, calls, processes, history: new RunHistory(log), partitions, pools, checker, zone, started, log, sleeps, clock }
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
