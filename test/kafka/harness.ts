/** Shared by the tests of src/log/kafka: the broker, topics with unique names, and readers that end with the test. */
import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import type {
  Batch,
  GroupReader,
  GroupReaderOptions,
  LogWriter,
  RecordIn,
  TransactionalWriter,
} from '../../src/ground/ports/log.ts'
import { connectLog, type KafkaLog, type LogOptions } from '../../src/log/kafka/log.ts'
import type { TopicPlan } from '../../streams/topics/topics.ts'
import { type KafkaProxy, type ProxyOptions, startProxy } from '../tools/tcp-proxy.ts'

export const brokers = (process.env.DUELOG_TEST_BROKERS ?? '').split(',')
export const registryUrl = process.env.DUELOG_TEST_REGISTRY ?? ''

export const uniquePrefix = (): string => `t-${randomUUID().slice(0, 8)}.`

export function openLog(options: Partial<LogOptions> = {}): KafkaLog {
  return connectLog({ brokers, clientId: 'duelog-test', ...options })
}

/** A log whose connections all go through a proxy. */
export async function openThroughProxy(proxy: Partial<ProxyOptions>, options: Partial<LogOptions> = {}) {
  const opened: KafkaProxy = await startProxy({ target: brokers[0] ?? '', ...proxy })
  onTestFinished(() => opened.close())
  return { proxy: opened, log: openLog({ socketFactory: opened.socketFactory, ...options }) }
}

/** Topics with this many partitions, by short name. */
export async function makeTopics<Name extends string>(
  names: Name[],
  partitions = 1,
  config: Record<string, string> = {},
): Promise<Record<Name, string>> {
  const prefix = uniquePrefix()
  const plans = names.map((name): TopicPlan => ({ topic: prefix + name, schema: 'execution', config }))
  await openLog().ensureTopics({ plans, partitions, replication: 1 })
  return Object.fromEntries(names.map((name) => [name, prefix + name])) as Record<Name, string>
}

export async function openWriter(log = openLog()): Promise<LogWriter> {
  const writer = await log.writer()
  onTestFinished(() => writer.close())
  return writer
}

export async function openTransactional(id: string, log = openLog()): Promise<TransactionalWriter> {
  const writer = await log.transactionalWriter(id)
  onTestFinished(() => writer.close())
  return writer
}

/** A reader that records its calls and lets tests wait for them. It is stopped after the test. */
export class Watcher {
  readonly reader: GroupReader
  readonly records: RecordIn[] = []
  readonly batches: Batch[] = []
  /** `topic/partition` of each assignment, one array for each join. */
  readonly joins: string[][] = []
  readonly crashes: Error[] = []
  #checks: (() => void)[] = []

  constructor(options: Partial<GroupReaderOptions> & { topics: string[] }, log = openLog()) {
    this.reader = log.reader({
      groupId: `${options.topics[0]}.group`,
      instance: 'watcher',
      ...options,
      onAssigned: (assigned, generation) => {
        this.joins.push(assigned.map(({ topic, partition }) => `${topic}/${partition}`).sort())
        this.#check()
        return options.onAssigned?.(assigned, generation)
      },
      onBatch: (batch) => {
        this.batches.push(batch)
        this.records.push(...batch.records)
        const settled = options.onBatch?.(batch)
        this.#check()
        return settled
      },
      onCrash: (error) => {
        this.crashes.push(error)
        this.#check()
      },
    })
    onTestFinished(() => this.reader.stop())
  }

  get values(): string[] {
    return this.records.map(({ value }) => value?.toString() ?? '∅')
  }

  /** Assignment of the last join. */
  get assigned(): string[] {
    return this.joins[this.joins.length - 1] ?? []
  }

  /** Resolves when the condition holds; it is checked after each join, batch and crash. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#checks.push(() => condition() && resolve())
      this.#check()
    })
  }

  #check(): void {
    for (const check of this.#checks) check()
  }
}

/** All records of the topic that a read_committed reader gets, up to and including the record written now. */
export async function readAll(topic: string): Promise<string[]> {
  const end = `end-${randomUUID()}`
  const writer = await openWriter()
  await writer.write([{ topic, partition: 0, key: end, value: Buffer.from(end) }])
  const watcher = new Watcher({ topics: [topic], groupId: `read-${randomUUID()}` })
  await watcher.reader.start()
  await watcher.until(() => watcher.values.includes(end))
  return watcher.values.filter((value) => value !== end)
}

export const text = (value: string): Buffer => Buffer.from(value)
