/**
 * The independent checker: reads from the log what happened and compares it with what should happen.
 *
 * It shares only topic names and schema files with the code that it checks. It is a plain consumer, read_committed, from the
 * beginning to an end mark that it writes itself. So it misses no record before the mark, however transactions ended.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import avro from 'avsc'
import { type EachMessagePayload, Kafka, logLevel, type Producer } from 'kafkajs'
import type { Execution, ExecutionEvent } from '../../schemas/generated.ts'
import { priorities, topicNames } from '../../streams/topics/topics.ts'
import {
  audit,
  type Findings,
  type Lead,
  type Occurrence,
  occurrenceId,
  type SeenEvent,
  type SeenExecution,
} from './checker-audit.ts'

export interface CheckerOptions {
  brokers: string[]
  prefix: string
  partitions: number
  /** How early the owners may dispatch. Default: 100 ms in the usual topics, 120 s in the ahead topics. */
  lead?: Lead
}

interface Place {
  topic: string
  partition: number
}

const framed = 5
const typeOf = (name: string) =>
  avro.Type.forSchema(JSON.parse(readFileSync(new URL(`../../schemas/${name}.avsc`, import.meta.url), 'utf8')))
const executionType = typeOf('execution')
const eventType = typeOf('execution-event')

export class Checker {
  readonly executions: SeenExecution[] = []
  readonly events: SeenEvent[] = []
  /** Records in executions topics that cannot be decoded, end marks not counted. */
  undecodable = 0
  readonly #options: CheckerOptions
  readonly #kafka: Kafka
  readonly #consumer
  readonly #producer: Producer
  readonly #lanes = new Map<string, boolean>()
  readonly #events: string
  /** The next offset of each partition: a restart of the consumer counts nothing twice. */
  readonly #next = new Map<string, number>()
  readonly #marks = new Set<string>()
  readonly #checks = new Set<() => void>()
  readonly #dispatched = new Set<string>()
  readonly #succeeded = new Set<string>()
  /** The occurrences that callers wait for. */
  readonly #awaited: string[][] = []
  readonly #crashes: string[] = []
  /** The occurrence of each run, and the runs that were reported as succeeded. Events and Executions arrive in any order. */
  readonly #occurrences = new Map<string, string>()
  readonly #ended = new Set<string>()

