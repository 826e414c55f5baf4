/** The log of a process: writers, readers and admin clients of one cluster. */
import type { Kafka } from 'kafkajs'
import type {
  FenceOptions,
  GroupReader,
  GroupReaderOptions,
  Log,
  LogAdmin,
  LogWriter,
  RangeReader,
  TransactionalWriter,
} from '../ports/index.ts'
import {
  type AclChange,
  type AclPlan,
  changeAcls,
  changeTopics,
  ensureTopics,
  KafkaAdmin,
  listTopics,
  makeTopics,
  PartitionCounts,
  planAcls,
  planTopics,
  removeDeparted,
  type TopicChange,
  type TopicsWanted,
} from './admin/index.ts'
import { BrokerIsolation, brokersOf, kafkaClient, type LogOptions, type LogSettings, settingsOf } from './brokers/index.ts'
import type { Doubts } from './kafkajs/index.ts'
import { type BoundedRead, KafkaGroupReader, KafkaRangeReader, readToEnd, type Span } from './reading/index.ts'
import { CheckedTopics, FencedWriter, IdempotentWriter, type TargetTopicsOptions } from './writing/index.ts'

export type { AclChange, TopicChange } from './admin/index.ts'
export type { Logger, LogOptions } from './brokers/index.ts'
export type { BoundedRead, Span } from './reading/index.ts'

export interface KafkaLog extends Log {
  /**
   * Creates missing topics and checks existing ones. Resolves with the number of partitions, taken from `jobs` if it exists.
   * Rejects with DuelogError `unsafe-topic`, which names topic, setting, value found and value needed.
   */
  ensureTopics(wanted: TopicsWanted): Promise<{ partitions: number; created: string[] }>
  /** What ensureTopics would create, and what would have to change first. Nothing is written. */
  planTopics(wanted: TopicsWanted): Promise<TopicChange[]>
  /**
   * Creates missing topics and raises unsafe settings. Resolves with the state found before. Refused topics are left as they are.
   */
  changeTopics(wanted: TopicsWanted): Promise<TopicChange[]>
  /** The ACLs that principals need and have. Nothing is written. */
  planAcls(plan: AclPlan): Promise<AclChange[]>
  /** Creates those that are missing. Resolves with the state found before. */
  changeAcls(plan: AclPlan, options: { deleteSurplus: boolean }): Promise<AclChange[]>
  /** Creates the missing ones of these topics with the brokers' default settings. Resolves with their names. */
  makeMissing(topics: readonly string[], size: { partitions: number; replication: number }): Promise<string[]>
  /**
   * Reads topics up to their current ends, in a temporary group that is deleted afterwards. Rejects with any error of `onRecord`.
   */
  readToEnd(options: BoundedRead): Promise<Span[]>
  /** Removes the members of a dead instance from these groups. Resolves with their number. */
  removeDeparted(instance: string, groupIds: readonly string[]): Promise<number>
  /** Names of all topics of the cluster that this principal may see. */
  topics(): Promise<string[]>
  /** Reads parts of partitions by time. Opens its connections at the first use. */
  ranges(): RangeReader
  /** The user topics that may be written to. Nothing is known about them before its start. */
  targetTopics(options: TargetTopicsOptions): CheckedTopics
  /**
   * Reports whether brokers are unreachable: one failed, and none has answered since. Called at once if they are. Returns its
   * unsubscribe function.
   */
  onAway(listener: (isAway: boolean) => void): () => void
}

/** Opens no connection: each writer, reader and admin client has its own connections and is closed separately. */
export function connectLog(options: LogOptions): KafkaLog {
  const settings = settingsOf(options)
  return new KafkaJsLog(kafkaClient(options, settings), settings)
}

class KafkaJsLog implements KafkaLog {
  readonly #kafka: Kafka
  readonly #settings: LogSettings
  readonly #counts: PartitionCounts
  readonly #cutOff: BrokerIsolation
  readonly #doubts: Doubts = new Set()

  constructor(kafka: Kafka, settings: LogSettings) {
    this.#kafka = kafka
    this.#settings = settings
    this.#counts = new PartitionCounts(kafka)
    const brokers = brokersOf(kafka)
    this.#cutOff = new BrokerIsolation({
      silent: () => brokers.silent,
      want: (address) => brokers.want(address),
      living: () => livingBrokers(kafka),
      logger: settings.logger,
    })
    brokers.onChange(() => this.#cutOff.changed())
  }

  writer(): Promise<LogWriter> {
    return new IdempotentWriter(this.#kafka, this.#counts, this.#settings).open()
  }

  transactionalWriter(transactionalId: string, fence?: FenceOptions): Promise<TransactionalWriter> {
    return FencedWriter.open(this.#kafka, transactionalId, this.#counts, this.#settings, fence, this.#doubts)
  }

  reader(options: GroupReaderOptions): GroupReader {
    return new KafkaGroupReader(this.#kafka, this.#counts, this.#settings, options, this.#cutOff)
  }

  admin(): Promise<LogAdmin> {
    return KafkaAdmin.open(this.#kafka)
  }

  ranges(): RangeReader {
    return new KafkaRangeReader(this.#kafka, this.#settings)
  }

  targetTopics(options: TargetTopicsOptions): CheckedTopics {
    return new CheckedTopics(this.#kafka, this.#counts, this.#settings.logger, options)
  }

  ensureTopics(wanted: TopicsWanted): Promise<{ partitions: number; created: string[] }> {
    return ensureTopics(this.#kafka, wanted, this.#settings.logger)
  }

  planTopics(wanted: TopicsWanted): Promise<TopicChange[]> {
    return planTopics(this.#kafka, wanted)
  }

  changeTopics(wanted: TopicsWanted): Promise<TopicChange[]> {
    return changeTopics(this.#kafka, wanted)
  }

  planAcls(plan: AclPlan): Promise<AclChange[]> {
    return planAcls(this.#kafka, plan)
  }

  changeAcls(plan: AclPlan, options: { deleteSurplus: boolean }): Promise<AclChange[]> {
    return changeAcls(this.#kafka, plan, options)
  }

  async makeMissing(topics: readonly string[], size: { partitions: number; replication: number }): Promise<string[]> {
    const existing = new Set(await this.topics())
    const missing = topics.filter((topic) => !existing.has(topic))
    await makeTopics(this.#kafka, missing, size)
    return missing
  }

  readToEnd(options: BoundedRead): Promise<Span[]> {
    return readToEnd(this.#kafka, this.#settings, options)
  }

  removeDeparted(instance: string, groupIds: readonly string[]): Promise<number> {
    return removeDeparted(this.#kafka, instance, groupIds)
  }

  topics(): Promise<string[]> {
    return listTopics(this.#kafka)
  }

  onAway(listener: (isAway: boolean) => void): () => void {
    return brokersOf(this.#kafka).onAway(listener)
  }
}

/** Addresses of the brokers that Kafka counts as alive. */
async function livingBrokers(kafka: Kafka): Promise<string[]> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    return (await admin.describeCluster()).brokers.map(({ host, port }) => `${host}:${port}`)
  } finally {
    await admin.disconnect().catch(() => {})
  }
}
