/** Errors of kafkajs: as errors of our table, and which of them are retried. */
import { setTimeout as wait } from 'node:timers/promises'
import { DuelogError, type ErrorCode, messageOf } from '../../../ground/errors/index.ts'
import { isUntrusted } from '../../../ground/network/index.ts'

/** The fields that we read of kafkajs's errors. The classes differ, these fields do not. */
interface Fault {
  name?: string
  type?: string
  code?: unknown
  cause?: unknown
  retriable?: boolean
  errors?: unknown[]
  message?: string
  /** host:port, of errors of a connection. */
  broker?: string
}

/** A later producer with the same transactional id took over, or the coordinator ended our transaction and fenced this epoch. */
const fencing = new Set([
  'INVALID_PRODUCER_EPOCH',
  'PRODUCER_FENCED',
  'INVALID_PRODUCER_ID_MAPPING',
  'TRANSACTION_COORDINATOR_FENCED',
])

const tooLarge = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'])
const refused = new Set(['INVALID_RECORD', 'INVALID_TIMESTAMP'])
const missing = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION'])
/**
 * The previous transaction has not ended yet: after the loss of a broker that may take longer than kafkajs retries. Or a broker
 * failed internally, for example when it should end a transaction while it is being fenced. Or a leader wants this transaction aborted.
 */
const passing = new Set(['UNKNOWN', 'TRANSACTION_ABORTABLE'])
const denied = /^(TOPIC|GROUP|CLUSTER|TRANSACTIONAL_ID|DELEGATION_TOKEN)_AUTHORIZATION_FAILED$/
const unknownUser = /SASL_AUTHENTICATION_FAILED|UNSUPPORTED_SASL|ILLEGAL_SASL_STATE/
const connection = /Connection|Timeout|BrokerNotFound|NoBroker|CoordinatorNotFound|MetadataNotLoaded|NumberOfRetriesExceeded/

/**
 * When none of the brokers known to kafkajs answers, its `withBroker` returns null instead of an answer. kafkajs then
 * destructures it and throws a TypeError about null.
 */
export const isUnanswered = (thrown: unknown): boolean => thrown instanceof TypeError && /\bnull\b/.test(thrown.message)

/** The name of the broker's error code, such as SECURITY_DISABLED. */
export const rootTypeOf = (thrown: unknown): string | undefined => rootOf(thrown).type

/** A broker failed and gives no reason. */
export const isUnexplained = (thrown: unknown): boolean => rootOf(thrown).type === 'UNKNOWN'

/** The innermost error, which holds the real reason below kafkajs's wrappers. */
function rootOf(thrown: unknown): Fault {
  let fault = thrown as Fault
  for (let depth = 0; depth < 8; depth++) {
    const inner = fault.errors?.[0] ?? fault.cause
    if (typeof inner !== 'object' || inner === null) break
    fault = inner as Fault
  }
  return fault ?? {}
}

/** An error of our table that kafkajs has wrapped, such as that of a token that could not be had. */
function ownFault(thrown: unknown): DuelogError | undefined {
  let fault = thrown
  for (let depth = 0; depth < 8 && typeof fault === 'object' && fault !== null; depth++) {
    if (fault instanceof DuelogError) return fault
    fault = (fault as Fault).errors?.[0] ?? (fault as Fault).cause
  }
  return undefined
}

function codeOf(thrown: unknown): ErrorCode {
  const root = rootOf(thrown)
  const type = root.type ?? ''
  if (fencing.has(type)) return 'fenced'
  if (tooLarge.has(type)) return 'payload-too-large'
  if (refused.has(type)) return 'record-refused'
  if (missing.has(type)) return 'unsafe-topic'
  if (denied.test(type)) return 'kafka-denied'
  if (unknownUser.test(type) || root.name === 'KafkaJSSASLAuthenticationError') return 'bad-config'
  if (
    passing.has(type) ||
    isUnanswered(thrown) ||
    connection.test(root.name ?? '') ||
    isLoss(root) ||
    typeof root.code === 'string'
  )
    return 'broker-unavailable'
  return 'internal'
}

