/**
 * The connection to the brokers. All producers, consumers and admin clients of this process share it. Only src/kafka imports
 * kafkajs and the schema-registry client.
 */
import type { ConnectionOptions } from 'node:tls'
import { type ISocketFactory, Kafka, logLevel, type RetryOptions } from 'kafkajs'
import type { Append } from '../../clock/index.ts'
import type { DuelogError } from '../../errors/index.ts'
import type { Logger as RoomLogger } from '../../logging/index.ts'
import { areFiles, type CertificateFiles, certificatesFrom } from '../../process/index.ts'
import { faultOf } from '../errors/index.ts'
import { listenToThrottling, relayTo, stopIdleQueueTimers } from '../kafkajs/index.ts'
import { mechanismOf, type Sasl, signsInAs } from '../sasl/index.ts'
import { connectMs, openSocket } from './watched-broker.ts'
import { WatchedBrokers } from './watched-brokers.ts'
import type { AnswerTimeouts } from './watched-socket.ts'

/** The methods used of a logger; a pino logger fits. */
export type Logger = Pick<RoomLogger, 'debug' | 'info' | 'warn' | 'error'>

export interface LogOptions {
  /** host:port of at least one broker. */
  brokers: string[]
  clientId: string
  /** How to sign in. Default: not at all. */
  sasl?: Sasl | undefined
  /** True, options of node:tls, or the files of certificates, which are read again for each connection. Default: no TLS. */
  ssl?: boolean | ConnectionOptions | CertificateFiles | undefined
  /** Absent: nothing is logged. */
  logger?: Logger | undefined
  /** A member without heartbeats for this long leaves its group. Default: 10,000. */
  sessionTimeoutMs?: number
  /**
   * Default: 1,000, and 300 for members that own partitions, because their successors wait for it. Shorter while a caller waits
   * for a heartbeat.
   */
  heartbeatIntervalMs?: number
  /** Members that have not rejoined this long after the start of a rebalance are removed. Default: 30,000. */
  rebalanceTimeoutMs?: number
  /** The coordinator aborts a transaction that is open for this long. Default: 15,000. */
  transactionTimeoutMs?: number
  /**
   * Time limit of a request that brokers have to replicate. It is longer than they need to replace a lost broker: 9 s, and a
   * little more for a new controller. Default: 15,000.
   */
  requestTimeoutMs?: number
  /**
   * Longest time that the broker holds back an empty fetch. A resume or seek takes effect within it. A reader that has had nothing
   * to do for 10 s waits until its next heartbeat instead. Default: 100.
   */
  fetchWaitMs?: number
  /** Most bytes of one partition in one fetch. Default: 1,048,576. */
  fetchPartitionBytes?: number
  /** Most bytes of one fetch from one broker, unless one batch is larger. Default: 4,194,304. */
  fetchBytes?: number
  /** Called for each batch or record that cannot be read and is skipped, in addition to the log. Default: not called. */
  onUnread?: () => void
  /** A broker throttles a connection for this time, because a quota is used up. */
  onThrottled?: (ms: number) => void
  /** Called with the times at which brokers appended records to topics with broker append time. Default: not called. */
  onAppended?: (append: Append) => void
  /** Opens the sockets; for proxies and fault tests. */
  socketFactory?: ISocketFactory
}

/** LogOptions with all defaults applied. */
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
 * About 9 s in total: enough for a leader election or a broker's restart, and short enough to report a failure in time. No single
 * wait is longer than the delay that is acceptable once the brokers are back.
 */
export const retry: RetryOptions = { initialRetryTime: 100, maxRetryTime: 500, multiplier: 2, factor: 0.2, retries: 20 }

/**
 * A transaction that begins while the markers of the previous one are being written is refused for some milliseconds
 * (CONCURRENT_TRANSACTIONS). So it starts with short waits, where kafkajs's own would cost 300 ms. About 14 s in total: as long
 * as a transaction may take.
 */
export const transactionRetry: RetryOptions = {
  initialRetryTime: 3,
  maxRetryTime: 250,
  multiplier: 1.6,
  factor: 0.2,
  retries: 64,
}

/** A quick answer must arrive within this part of the session, so that there is time to find another coordinator. */
const quickShare = 0.3
/** A broker on a busy machine needs some time for a quick answer, however short the session is. */
const quickMsMin = 3_000
/** kafkajs's own limits for connections and requests are later than ours, which also end the connection. */
const laterMs = 500

function timeoutsOf({ sessionTimeoutMs, requestTimeoutMs, rebalanceTimeoutMs }: LogSettings): AnswerTimeouts {
  const quickMs = Math.min(Math.max(quickMsMin, Math.ceil(quickShare * sessionTimeoutMs)), requestTimeoutMs)
  return { quickMs, slowMs: requestTimeoutMs, joinMs: rebalanceTimeoutMs + requestTimeoutMs }
}

const principals = new WeakMap<Kafka, string>()
const watches = new WeakMap<Kafka, WatchedBrokers>()

/** The broker state of this connection. Throws for a connection that was not created here. */
export function brokersOf(kafka: Kafka): WatchedBrokers {
  const watched = watches.get(kafka)
  if (watched === undefined) throw new Error('This connection was not made here.')
  return watched
}

/** The principal that the brokers see for this connection, if it is known here. */
const principalOf = (kafka: Kafka): string => principals.get(kafka) ?? 'the principal of this process'

/** An error of our table for a failure on this connection, naming its principal. */
export const faultOn = (kafka: Kafka, thrown: unknown, doing: string): DuelogError => faultOf(thrown, doing, principalOf(kafka))

function principalIn({ sasl, ssl, clientId }: LogOptions): string {
  const hasCertificate = typeof ssl === 'object' && (areFiles(ssl) ? ssl.certFile : ssl.cert) !== undefined
  const anonymous = hasCertificate ? 'the subject of its certificate' : 'User:ANONYMOUS'
  const name = sasl === undefined ? anonymous : (signsInAs(sasl) ?? anonymous)
  return `${name} (client id ${clientId})`
}

/** kafkajs keeps what it is given, so that the certificates of now come in here. */
function socketsWith(files: CertificateFiles): ISocketFactory {
  const certificatesNow = certificatesFrom(files)
  return (to) => openSocket({ ...to, ssl: certificatesNow() ?? {} })
}

export function kafkaClient(options: LogOptions, settings: LogSettings): Kafka {
  stopIdleQueueTimers()
  if (options.onThrottled !== undefined) listenToThrottling(options.clientId, options.onThrottled)
  const { logger } = settings
  const { ssl = false } = options
  const hasFiles = typeof ssl === 'object' && areFiles(ssl)
  const open = options.socketFactory ?? (hasFiles ? socketsWith(ssl) : undefined)
  const brokers = new WatchedBrokers({ timeouts: timeoutsOf(settings), logger, open })
  const kafka = new Kafka({
    // kafkajs asks whenever it has no connected broker.
    brokers: () => brokers.seeds(options.brokers),
    clientId: options.clientId,
    sasl: options.sasl && mechanismOf(options.sasl, logger),
    ssl: hasFiles || ssl,
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
