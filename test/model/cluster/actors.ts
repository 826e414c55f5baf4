/**
 * The actors around the scheduler: workers, the retry forwarder, and users. They write to the log directly. None of them is under
 * test.
 */
import type { Execution, ExecutionEventInput, JobCommandType, JobDefinitionInput } from '../../../schemas/generated.ts'
import type { Codec, RecordIn, RecordOut } from '../../../src/ground/ports/log.ts'
import { replyHeaders } from '../../../streams/jobs/receipt.ts'
import { partitionOf, retryTiers } from '../../../streams/topics/topics.ts'
import { ManualClock } from '../../tools/manual-clock.ts'
import { codecs, names, repliesTopic } from '../world.ts'
import { Definitions, jobIds, madeHeader } from './definitions.ts'
import type { Cluster } from './process.ts'

/** The Execution that a record carries; undefined for any other message to the workers, and for an unreadable value. */
export function executionIn({ topic, value }: Pick<RecordIn, 'topic' | 'value'>): Execution | undefined {
  const framed = topic === names.control ? decodedNow(codecs.control, value)?.execution : value
  return decodedNow(codecs.execution, framed ?? null)
}

function decodedNow<Value>(codec: Codec<Value, never>, value: Buffer | null): Value | undefined {
  // A schema with another id would need a question to the registry.
  if (value === null || value.length < 5 || value[0] !== 0 || value.readInt32BE(1) > 7) return undefined
  try {
    const decoded = codec.decode(value)
    if (!(decoded instanceof Promise)) return decoded
    void decoded.catch(() => undefined)
  } catch {
    // A user wrote to a topic that only Duelog may write to.
  }
  return undefined
}

/** How long a worker waits before it writes again what a broker had no room for. */
const sendAgainMs = 500

type SimulatedOutcome = 'succeed' | 'succeed-at-once' | 'fail' | 'fail-for-good' | 'vanish' | 'vanish-running' | 'release'

const keyOf = ({ jobId, runNo, attempt, specOffset }: Execution): string => `${jobId} ${specOffset} ${runNo} ${attempt}`

export class Workers {
  readonly #cluster: Cluster
  readonly #clock: ManualClock
  readonly #next = new Map<string, number>()
  readonly #told = new Set<string>()
  readonly #unsent: RecordOut[] = []
  #again: (() => void) | undefined
  /** The outcomes of the runs they take. */
  fates: Partial<Record<SimulatedOutcome, number>> = {
    succeed: 5,
    'succeed-at-once': 3,
    fail: 3,
    'fail-for-good': 1,
    vanish: 1,
    'vanish-running': 1,
    release: 1,
  }