const advice: Partial<Record<ErrorCode, string>> = {
  fenced: 'Close this writer; open a new one only while this process still owns the partition.',
  'payload-too-large': 'Make the record smaller, or raise max.message.bytes of the topic.',
  'record-refused': 'Look at what the topic accepts, such as its compaction and its interceptors.',
  'unsafe-topic':
    'The topic or partition does not exist; create it with `duelog topics apply`, and those of a pool with `duelog topics apply --pools NAME`.',
  'bad-config':
    'The brokers do not accept these credentials: check KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD, and that the port of KAFKA_BROKERS is a listener with SASL.',
  'broker-unavailable': 'Check that the brokers run and can be reached; then try again.',
}

/** The right to grant, by error type. */
const grants: Record<string, string> = {
  TOPIC_AUTHORIZATION_FAILED: 'Describe and, for what it does there, Read, Write or Create on the topic',
  GROUP_AUTHORIZATION_FAILED: 'Read on the group',
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED: 'Write on the transactional id',
  CLUSTER_AUTHORIZATION_FAILED: 'Write on a topic, or IdempotentWrite on the cluster, to produce; Create to make topics',
}

/** An error of our table with the operation, the principal and the remedy. A DuelogError is returned unchanged, also out of wrappers of kafkajs. */
export function faultOf(thrown: unknown, doing: string, principal = 'the principal of this process'): DuelogError {
  const own = ownFault(thrown)
  if (own !== undefined) return own
  const code = codeOf(thrown)
  if (code === 'kafka-denied') {
    const { type = '' } = rootOf(thrown)
    const grant = grants[type] ?? 'what is missing'
    const text = `${doing} failed: the brokers refuse it to ${principal} (${type}). Grant ${grant}; \`duelog acls\` lists what each role needs.`
    return new DuelogError(code, text, { cause: thrown })
  }
  const root = rootOf(thrown)
  const tls = tlsFaultOf(root)
  if (tls !== undefined) return new DuelogError(tls.code, `${doing} failed: ${tls.reason}. ${tls.todo}`, { cause: thrown })
  const { type } = root
  const reason = isUnanswered(thrown) ? 'No broker answered' : messageOf(thrown)
  const message = `${doing} failed: ${reason.replace(/\.$/, '')}${type ? ` (${type})` : ''}.`
  const todo = advice[code]
  return new DuelogError(code, todo === undefined ? message : `${message} ${todo}`, { cause: thrown })
}

const retriesMsMax = 20_000

/**
 * Temporary errors, besides a broker that does not answer. The broker does not know the topic yet, or it does not lead the
 * partition yet, or it has ceased to lead it.
 */
const unready = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'REPLICA_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
])

/** Retries after each of these waits while the error is temporary; then throws it. */
export async function retryWhile<Value>(
  isPassing: (thrown: unknown) => boolean,
  waitsMs: Iterable<number>,
  ask: () => Promise<Value>,
): Promise<Value> {
  const waits = waitsMs[Symbol.iterator]()
  while (true) {
    try {
      return await ask()
    } catch (thrown) {
      if (!isPassing(thrown)) throw thrown
      const next = waits.next()
      if (next.done === true) throw thrown
      await wait(next.value)
    }
  }
}

/**
 * Retries while the error is temporary, by default for 20 s at most: Kafka has no signal for "ready now". Errors of the `exceptions` types are
 * final as well.
 */
export function withRetry<Value>(
  ask: () => Promise<Value>,
  exceptions: readonly string[] = [],
  forMs = retriesMsMax,
): Promise<Value> {
  const isPassing = (thrown: unknown): boolean => {
    const type = typeOf(thrown)
    return (unready.has(type) || isUnanswered(thrown)) && !exceptions.includes(type)
  }
  return retryWhile(isPassing, growingWaits(performance.now() + forMs), ask)
}

/** The first and the longest wait after a temporary refusal, and the growth factor. ms. */
const [waitMsMin, waitMsMax, waitFactor] = [3, 250, 1.6]

/**
 * Short at first: a transaction that begins while the previous one is still ending is refused for some milliseconds. `nowMs`: any
 * steady clock.
 */
export function* growingWaits(endMs: number, nowMs = (): number => performance.now()): Generator<number> {
  for (let waitMs = waitMsMin; nowMs() < endMs; waitMs = Math.min(waitMs * waitFactor, waitMsMax)) yield waitMs
}

/** The error type of a broker's answer; empty if no broker answered. */
export function typeOf(thrown: unknown): string {
  const error = thrown as { type?: string; cause?: unknown }
  return error.type ?? (error.cause ? typeOf(error.cause) : '')
}

