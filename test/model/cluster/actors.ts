/** Everybody around the scheduler: workers, the retry forwarder, and users. They write to the log directly; none of them is under test. */
import type { Execution, ExecutionEventInput, JobCommandType, JobDefinitionInput, Schedule } from '../../../schemas/generated.ts'
import { replyHeaders } from '../../../streams/jobs/receipt.ts'
import { partitionOf, retryTiers } from '../../../streams/topics.ts'
import { ManualClock } from '../../tools/manual-clock.ts'
import { codecs, names, repliesTopic } from '../world.ts'
import { ratesOf, slotsOf } from './limits.ts'
import type { Cluster } from './process.ts'

type Fate = 'succeed' | 'succeed-at-once' | 'fail' | 'fail-for-good' | 'vanish' | 'vanish-running' | 'release'

export class Workers {
  readonly #cluster: Cluster
  readonly #clock: ManualClock
  readonly #next = new Map<string, number>()
  /** What becomes of the runs they take. */
  fates: Partial<Record<Fate, number>> = {
    succeed: 5,
    'succeed-at-once': 3,
    fail: 3,
    'fail-for-good': 1,
    vanish: 1,
    'vanish-running': 1,
    release: 1,
  }

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    this.#clock = new ManualClock(cluster.time)
    this.#clock.skewMs = cluster.chance.int(-30, 30)
  }

  get ready(): boolean {
    return this.#unread().length > 0
  }

  /** Takes one execution. A group may give one out again after a rebalance. */
  take(): void {
    const { chance } = this.#cluster
    const { place, log } = chance.pick(this.#unread())
    const { records, next } = log.read(this.#next.get(place) ?? 0, 1)
    const record = records[0]
    if (record?.value && !chance.happens(0.02)) {
      this.#work(codecs.execution.decode(record.value) as Execution, record.partition)
      if (chance.happens(0.03)) return
    }
    this.#next.set(place, next)
  }

  #unread() {
    return this.#cluster.log
      .allOf('model.executions.default')
      .map(({ topic, partition, log }) => ({ place: `${topic}/${partition}`, log }))
      .filter(({ place, log }) => (this.#next.get(place) ?? 0) < log.stableEnd)
  }

  #work(execution: Execution, partition: number): void {
    const { chance } = this.#cluster
    const fate = chance.weighted(this.fates)
    if (fate === 'vanish') return
    const startAt = Math.max(execution.dueAt, this.#clock.nowMs())
    const endAt = startAt + chance.pick([0, 5, 400, 2_500, 6_000])
    const report = (atMs: number, type: ExecutionEventInput['type'], more: Partial<ExecutionEventInput> = {}): void => {
      this.#clock.at(atMs, () => this.#report(execution, partition, { type, at: this.#clock.nowMs(), ...more }))
    }
    const startedAt = startAt
    if (fate === 'release') return report(this.#clock.nowMs() + chance.int(0, 300), 'RELEASED')
    if (fate !== 'succeed-at-once') report(startAt, 'STARTED', { startedAt })
    if (fate === 'vanish-running') return
    for (let at = startAt + 300; at < endAt; at += 300) report(at, 'HEARTBEAT')
    if (fate === 'fail' || fate === 'fail-for-good') {
      const retryAfterMs = chance.pick([null, null, 0, 700, 3_000])
      const error = { type: 'Error', message: 'as told', retryable: fate === 'fail', retryAfterMs }
      report(endAt, 'FAILED', { startedAt, error })
    } else report(endAt, 'SUCCEEDED', { startedAt, result: Buffer.from('1') })
  }

  #report(execution: Execution, partition: number, event: Pick<ExecutionEventInput, 'type' | 'at'>): void {
    const { jobId, runNo, attempt, specOffset } = execution
    const value = codecs.event.encode({ jobId, runNo, attempt, specOffset, worker: 'worker', ...event })
    const times = this.#cluster.chance.happens(0.03) ? 2 : 1
    for (let time = 0; time < times; time++)
      this.#cluster.log.append([{ topic: names.events, partition, key: execution.jobId, value }])
  }
}

export class Forwarder {
  readonly #cluster: Cluster
  readonly #next = new Map<string, number>()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** True time at which the next record is of age. */
  get nextMs(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#heads().map(({ dueMs }) => dueMs))
  }

  forward(): void {
    const { log, chance, time } = this.#cluster
    for (const { place, dueMs, partition, record, next } of this.#heads()) {
      if (dueMs > time.nowMs) continue
      const { jobId, runNo, attempt, specOffset } = codecs.execution.decode(record) as Execution
      const event = codecs.event.encode({ type: 'RETRY_DUE', jobId, runNo, attempt, specOffset, at: time.nowMs })
      log.append([{ topic: names.events, partition, key: jobId, value: event }])
      if (!chance.happens(0.1)) this.#next.set(place, next)
    }
  }

  #heads() {
    return retryTiers.flatMap(({ name, delayMs }) =>
      this.#cluster.log.allOf(names.retry(name)).flatMap(({ topic, partition, log }) => {
        const place = `${topic}/${partition}`
        const { records, next } = log.read(this.#next.get(place) ?? 0, 1)
        const head = records[0]
        if (!head?.value) return []
        return [{ place, partition, next, record: head.value, dueMs: head.timestampMs + delayMs }]
      }),
    )
  }
}

