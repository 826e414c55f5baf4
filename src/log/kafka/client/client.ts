/** The client: everything that one process does with one cluster of brokers. */
import type { Kafka, RetryOptions } from 'kafkajs'
import type { FenceOptions, LogWriter, RangeReader, TransactionalWriter } from '../../../ground/ports/index.ts'
import { BrokerAdmin } from './admin.ts'
import { type BoundedRead, readToEnd, type Span } from './bounded-reader.ts'
import { BrokerIsolation } from './broker-isolation.ts'
import { brokersOf, closed, kafkaClient, type LogOptions, type LogSettings, settingsOf } from './connection.ts'
import { GroupMember, type GroupMemberOptions } from './group-member.ts'
import { IdempotentWriter } from './idempotent-writer.ts'
import { PartitionCounts } from './partition-counts.ts'
import { KafkaRangeReader } from './range-reader.ts'
import type { Doubts } from './transaction-coordinator.ts'
import { FencedWriter } from './transactional-writer.ts'

/** Opens no connection: each writer, reader and admin has its own connections and is closed separately. */
export class KafkaClient {
  readonly #kafka: Kafka
  readonly #settings: LogSettings
  readonly #doubts: Doubts = new Set()
  /** Partition counts of topics, shared by all writers. */
  readonly counts: PartitionCounts
  /** Whether a broker is out of reach for this process only. */
  readonly isolation: Pick<BrokerIsolation, 'isIsolated' | 'onChange'>

  constructor(options: LogOptions) {
    const settings = settingsOf(options)
    const kafka = kafkaClient(options, settings)
    this.#kafka = kafka
    this.#settings = settings
    this.counts = new PartitionCounts(kafka)
    const brokers = brokersOf(kafka)
    const isolation = new BrokerIsolation({
      silent: () => brokers.silent,
      want: (address) => brokers.want(address),
      living: () => this.withAdmin('Looking up the brokers', (admin) => admin.brokers()),
      logger: settings.logger,
    })
    brokers.onChange(() => isolation.changed())
    this.isolation = isolation
  }

  writer(): Promise<LogWriter> {
    return new IdempotentWriter(this.#kafka, this.counts, this.#settings).open()
  }

  transactionalWriter(transactionalId: string, fence?: FenceOptions): Promise<TransactionalWriter> {
    return FencedWriter.open(this.#kafka, transactionalId, this.counts, this.#settings, fence, this.#doubts)
  }

  /** `isUrgent`: its heartbeats are frequent, because a successor waits for them. */
  member({ isUrgent, ...options }: Omit<GroupMemberOptions, 'beatMs'> & { isUrgent: boolean }): GroupMember {
    const { ownerHeartbeatIntervalMs, heartbeatIntervalMs } = this.#settings
    const beatMs = isUrgent ? ownerHeartbeatIntervalMs : heartbeatIntervalMs
    return new GroupMember(this.#kafka, this.#settings, { ...options, beatMs })
  }

  readToEnd(options: BoundedRead): Promise<Span[]> {
    return readToEnd(this.#kafka, this.#settings, options)
  }

  ranges(): RangeReader {
    return new KafkaRangeReader(this.#kafka, this.#settings)
  }

  /** An admin that stays open. `retry`: default is the retry policy of the connection. */
  admin(retry?: RetryOptions): Promise<BrokerAdmin> {
    return BrokerAdmin.open(this.#kafka, retry)
  }

  /** An admin for one use. Rejects with an error of our table that says what was being done. */
  withAdmin<Value>(doing: string, ask: (admin: BrokerAdmin) => Promise<Value>): Promise<Value> {
    return BrokerAdmin.with(this.#kafka, doing, ask)
  }

  /** Reports whether brokers are unreachable. Called at once if they are. Returns its unsubscribe function. */
  onAway(listener: (isAway: boolean) => void): () => void {
    return brokersOf(this.#kafka).onAway(listener)
  }

  /** When a broker last sent anything, by `performance.now()`; 0: none ever did. */
  get heardAtMs(): number {
    return brokersOf(this.#kafka).heardAtMs
  }

  /** Resolves when it is closed, or could not be, or after 30 s. `what`: for people. */
  closed(closing: Promise<unknown>, what: string): Promise<void> {
    return closed(closing, what, this.#settings)
  }
}