  /** The retry delays they request when they fail, in ms. Null: the job decides. */
  retryAfterMs: readonly (number | null)[] = [null, null, 0, 700, 3_000]

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    this.#clock = new ManualClock(cluster.time)
    this.#clock.skewMs = cluster.chance.int(-30, 30)
  }

  get ready(): boolean {
    return this.#unread().length > 0
  }

  /** Takes one Execution. A group may deliver one again after a rebalance. */
  take(): void {
    const { chance } = this.#cluster
    const { place, log } = chance.pick(this.#unread())
    const { records, next } = log.read(this.#next.get(place) ?? 0, 1)
    const record = records[0]
    const execution = record === undefined ? undefined : executionIn(record)
    if (
      record !== undefined &&
      execution !== undefined &&
      this.#isReachable(record, execution) &&
      !this.#isTold(record, execution) &&
      !chance.happens(0.02)
    ) {
      if (record.topic === names.control) this.#told.add(keyOf(execution))
      this.#work(execution, record.partition, record.topic === names.control)
      if (chance.happens(0.03)) return
    }
    this.#next.set(place, next)
  }

  /** A run for one worker is lost if that worker has left. */
  #isReachable({ topic, value }: RecordIn, { pinTo }: Execution): boolean {
    const { workers } = this.#cluster
    if (workers === undefined || topic !== names.control || pinTo !== null) return true
    return workers.has(decodedNow(codecs.control, value)?.instance ?? '')
  }

  /** The owner may redeliver a pinned run. */
  #isTold({ topic }: RecordIn, execution: Execution): boolean {
    return topic === names.control && this.#told.has(keyOf(execution))
  }

  #unread() {
    const { log } = this.#cluster
    if (this.#cluster.pauses?.stopsDoubles) return []
    const isUnread = this.#cluster.workers?.isEmpty === true
    return [...(isUnread ? [] : log.allOf('model.executions.default')), ...log.allOf(names.control)]
      .map(({ topic, partition, log }) => ({ place: `${topic}/${partition}`, log }))
      .filter(({ place, log }) => (this.#next.get(place) ?? 0) < log.stableEnd)
  }

  #work(execution: Execution, partition: number, isForOne: boolean): void {
    const { chance, workers } = this.#cluster
    if (!isForOne && workers?.anyOne(execution.handler)?.hasHandler === false) {
      const error = { type: 'handler-missing', message: 'none' }
      return this.#report(execution, partition, { type: 'FAILED', at: this.#clock.nowMs(), ...{ error } })
    }
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
      const retryAfterMs = chance.pick(this.retryAfterMs)
      const error = { type: 'Error', message: 'planned', retryable: fate === 'fail', retryAfterMs }
      report(endAt, 'FAILED', { startedAt, error })
    } else report(endAt, 'SUCCEEDED', { startedAt, result: Buffer.from('1') })
  }

  #report(execution: Execution, partition: number, event: Pick<ExecutionEventInput, 'type' | 'at'>): void {
    const { jobId, runNo, attempt, specOffset } = execution
    const value = codecs.event.encode({ jobId, runNo, attempt, specOffset, worker: 'worker', ...event })
    const times = this.#cluster.chance.happens(0.03) ? 2 : 1
    for (let time = 0; time < times; time++) this.#unsent.push({ topic: names.events, partition, key: execution.jobId, value })
    this.#send()
  }

  /** Everything that could not be written is written together as soon as the broker has room. */
  #send(): void {
    if (!this.#cluster.isFull) {
      this.#cluster.log.append(this.#unsent.splice(0))
      return
    }
    this.#again ??= this.#clock.at(this.#clock.nowMs() + sendAgainMs, () => {
      this.#again = undefined
      this.#send()
    })
  }
}

export class Forwarder {
  readonly #cluster: Cluster
  readonly #next = new Map<string, number>()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** True time at which the next record is due. */
  get nextMs(): number {
    if (this.#cluster.isFull) return Number.POSITIVE_INFINITY
    return Math.min(Number.POSITIVE_INFINITY, ...this.#heads().map(({ dueMs }) => dueMs))
  }

  forward(): void {
    const { log, chance, time } = this.#cluster
    for (const { place, dueMs, partition, record, next } of this.#heads()) {
      if (dueMs > time.nowMs) continue
      const execution = executionIn({ topic: '', value: record })
      if (execution === undefined) {
        this.#next.set(place, next)
        continue
      }
      const { jobId, runNo, attempt, specOffset } = execution
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
        // A record with an unreadable value also counts: the forwarder skips it when its delay is over.
        if (head === undefined) return []
        return [{ place, partition, next, record: head.value, dueMs: head.timestampMs + delayMs }]
      }),
    )
  }
}

/** The most bursts of one history, and the records of one burst. What is written stays in memory as long as the history. */
const heavyBurstsMax = 2
const burstsMax = 3
const triggersOfBurst = 16
const stormJobs = 24