const jobIds = ['a', 'b', 'c', 'd', 'e', 'f']

export class Users {
  readonly #cluster: Cluster
  readonly #last = new Map<string, JobDefinitionInput>()
  #commands = 0
  #asked = 0
  /** Whether jobs of this history have limits. */
  readonly #limited: boolean

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    this.#limited = cluster.chance.happens(0.5)
  }

  /** Something that a user does. Returns what. */
  act(): string {
    const { chance } = this.#cluster
    const id = chance.pick(jobIds)
    const what = chance.weighted({
      define: 8,
      again: 3,
      remove: 2,
      trigger: 2,
      pause: 1,
      resume: 2,
      cancel: 0.5,
      cancel_run: 1,
      redrive: 1,
      backfill: 0.5,
      garbage: 1,
      strange: 1,
    })
    if (what === 'define') this.#define(id, this.#definition(id))
    else if (what === 'again') this.#again(id)
    else if (what === 'remove') this.#append(names.jobs, id, null)
    else if (what === 'garbage') this.#append(names.jobs, id, Buffer.from('garbage'))
    else if (what === 'strange') this.#strange(id)
    else this.#command(id, what?.toUpperCase() as JobCommandType)
    return `user: ${what} ${id}`
  }

  define(id: string, definition: JobDefinitionInput): void {
    this.#define(id, definition)
  }

  #define(id: string, definition: JobDefinitionInput): void {
    const { log, chance } = this.#cluster
    this.#last.set(id, definition)
    const value = codecs.definition.encode(definition)
    const headers = this.#asking()
    if (!chance.happens(0.05)) {
      log.append([{ topic: names.jobs, key: id, value, headers }])
      return
    }
    // A client with another partitioner.
    const partition = (partitionOf(id, log.partitions) + 1) % log.partitions
    log.append([{ topic: names.jobs, partition, key: id, value, headers }])
  }

  /** Some want to know what became of their definition. */
  #asking(): Record<string, string> {
    if (!this.#cluster.chance.happens(0.3)) return {}
    return { [replyHeaders.topic]: repliesTopic, [replyHeaders.correlationId]: String(this.#asked++) }
  }

  /** The same times again, with another payload. */
  #again(id: string): void {
    const before = this.#last.get(id)
    if (before !== undefined) this.#define(id, { ...before, payload: this.#payload(), maxConcurrentRuns: 5 })
  }

  #strange(id: string): void {
    const { log, chance } = this.#cluster
    const topic = chance.pick([names.jobs, names.commands, names.events])
    const key = chance.pick([null, '', 'x\u0001y', id])
    const value = chance.pick([null, Buffer.from('strange'), Buffer.alloc(0)])
    if (key === id && topic === names.jobs && value === null) return
    log.append([{ topic, partition: partitionOf(id, log.partitions), key, value }])
  }

  #command(id: string, type: JobCommandType): void {
    const { chance, time } = this.#cluster
    // A client that got no answer sends its command again.
    if (!chance.happens(0.2)) this.#commands++
    const payload = chance.happens(0.5) ? this.#payload() : null
    const range = { runNo: chance.int(1, 5), from: time.nowMs - chance.int(0, 20_000), to: time.nowMs - chance.int(0, 9_000) }
    this.#append(
      names.commands,
      id,
      codecs.command.encode({ ...range, type, commandId: `c${this.#commands}`, at: time.nowMs, payload }),
    )
  }

  #append(topic: string, key: string, value: Buffer | null): void {
    this.#cluster.log.append([{ topic, key, value }])
  }

  #payload(): Buffer {
    return Buffer.from(String(this.#cluster.chance.int(0, 1_000_000)))
  }

  #definition(id: string): JobDefinitionInput {
    const { chance, time } = this.#cluster
    const now = time.nowMs
    const schedules: (() => Partial<Schedule>)[] = [
      () => ({ at: now + chance.int(-3_000, 8_000) }),
      () => ({ delayMs: chance.int(0, 6_000) }),
      () => ({ everyMs: chance.pick([900, 2_000, 7_000]) }),
      () => ({ everyMs: chance.pick([1_000, 5_000]), anchor: now + chance.int(-9_000, 5_000) }),
      () => ({ everyMs: chance.pick([800, 3_000]), from: 'END' as const }),
      () => ({ cron: chance.pick(['*/3 * * * * *', '*/20 * * * * *']) }),
      () => ({ rrule: chance.pick(['FREQ=SECONDLY;INTERVAL=4', 'FREQ=MINUTELY;BYSECOND=5,25,50']), timezone: 'Europe/Paris' }),
    ]
    const schedule = chance.pick(schedules)()
    const retries = [{ list: [300, 1_200, 4_000] }, { fixed: { delayMs: 0 } }, { exponential: { baseMs: 500 } }]
    const slots = chance.pick(['one', 'three'] as const)
    const rate = chance.pick(['slow', 'bursts'] as const)
    const repeated = schedule.everyMs !== undefined || schedule.cron !== undefined || schedule.rrule !== undefined
    return {
      schedule,
      jitterMs: chance.happens(0.3) ? chance.pick([1, 300, 700]) : 0,
      target: { handler: 'noop' },
      payload: this.#payload(),
      priority: chance.pick(['HIGH', 'NORMAL', 'LOW']),
      retry: {
        maxAttempts: chance.int(1, 3),
        maxAgeMs: chance.happens(0.1) ? 5_000 : null,
        backoff: chance.pick(retries),
        jitter: chance.pick([0, 0.5]),
      },
      attemptTimeoutMs: chance.pick([1_000, 4_000]),
      leaseMs: chance.pick([1_000, 3_000]),
      startDeadlineMs: chance.pick([1_000, 5_000, 30_000]),
      catchUp: chance.pick(['SKIP', 'LATEST', 'ALL']),
      catchUpMax: chance.int(1, 5),
      misfireThresholdMs: chance.pick([0, 1_000]),
      overlap: chance.pick(['ALLOW', 'SKIP', 'QUEUE_ONE', 'CANCEL_PREVIOUS']),
      expireAt: chance.happens(0.1) ? now + chance.int(2_000, 20_000) : null,
      version: chance.happens(0.3) ? chance.int(1, 4) : null,
      dedupKey: chance.happens(0.2) ? chance.pick(['k', 'l']) : null,
      dedupWindowMs: 1_500,
      // Only to later ids, or two jobs could trigger one another for ever.
      onSuccess: chance.happens(0.2) ? jobIds.filter((other) => other > id && chance.happens(0.4)) : [],
      onFailure: chance.happens(0.2) ? jobIds.filter((other) => other > id && chance.happens(0.4)) : [],
      maxConcurrentRuns: chance.pick([1, 3, 16]),
      ...(this.#limited && chance.happens(0.4) && { concurrencyKey: slots, concurrencyLimit: slotsOf[slots] }),
      ...(this.#limited && chance.happens(0.3) && { rateLimit: { key: rate, ...ratesOf[rate] } }),
      maxRuns: chance.happens(0.2) ? chance.int(1, 4) : null,
      startAt: repeated && chance.happens(0.2) ? now + chance.int(-2_000, 4_000) : null,
      endAt: repeated && chance.happens(0.3) ? now + chance.int(4_000, 15_000) : null,
      paused: chance.happens(0.1),
      retainCompletedMs: chance.pick([0, 1_500, 3_600_000]),
      retainFailedMs: chance.pick([0, 1_500, 3_600_000]),
    }
  }
}
