/**
 * The connection to the brokers: what every producer, consumer and admin of this process shares.
 * This room, src/kafka, alone imports kafkajs and the schema-registry client.
 */
import type { ConnectionOptions } from 'node:tls'
import { type ISocketFactory, Kafka, logLevel, type RetryOptions, type SASLOptions } from 'kafkajs'
import type { Append } from '../../clock/index.ts'
import { relayTo, stopIdleQueueTimers } from '../kafkajs/index.ts'
import { connectMs } from './watched-broker.ts'
import { WatchedBrokers } from './watched-brokers.ts'
import type { Patience } from './watched-socket.ts'

/** What is needed of a logger; a pino logger fits. */
export interface Logger {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

export interface LogOptions {
  /** host:port of at least one broker. */
  brokers: string[]
  clientId: string
  sasl?: SASLOptions
  ssl?: boolean | ConnectionOptions
  /** Absent: silent. */
  logger?: Logger
  /** A member that is silent for so long leaves its group. Default: 10,000. */
  sessionTimeoutMs?: number
  /** Default: 1,000, and 300 for members that own partitions, whose heirs wait for it. Shorter while somebody waits for a heartbeat. */
  heartbeatIntervalMs?: number
  /** Members that did not join again so long after a rebalance began are out. Default: 30,000. */
  rebalanceTimeoutMs?: number
  /** The coordinator aborts a transaction that is open for so long. Default: 15,000. */
  transactionTimeoutMs?: number
  /**
   * A request that brokers have to write to one another fails after so long unanswered. Longer than they need to do without one that is lost:
   * 9 s, and some more for another controller. Default: 15,000.
   */
  requestTimeoutMs?: number
  /** Longest time that the broker holds back a fetch without records; a resume or seek is noticed within it. Default: 100. */
  fetchWaitMs?: number
  /** Most bytes of one partition in one fetch. Default: 1,048,576. */
  fetchPartitionBytes?: number
  /** Most bytes of one fetch from one broker, unless one batch is larger. Default: 4,194,304. */
  fetchBytes?: number
  /** Hears of each batch or record that cannot be read and is passed over, besides the logger. Default: nobody does. */
  onUnread?: () => void
  /** Hears what brokers say of the time: when they appended what was written to topics with their append time. Default: nobody does. */
  onAppended?: (append: Append) => void
  /** How sockets are opened; for proxies and fault tests. */
  socketFactory?: ISocketFactory
}

/** LogOptions with every default filled in. */
export interface LogSettings {
  sessionTimeoutMs: number
  heartbeatIntervalMs: number
  ownerHeartbeatIntervalMs: number
  rebalanceTimeoutMs: number
  transactionTimeoutMs: number
  requestTimeoutMs: number
  fetchWaitMs: number
  fetchPartitionBytes: number
  fetchBytes: number
  onUnread: (() => void) | undefined
  onAppended: ((append: Append) => void) | undefined
  logger: Logger
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

export function settingsOf(options: LogOptions): LogSettings {
  return {
    sessionTimeoutMs: options.sessionTimeoutMs ?? 10_000,
    heartbeatIntervalMs: options.heartbeatIntervalMs ?? 1_000,
    ownerHeartbeatIntervalMs: options.heartbeatIntervalMs ?? 300,
    rebalanceTimeoutMs: options.rebalanceTimeoutMs ?? 30_000,
    transactionTimeoutMs: options.transactionTimeoutMs ?? 15_000,
    requestTimeoutMs: options.requestTimeoutMs ?? 15_000,
    fetchWaitMs: options.fetchWaitMs ?? 100,
    fetchPartitionBytes: options.fetchPartitionBytes ?? 1_048_576,
    fetchBytes: options.fetchBytes ?? 4_194_304,
    onUnread: options.onUnread,
    onAppended: options.onAppended,
    logger: options.logger ?? silent,
  }
}

/**
 * About 9 s in all: enough for a leader election or a broker's restart, short enough to tell the caller in time. No wait is longer than what
 * may be lost once the brokers are back.
 */
export const retry: RetryOptions = { initialRetryTime: 100, maxRetryTime: 500, multiplier: 2, factor: 0.2, retries: 20 }

/**
 * A transaction that begins while the markers of the one before are still being written is refused for some milliseconds
 * (CONCURRENT_TRANSACTIONS): start with short waits, where kafkajs's own would cost 300 ms. About 14 s in all: as long as a transaction may take.
 */
export const transactionRetry: RetryOptions = {
  initialRetryTime: 3,
  maxRetryTime: 250,
  multiplier: 1.6,
  factor: 0.2,
  retries: 64,
}

/** A quick answer that has not come within this part of the session leaves time to find another coordinator. */
const quickShare = 0.3
/** A broker of a busy machine needs more than a moment for a quick answer, however short the session is. */
const quickMsMin = 3_000
/** kafkajs's own limit for a connection and for a request come later than ours, which end the connection as well. */
const laterMs = 500

function patienceOf({ sessionTimeoutMs, requestTimeoutMs, rebalanceTimeoutMs }: LogSettings): Patience {
  const quickMs = Math.min(Math.max(quickMsMin, Math.ceil(quickShare * sessionTimeoutMs)), requestTimeoutMs)
  return { quickMs, slowMs: requestTimeoutMs, joinMs: rebalanceTimeoutMs + requestTimeoutMs }
}

const principals = new WeakMap<Kafka, string>()
const watches = new WeakMap<Kafka, WatchedBrokers>()

/** What this connection knows of its brokers. Throws for one that was not made here. */
export function brokersOf(kafka: Kafka): WatchedBrokers {
  const watched = watches.get(kafka)
  if (watched === undefined) throw new Error('This connection was not made here.')
  return watched
}

/** Who the brokers take the holder of this connection for, as far as that is known here. */
export const principalOf = (kafka: Kafka): string => principals.get(kafka) ?? 'the principal of this process'

function principalIn({ sasl, ssl, clientId }: LogOptions): string {
  const hasCertificate = typeof ssl === 'object' && ssl.cert !== undefined
  const anonymous = hasCertificate ? 'the subject of its certificate' : 'User:ANONYMOUS'
  const name = sasl !== undefined && 'username' in sasl ? `User:${sasl.username}` : anonymous
  return `${name} (client id ${clientId})`
}

export function createKafka(options: LogOptions, settings: LogSettings): Kafka {
  stopIdleQueueTimers()
  const { logger } = settings
  const brokers = new WatchedBrokers({ patience: patienceOf(settings), logger, open: options.socketFactory })
  const kafka = new Kafka({
    // kafkajs asks whenever it has nobody to begin with.
    brokers: () => brokers.seeds(options.brokers),
    clientId: options.clientId,
    sasl: options.sasl,
    ssl: options.ssl,
    connectionTimeout: connectMs + laterMs,
    requestTimeout: settings.requestTimeoutMs + laterMs,
    retry,
    socketFactory: brokers.open,
    logLevel: logLevel.WARN,
    logCreator: () => relayTo(logger),
  })
  principals.set(kafka, principalIn(options))
  watches.set(kafka, brokers)
  return kafka
}