export class Users {
  readonly #cluster: Cluster
  readonly #last = new Map<string, JobDefinitionInput>()
  readonly #definitions: Definitions
  #commands = 0
  #asked = 0
  #made = 0
  #bursts = 0

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    this.#definitions = new Definitions(cluster)
  }

  /** One action of a user. Returns its description. */
  act(): string {
    const { chance, log } = this.#cluster
    const id = chance.pick(jobIds)
    const what = chance.weighted(this.#definitions.habits)
    if (what === 'burst') return `user: ${this.#burst()}`
    if (what === 'define') this.#define(id, this.#definitions.next(id))
    else if (what === 'again') this.#again(id)
    else if (what === 'remove') log.append([{ topic: names.jobs, key: id, value: null, headers: this.#condition(id) }])
    else if (what === 'garbage') this.#append(names.jobs, id, Buffer.from('garbage'))
    else if (what === 'strange') this.#strange(id)
    else this.#command(id, what?.toUpperCase() as JobCommandType)
    return `user: ${what} ${id}`
  }

  define(id: string, definition: JobDefinitionInput): void {
    this.#define(id, definition)
  }

  /**
   * Many records at once. In histories with large payloads they are more than one commit cycle may write or keep in memory.
   * Returns the description of the burst.
   */
  #burst(): string {
    const { chance, log, isHeavy } = this.#cluster
    if (this.#bursts++ >= (isHeavy ? heavyBurstsMax : burstsMax)) return 'nothing'
    // A storm fills the memory of a cycle with jobs, triggers fill what it writes.
    const kind = chance.pick(isHeavy ? (['triggers', 'storm', 'storm'] as const) : (['triggers', 'storm'] as const))
    // All in one partition.
    const ids = kind === 'triggers' ? ['e{t}', 'f{t}'] : Array.from({ length: stormJobs }, (_, at) => `s${at}{t}`)
    const definition = this.#definitions.ofBurst()
    for (const id of ids) this.#define(id, definition)
    if (kind === 'triggers')
      for (let time = 0; time < triggersOfBurst; time++)
        for (const id of ids) {
          const command = { type: 'TRIGGER' as const, commandId: `c${++this.#commands}`, at: this.#cluster.time.nowMs }
          log.append([{ topic: names.commands, key: id, value: codecs.command.encode(command) }])
        }
    return `${kind} of ${ids}`
  }

  #define(id: string, definition: JobDefinitionInput): void {
    const { log, chance } = this.#cluster
    this.#last.set(id, definition)
    const value = codecs.definition.encode({ ...definition, headers: { [madeHeader]: Buffer.from(String(this.#made++)) } })
    const headers = { ...this.#asking(), ...this.#condition(id) }
    if (!chance.happens(0.05)) {
      log.append([{ topic: names.jobs, key: id, value, headers }])
      return
    }
    // A client with another partitioner.
    const partition = (partitionOf(id, log.partitions) + 1) % log.partitions
    log.append([{ topic: names.jobs, partition, key: id, value, headers }])
  }

  /** Some records count only over the definition that their user knows, over any, or over none. */
  #condition(id: string): Record<string, string> {
    const { chance, log } = this.#cluster
    if (!chance.happens(0.12)) return {}
    const kind = chance.weighted({ known: 3, older: 1, any: 2, none: 2, garbled: 0.3 })
    if (kind === 'none') return { 'only-new': '' }
    if (kind === 'any' || kind === 'garbled') return { 'only-over': kind === 'any' ? '*' : 'x' }
    const { archive } = log.at(names.jobs, partitionOf(id, log.partitions))
    const written = archive.flatMap(({ record }) => (record?.value && record.key?.toString() === id ? [record.offset] : []))
    return { 'only-over': String((kind === 'known' ? written.at(-1) : chance.pick(written.length > 0 ? written : [0])) ?? 0) }
  }

  /** Some definitions ask for a receipt. */
  #asking(): Record<string, string> {
    if (!this.#cluster.chance.happens(0.3)) return {}
    return { [replyHeaders.topic]: repliesTopic, [replyHeaders.correlationId]: String(this.#asked++) }
  }

  /** Writes the same schedule again, with another payload. */
  #again(id: string): void {
    const before = this.#last.get(id)
    if (before !== undefined)
      this.#define(id, {
        ...before,
        payload: this.#definitions.payload(),
        maxConcurrentRuns: 5,
      })
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
    const payload = chance.happens(0.5) ? this.#definitions.payload() : null
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
}
