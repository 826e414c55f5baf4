/** Maps errors of kafkajs to errors of our table. */
import { DuelogError, type ErrorCode, messageOf } from '../../errors/index.ts'
import { tlsFaultOf } from './tls-faults.ts'

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
/** PRODUCER_FENCED, for which kafkajs has no name. */
const producerFencedCode = 90

const tooLarge = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'])
const refused = new Set(['INVALID_RECORD', 'INVALID_TIMESTAMP'])
const missing = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION'])
/**
 * The previous transaction has not ended yet: after the loss of a broker that may take longer than kafkajs retries. Or a broker
 * failed internally, for example when it should end a transaction while it is being fenced.
 */
const passing = new Set(['CONCURRENT_TRANSACTIONS', 'UNKNOWN'])
const denied = /^(TOPIC|GROUP|CLUSTER|TRANSACTIONAL_ID|DELEGATION_TOKEN)_AUTHORIZATION_FAILED$/
const unknownUser = /SASL_AUTHENTICATION_FAILED|UNSUPPORTED_SASL|ILLEGAL_SASL_STATE/
const connection = /Connection|Timeout|BrokerNotFound|NoBroker|CoordinatorNotFound|MetadataNotLoaded|NumberOfRetriesExceeded/

/**
 * When none of the brokers known to kafkajs answers, its `withBroker` returns null instead of an answer. kafkajs then
 * destructures it and throws a TypeError about null.
 */
export const isUnanswered = (thrown: unknown): boolean => thrown instanceof TypeError && /\bnull\b/.test(thrown.message)

/** The TypeErrors of kafkajs when metadata names a topic without partitions, or changes between its requests for both ends. */
export const isWithoutPartitions = (thrown: unknown): boolean =>
  thrown instanceof TypeError && /'partitions' of|reading '(partitions|offset)'/.test(thrown.message)

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
  if (fencing.has(type) || root.code === producerFencedCode) return 'fenced'
  if (tooLarge.has(type)) return 'payload-too-large'
  if (refused.has(type)) return 'record-refused'
  if (missing.has(type)) return 'unsafe-topic'
  if (denied.test(type)) return 'kafka-denied'
  if (unknownUser.test(type) || root.name === 'KafkaJSSASLAuthenticationError') return 'bad-config'
  if (
    passing.has(type) ||
    isUnanswered(thrown) ||
    connection.test(root.name ?? '') ||
    root.retriable === true ||
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