/** Between two tries while a broker is lost. */
export const retryMs = 250

const lossNames =
  /^KafkaJS(ConnectionError|ConnectionClosedError|RequestTimeoutError|BrokerNotFound|LockTimeout|GroupCoordinatorNotFound)$/
/** Answers of a broker that is not the coordinator, or not yet: it has not executed the request. */
export const movedTypes: ReadonlySet<string> = new Set([
  'NOT_COORDINATOR_FOR_GROUP',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
])
const lateTypes = new Set([
  ...['STORAGE_ERROR', 'UNKNOWN_TOPIC_ID', 'REQUEST_TIMED_OUT', 'CORRUPT_MESSAGE', 'NETWORK_EXCEPTION'],
  ...['NOT_ENOUGH_REPLICAS', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'CONCURRENT_TRANSACTIONS'],
])

/** Not an answer about the group, the partition or the principal: the responsible broker has changed, is missing or is not ready. */
export function isLoss(error: unknown): boolean {
  let fault = error as Fault | undefined
  for (let depth = 0; fault && depth < 8; fault = fault.cause as Fault | undefined, depth++) {
    const { name = '', type = '', retriable } = fault
    if (lossNames.test(name) || movedTypes.has(type) || unready.has(type) || lateTypes.has(type)) return true
    if (retriable === true && fault.cause === undefined) return true
  }
  if (error instanceof DuelogError) return error.code === 'broker-unavailable'
  return isUnanswered(error)
}

export interface TlsFault {
  code: ErrorCode
  /** What happened, without a period. */
  reason: string
  todo: string
}

/** The fields that are read of an error of a connection. */
interface ConnectionFault {
  code?: unknown
  message?: string
  /** host:port. */
  broker?: string
}

/** Alerts about the certificate of the client. OpenSSL puts the version of TLS before them. */
const clientRefused = /ALERT_((?:BAD|NO|UNSUPPORTED)_CERTIFICATE|CERTIFICATE_[A-Z]+|UNKNOWN_CA|ACCESS_DENIED)$/
/** What a listener without TLS does with the first bytes of TLS: it answers something else, or ends the connection. */
const notTls = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/
const endedEarly = /before secure TLS connection was established/

/** Undefined: TLS was not the reason. */
export function tlsFaultOf(fault: ConnectionFault): TlsFault | undefined {
  const { broker } = fault
  const code = String(fault.code)
  const message = (fault.message ?? '').replace(/^Connection error: /, '')
  const place = broker === undefined ? 'a broker' : `the broker ${broker}`
  const alert = clientRefused.exec(code)?.[1]?.toLowerCase().replaceAll('_', ' ')
  if (alert !== undefined)
    return {
      code: 'bad-config',
      reason: `${place} refuses the client certificate, or wants one and got none (${alert})`,
      todo: 'Set KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE, or `cert` and `key` of `ssl`, to a certificate that is valid now and that an authority has signed that the brokers trust (their ssl.truststore.…).',
    }
  if (isUntrusted(fault))
    return {
      code: 'bad-config',
      reason: `no known authority has signed the certificate of ${place} (${code})`,
      todo: 'Set KAFKA_SSL_CA_FILE, or `ca` of `ssl`, to the authority that signed it.',
    }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return {
      code: 'bad-config',
      reason: `the certificate of ${place} has other names (${message})`,
      todo: 'Use a name of the certificate in KAFKA_BROKERS and in advertised.listeners of the brokers, or add the name to the certificate.',
    }
  if (code === 'CERT_HAS_EXPIRED')
    return {
      code: 'broker-unavailable',
      reason: `the certificate of ${place}, or of its authority, has expired`,
      todo: 'Replace it; or set the clock of this machine, if that is wrong.',
    }
  if (notTls.test(code) || endedEarly.test(message))
    return {
      code: 'broker-unavailable',
      // The message of OpenSSL names lines of its source.
      reason: `${place} did not answer with TLS (${notTls.test(code) ? code : message})`,
      todo: 'Check that it runs, and that its port in KAFKA_BROKERS is a listener with TLS. For a listener without TLS leave out KAFKA_SSL_ENABLED, or `ssl`.',
    }
  return undefined
}