  private constructor(options: CheckerOptions) {
    this.#options = options
    this.#kafka = new Kafka({
      brokers: options.brokers,
      clientId: 'checker',
      logLevel: logLevel.NOTHING,
      retry: { retries: 100, maxRetryTime: 500 },
    })
    this.#consumer = this.#kafka.consumer({
      groupId: `checker-${randomUUID()}`,
      readUncommitted: false,
      maxWaitTimeInMs: 100,
      // After a fault of the brokers kafkajs joins as another member, and the group waits for the former one.
      sessionTimeout: 10_000,
      heartbeatInterval: 1_000,
      allowAutoTopicCreation: false,
    })
    this.#consumer.on('consumer.crash', ({ payload: { error, restart } }) => {
      this.#crashes.push(`${new Date().toISOString()} ${error.name}: ${error.message}${restart ? '' : ', and reads no more'}`)
    })
    this.#producer = this.#kafka.producer({ allowAutoTopicCreation: false })
    const names = topicNames(options.prefix)
    for (const priority of priorities) {
      for (const ahead of [false, true]) this.#lanes.set(names.executions('default', priority, ahead), ahead)
    }
    this.#events = names.events
  }

  /** Begins to read. The topics must exist. */
  static async open(options: CheckerOptions): Promise<Checker> {
    const checker = new Checker(options)
    await Promise.all([checker.#consumer.connect(), checker.#producer.connect()])
    await checker.#consumer.subscribe({ topics: [...checker.#lanes.keys(), checker.#events], fromBeginning: true })
    await checker.#consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch }) => {
        for (const message of batch.messages) checker.#take(batch, message)
        for (const check of checker.#checks) check()
      },
    })
    return checker
  }

  /** Resolves when each of these occurrences has an Execution. */
  dispatched(expected: readonly Occurrence[]): Promise<void> {
    return this.#all(expected, this.#dispatched)
  }

  /** Resolves when each of these occurrences has a run that a worker reported as succeeded. */
  succeeded(expected: readonly Occurrence[]): Promise<void> {
    return this.#all(expected, this.#succeeded)
  }

  /** Resolves when the condition holds. It is tested after each batch. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!condition()) return
        this.#checks.delete(check)
        resolve()
      }
      this.#checks.add(check)
      check()
    })
  }

  /** Reads to the present end of every topic, and returns what is wrong. Nothing may be dispatched during the call. */
  async audit(expected: readonly Occurrence[]): Promise<Findings> {
    const mark = randomUUID()
    const wanted: string[] = []
    for (const topic of [...this.#lanes.keys(), this.#events]) {
      const messages = Array.from({ length: this.#options.partitions }, (_, partition) => {
        const each = `${mark}/${topic}/${partition}`
        wanted.push(each)
        this.#marks.add(each)
        return { key: mark, value: null, partition }
      })
      await this.#producer.send({ topic, messages })
    }
    await this.until(() => wanted.every((each) => !this.#marks.has(each)))
    return audit(expected, this.executions, this.events, this.#options.lead)
  }

  /**
   * The number of Execution records in all topics of the pool, aborted transactions included. Call it after an audit: it stops at
   * the end marks of the audit.
   */
  async writtenAtAll(): Promise<number> {
    const consumer = this.#kafka.consumer({
      groupId: `checker-${randomUUID()}`,
      readUncommitted: true,
      allowAutoTopicCreation: false,
    })
    const topics = [...this.#lanes.keys()]
    const partitions = Array.from({ length: this.#options.partitions }, (_, partition) => partition)
    const unmarked = new Set(topics.flatMap((topic) => partitions.map((partition) => `${topic}/${partition}`)))
    let written = 0
    await consumer.connect()
    await consumer.subscribe({ topics, fromBeginning: true })
    await new Promise<void>((resolve, reject) => {
      const eachMessage = async ({ topic, partition, message }: EachMessagePayload) => {
        if (message.value !== null) written++
        else unmarked.delete(`${topic}/${partition}`)
        if (unmarked.size === 0) resolve()
      }
      consumer.run({ autoCommit: false, eachMessage }).catch(reject)
    })
    await consumer.disconnect()
    return written
  }

  /** What was read so far, for the message of a failed test. */
  story(): string {
    const read = [...this.#next].map(([place, next]) => `${place} up to ${next}`)
    const missing = this.#awaited.flatMap((ids) =>
      ids
        .filter((id) => !this.#succeeded.has(id))
        .slice(0, 20)
        .map((id) => `${id}, ${this.#dispatched.has(id) ? 'dispatched' : 'not dispatched'}`),
    )
    return [
      `The checker has read ${this.executions.length} executions, ${this.events.length} events:`,
      ...read,
      ...this.#crashes.map((crash) => `Its consumer failed at ${crash}`),
      'It waits for:',
      ...missing,
    ].join('\n  ')
  }

  async close(): Promise<void> {
    await Promise.all([this.#consumer.disconnect(), this.#producer.disconnect()])
  }

  #all(expected: readonly Occurrence[], seen: ReadonlySet<string>): Promise<void> {
    // This runs after each batch, and one missing occurrence is enough.
    const missing = expected.filter(({ optional }) => !optional).map(occurrenceId)
    this.#awaited.push(missing)
    return this.until(() => {
      for (let last = missing.at(-1); last !== undefined && seen.has(last); last = missing.at(-1)) missing.pop()
      return missing.length === 0
    })
  }

  #take(place: Place, message: { offset: string; timestamp: string; key: Buffer | null; value: Buffer | null }): void {
    const { topic, partition } = place
    const at = `${topic}/${partition}`
    const offset = Number(message.offset)
    if (offset < (this.#next.get(at) ?? 0)) return
    this.#next.set(at, offset + 1)
    if (this.#marks.delete(`${message.key}/${at}`)) return
    if (topic === this.#events) this.#takeEvent(place, offset, message.value)
    else this.#takeExecution(place, offset, Number(message.timestamp), message.value)
  }

  #takeExecution({ topic, partition }: Place, offset: number, appendedAt: number, value: Buffer | null): void {
    const execution = decoded<Execution>(executionType, value)
    if (execution === undefined) {
      this.undecodable++
      return
    }
    this.executions.push({ ...execution, topic, partition, offset, appendedAt, ahead: this.#lanes.get(topic) ?? false })
    const occurrence = occurrenceId(execution)
    this.#dispatched.add(occurrence)
    this.#occurrences.set(`${execution.jobId}/${execution.runNo}`, occurrence)
    this.#pair(execution)
  }

  #takeEvent({ partition }: Place, offset: number, value: Buffer | null): void {
    const event = decoded<ExecutionEvent>(eventType, value)
    if (event === undefined) return
    this.events.push({ ...event, partition, offset })
    if (event.type !== 'SUCCEEDED') return
    this.#ended.add(`${event.jobId}/${event.runNo}`)
    this.#pair(event)
  }

  #pair({ jobId, runNo }: { jobId: string; runNo: number }): void {
    const occurrence = this.#occurrences.get(`${jobId}/${runNo}`)
    if (occurrence !== undefined && this.#ended.has(`${jobId}/${runNo}`)) this.#succeeded.add(occurrence)
  }
}

function decoded<Value>(type: avro.Type, value: Buffer | null): Value | undefined {
  if (value === null || value[0] !== 0 || value.length < framed) return undefined
  try {
    return type.fromBuffer(value.subarray(framed)) as Value
  } catch {
    return undefined
  }
}
