/** What a test does to the processes of its system: workers that start, stop, crash or are cut off, and owners that crash. */
import { quoted } from '../../streams/text/index.ts'
import { partitionOf } from '../../streams/topics/index.ts'
import { checkedId } from '../clients/client/index.ts'
import { callOptions, DuelogError } from '../ground/errors/index.ts'
import type { ActiveRunView } from '../ground/ports/index.ts'
import type { Driver } from './driver.ts'
import type { HandlerCalls } from './handler-calls.ts'
import type { Processes, SimulatedWorker } from './processes.ts'
import type { ManualClock } from './simulation/index.ts'

/** A lost lease is noticed at the latest this long after its end, in ms. */
const noticedMs = 60_000
/** How long after a crash that a handler caused its worker starts again, in ms. */
const restartMs = 1_000

export interface WorkerFaultsParts {
  driver: Driver
  calls: HandlerCalls
  clock: ManualClock
  processes: Processes
  partitions: number
  pools: readonly string[]
  started: () => Promise<unknown>
}

export class WorkerFaults {
  readonly #parts: WorkerFaultsParts

  constructor(parts: WorkerFaultsParts) {
    this.#parts = parts
  }

  async start(options: { pool?: string; name?: string } | undefined): Promise<string> {
    const { driver, processes, pools, started } = this.#parts
    const known = { pool: true, name: true } as const
    const { pool = 'default', name = 'worker' } = callOptions<{ pool?: string; name?: string }>('startWorker', options, known)
    if (!pools.includes(pool)) throw refused(`There is no pool ${quoted(pool)}; give its name to testSystem in pools.`)
    if (typeof name !== 'string' || !/^[^@:\s]{1,255}$/.test(name))
      throw refused(`The name of a worker is ${quoted(name)}; allowed: 1 to 255 characters without "@", ":" and spaces.`)
    await started()
    return (await driver.during(processes.startWorker(pool, name))).instance
  }

  /** Ends it as SIGTERM does; time passes while its handlers run. */
  async stop(name: string | undefined): Promise<void> {
    const { driver, processes, calls, started } = this.#parts
    await started()
    // A handler that stops its own worker waits for the end of its drain.
    const sleep = calls.sleeping()
    try {
      for (const worker of this.#chosen(name)) {
        await driver.during(Promise.race([worker.executor.stop(), worker.died]), Number.POSITIVE_INFINITY)
        processes.kill(worker)
      }
    } finally {
      sleep.wake()
    }
  }

  /** Ends it as a power cut does. With `restart`, another worker of the same pool and name starts at once. */
  async crash(name: string | undefined, options: { restart?: boolean } | undefined): Promise<void> {
    const { restart = true } = callOptions<{ restart?: boolean }>('crashWorker', options, { restart: true })
    checkBoolean('restart of crashWorker', restart)
    const { driver, processes, calls, clock, started } = this.#parts
    await started()
    const crashed = this.#chosen(name)
    for (const worker of crashed) processes.kill(worker)
    if (!restart) return driver.during(Promise.resolve())
    const again = (): Promise<unknown> =>
      Promise.all(crashed.map(({ pool, instance }) => processes.startWorker(pool, nameIn(instance))))
    // A handler that crashes its own worker meets the same run again. Without a pause that would never end.
    if (calls.isInside)
      clock.at(clock.nowMs() + restartMs, () =>
        again().catch((error) => {
          driver.failure ??= error as Error
        }),
      )
    else await driver.during(again())
  }

  /**
   * Nothing that the worker of this job's run sends arrives, until the owner has noticed that its lease is over. Then the worker is back.
   * No other worker replaces it: it would begin what the cut off worker has not committed yet a second time, and renew the lease.
   */
  async loseLease(jobId: string): Promise<void> {
    const { driver, calls, processes, partitions, started } = this.#parts
    checkedId(jobId)
    if (calls.isInside)
      throw refused('A handler cannot lose its own lease, because time passes until it is lost. Call loseLease in the test.')
    await started()
    const partition = partitionOf(jobId, partitions)
    const workers = [...processes.workers]
    const running = async (): Promise<ActiveRunView[]> => {
      const job = await processes.owner.ask(partition, (owner) => owner.job(partition, jobId))
      return job?.active.filter(({ status }) => status === 'RUNNING') ?? []
    }
    const [run] = await running()
    const worker = workers.find(({ instance }) => instance === run?.worker)
    if (run === undefined || worker === undefined)
      throw refused(`No run of job ${JSON.stringify(jobId)} is running, so none has a lease to lose.`)
    const isLost = async (): Promise<boolean> =>
      !(await running()).some(({ runNo, attempt }) => runNo === run.runNo && attempt === run.attempt)
    worker.machine.clock.stopped = true
    try {
      if (!(await driver.until(isLost, run.leaseMs + noticedMs)))
        throw new DuelogError(
          'internal',
          `The lease of run ${run.runNo} of job ${JSON.stringify(jobId)} did not end. Please report it.`,
        )
    } finally {
      worker.machine.clock.stopped = false
    }
    await driver.during(Promise.resolve())
  }

  /** The owner of all partitions dies, and another one takes over. `storeLost`: from the log alone. */
  async crashScheduler(options: { storeLost?: boolean } | undefined): Promise<void> {
    const { storeLost = false } = callOptions<{ storeLost?: boolean }>('crashScheduler', options, { storeLost: true })
    checkBoolean('storeLost of crashScheduler', storeLost)
    const { driver, processes, started } = this.#parts
    await started()
    await driver.during(processes.replaceScheduler(storeLost))
  }

  /** All workers without a name. Throws `bad-request` if there is none. */
  #chosen(name: string | undefined): SimulatedWorker[] {
    const { workers } = this.#parts.processes
    const chosen = workers.filter(({ instance }) => name === undefined || instance === name || nameIn(instance) === name)
    if (chosen.length > 0) return chosen
    const names = workers.map(({ instance }) => instance).join(', ') || 'none'
    throw refused(`There is no worker${name === undefined ? '' : ` ${quoted(name)}`}; there are: ${names}.`)
  }
}

function checkBoolean(what: string, value: unknown): void {
  if (typeof value !== 'boolean') throw refused(`${what} is ${quoted(value)}; allowed: true or false`)
}

const nameIn = (instance: string): string => instance.slice(0, instance.indexOf('@'))
const refused = (message: string): DuelogError => new DuelogError('bad-request', message)
