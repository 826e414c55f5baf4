/** Duelog in memory and in virtual time, for tests of handlers, schedules and flows: no Kafka, no network, no files, no waiting. */
import { quoted } from '../../streams/text/index.ts'
import { type AnyPayloads, checkedRunNo, type Time } from '../client/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { GivenHandlers } from '../executor/index.ts'
import type { Driver } from './driver.ts'
import { timeOf } from './json-values.ts'
import { checkHandlers, checkOptions, type TestSystem, type TestSystemOptions } from './options.ts'
import { type Parts, partsOf } from './parts.ts'
import type { MemoryLog } from './simulation/index.ts'
import { checkMs, type Sleeps } from './sleeps.ts'
import { TestClient } from './test-client.ts'
import { logLinesOf, recordsOf, type TestLogLine, type TestRecord } from './topic-records.ts'
import { type TestWorker, WorkerFaults } from './worker-faults.ts'

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
  const system = new System(partsOf(options as unknown as TestSystemOptions, () => given)) as unknown as TestSystem<Payloads>
  const made: unknown = typeof handlers === 'function' ? handlers(system as unknown as TestSystem) : handlers
  checkHandlers(made)
  given = made as GivenHandlers
  return system
}

class System extends TestClient implements TestSystem {
  readonly #driver: Driver
  readonly #sleeps: Sleeps
  readonly #faults: WorkerFaults
  readonly #log: MemoryLog
  readonly #zone: string | undefined
  readonly #started: () => Promise<void>

  constructor(parts: Parts) {
    super(parts)
    this.#driver = parts.driver
    this.#sleeps = parts.sleeps
    this.#faults = new WorkerFaults(parts)
    this.#log = parts.log
    this.#zone = parts.zone
    this.#started = parts.started
  }

  /** An arrow, as `sleep` is, so that both can be handed on alone. */
  readonly now = (): number => this.#driver.nowMs

  async advanceTo(time: Time): Promise<void> {
    const untilMs = timeOf(time, this.#zone, 'time of advanceTo')
    await this.#started()
    if (untilMs < this.now())
      throw new DuelogError(
        'bad-request',
        `advanceTo goes back from ${isoOf(this.now())} to ${isoOf(untilMs)}; virtual time only goes on`,
      )
    await this.#driver.advance(untilMs)
  }

  async advanceBy(ms: number): Promise<void> {
    checkMs(ms, 'ms of advanceBy')
    if (!Number.isInteger(ms)) throw new DuelogError('bad-request', `ms of advanceBy is ${ms}; virtual time has whole ms`)
    await this.#started()
    await this.#driver.advance(this.now() + ms)
  }

  readonly sleep = (ms: number, options?: { signal?: AbortSignal }): Promise<void> => this.#sleeps.sleep(ms, options)

  records(topic: string): Promise<TestRecord[]> {
    return this.#settled(() => recordsOf(this.#log, checkedTopic(topic)))
  }

  logs(id: string, runNo: number): Promise<TestLogLine[]> {
    return this.#settled(() => {
      checkedRunNo('logs', runNo)
      return logLinesOf(this.#log, this.partitionOf(id), id, runNo)
    })
  }

  workers(): Promise<TestWorker[]> {
    return this.#settled(() => this.#faults.list())
  }

  startWorker(options?: { pool?: string; name?: string }): Promise<string> {
    return this.#faults.start(options)
  }

  stopWorker(name?: string): Promise<void> {
    return this.#faults.stop(name)
  }

  crashWorker(name?: string, options?: { restart?: boolean }): Promise<void> {
    return this.#faults.crash(name, options)
  }

  loseLease(id: string): Promise<void> {
    return this.#faults.loseLease(id)
  }

  crashScheduler(options?: { storeLost?: boolean }): Promise<void> {
    return this.#faults.crashScheduler(options)
  }

  /** What this sees once everything has happened that is due now. */
  async #settled<Result>(look: () => Result): Promise<Result> {
    await this.#started()
    await this.#driver.during(Promise.resolve())
    return look()
  }
}

function checkedTopic(topic: unknown): string {
  if (typeof topic === 'string' && topic !== '') return topic
  throw new DuelogError('bad-request', `The topic of records is ${quoted(topic)}; give its name`)
}

const isoOf = (ms: number): string => new Date(ms).toISOString()
