/** Options of the client, and kafkajs as they want it: how it connects, retries, signs in, queues requests and logs. */
import { createRequire } from 'node:module'
import type { ConnectionOptions } from 'node:tls'
import { type ISocketFactory, Kafka, logLevel, type RetryOptions } from 'kafkajs'
import type { Append } from '../../../ground/clock/index.ts'
import type { DuelogError } from '../../../ground/errors/index.ts'
import type { Logger as RoomLogger } from '../../../ground/logging/index.ts'
import { areFiles, type CertificateFiles, certificatesFrom } from '../../../ground/process/index.ts'
import { faultOf } from './errors.ts'
import { relayTo } from './log-relay.ts'
import { mechanismOf, type Sasl, signsInAs } from './sign-in.ts'
import { connectMs, openSocket } from './watched-broker.ts'
import { WatchedBrokers } from './watched-brokers.ts'
import type { AnswerTimeouts } from './watched-socket.ts'

/**
 * Two changes of kafkajs's request queues, of which there is one for each connection.
 *
 *   idle      After each answer kafkajs schedules a check of pending requests, even if there are none, and repeats it: a timer of
 *             1 ms for each connection, forever. Its delay is negative, so Node prints a warning in each program that uses this
 *             library. Without pending requests no check is needed: a request that has to wait schedules the check itself.
 *   throttled A broker whose quota is used up says in its answer for how long, and kafkajs sends nothing on that connection
 *             meanwhile. kafkajs tells nobody.
 */

interface RequestQueue {
  clientId: string
  pending: unknown[]
  scheduleCheckPendingRequests(): void
  maybeThrottle(ms: number | null | undefined): void
}

let done = false
/** By client id. A process has one; tests have several. */
const listeners = new Map<string, (ms: number) => void>()
const listenersMax = 100

/** Must be called before the first connection. Further calls do nothing. */
export function changeRequestQueues(): void {
  if (done) return
  done = true
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as { prototype: RequestQueue }
  const { scheduleCheckPendingRequests, maybeThrottle } = prototype
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0) scheduleCheckPendingRequests.call(this)
  }
  prototype.maybeThrottle = function (this: RequestQueue, ms): void {
    if (typeof ms === 'number' && ms > 0) listeners.get(this.clientId)?.(ms)
    maybeThrottle.call(this, ms)
  }
}

/** `listener` is called with each time that a broker names to a connection with this client id. */
export function listenToThrottling(clientId: string, listener: (ms: number) => void): void {
  changeRequestQueues()
  const [oldest] = listeners.keys()
  if (listeners.size >= listenersMax && oldest !== undefined) listeners.delete(oldest)
  listeners.set(clientId, listener)
}

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

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

const defaults = {
  ...{ sessionTimeoutMs: 10_000, heartbeatIntervalMs: 1_000, rebalanceTimeoutMs: 30_000 },
  ...{ transactionTimeoutMs: 15_000, requestTimeoutMs: 15_000, fetchPartitionBytes: 1_048_576, fetchBytes: 4_194_304 },
}

/** The options that count after the connect, with all defaults applied. */
export interface LogSettings extends Record<keyof typeof defaults, number>, Pick<LogOptions, 'onUnread' | 'onAppended'> {
  ownerHeartbeatIntervalMs: number
  logger: Logger
}

export function settingsOf(options: LogOptions): LogSettings {
  const { heartbeatIntervalMs: ownerHeartbeatIntervalMs = 300, logger = silent } = options
  return { ...defaults, ...options, ownerHeartbeatIntervalMs, logger }
}

/**
 * About 9 s in total: enough for a leader election or a broker's restart, and short enough to report a failure in time. No single
 * wait is longer than the delay that is acceptable once the brokers are back.
 */
export const retry: RetryOptions = { initialRetryTime: 100, maxRetryTime: 500, multiplier: 2, factor: 0.2, retries: 20 }

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
  changeRequestQueues()
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

/** After this time a connection counts as closed, in ms. Brokers notice by themselves that a member or a producer has gone. */
export const closeMsMax = 30_000

/** Resolves when it is closed, or could not be, or after the limit. `what`: for people, as "the reader of group x". */
export async function closed(closing: Promise<unknown>, what: string, settings?: Pick<LogSettings, 'logger'>): Promise<void> {
  const late = Promise.withResolvers<'late'>()
  const timer = setTimeout(late.resolve, closeMsMax, 'late')
  try {
    if ((await Promise.race([closing, late.promise])) !== 'late') return
    settings?.logger.warn(
      { event: 'connection-left-open', what },
      `${what} was not closed within ${closeMsMax / 1_000} s; the stop goes on.`,
    )
  } catch (err) {
    settings?.logger.debug({ event: 'connection-not-closed', what, err }, `${what} could not be closed.`)
  } finally {
    clearTimeout(timer)
  }
}
