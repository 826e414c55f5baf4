/** Turns what kafkajs throws into errors of our table. */
import { DuelogError, type ErrorCode, messageOf } from '../errors.ts'

/** What is read of kafkajs's errors; its classes differ, these fields do not. */
interface Fault {
  name?: string
  type?: string
  code?: unknown
  cause?: unknown
  retriable?: boolean
  errors?: unknown[]
}

/** A later producer of the same transactional id took over, or the coordinator ended our transaction and shut this epoch out. */
const fencing = new Set([
  'INVALID_PRODUCER_EPOCH',
  'PRODUCER_FENCED',
  'INVALID_PRODUCER_ID_MAPPING',
  'TRANSACTION_COORDINATOR_FENCED',
])
/** PRODUCER_FENCED, which kafkajs has no name for. */
const producerFencedCode = 90

const tooLarge = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'])
const refused = new Set(['INVALID_RECORD', 'INVALID_TIMESTAMP'])
const missing = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION'])
/** The transaction before is not over yet; where a broker is lost that may take longer than kafkajs asks. */
const passing = new Set(['CONCURRENT_TRANSACTIONS'])
const forbidden = /AUTHORIZATION_FAILED|SASL_AUTHENTICATION_FAILED|UNSUPPORTED_SASL/
const connection = /Connection|Timeout|BrokerNotFound|NoBroker|CoordinatorNotFound|MetadataNotLoaded|NumberOfRetriesExceeded/

/** The innermost error, which names the true reason below kafkajs's wrappers. */
function rootOf(thrown: unknown): Fault {
  let fault = thrown as Fault
  for (let depth = 0; depth < 8; depth++) {
    const inner = fault.errors?.[0] ?? fault.cause
    if (typeof inner !== 'object' || inner === null) break
    fault = inner as Fault
  }
  return fault ?? {}
}

function codeOf(thrown: unknown): ErrorCode {
  const root = rootOf(thrown)
  const type = root.type ?? ''
  if (fencing.has(type) || root.code === producerFencedCode) return 'fenced'
  if (tooLarge.has(type)) return 'payload-too-large'
  if (refused.has(type)) return 'record-refused'
  if (missing.has(type)) return 'unsafe-topic'
  if (forbidden.test(type) || root.name === 'KafkaJSSASLAuthenticationError') return 'bad-config'
  if (passing.has(type) || connection.test(root.name ?? '') || root.retriable === true || typeof root.code === 'string')
    return 'broker-unavailable'
  return 'internal'
}

const advice: Partial<Record<ErrorCode, string>> = {
  fenced: 'Close this writer; open a new one only while this process still owns the partition.',
  'payload-too-large': 'Make the record smaller, or raise max.message.bytes of the topic.',
  'record-refused': 'Look at what the topic accepts, such as its compaction and its interceptors.',
  'unsafe-topic': 'The topic or partition does not exist; create it with `duelog topics apply`.',
  'bad-config': 'Check the SASL settings and the ACLs of this principal.',
  'broker-unavailable': 'Check that the brokers run and can be reached; then try again.',
}

/** An error of our table that says what was being done, where, and what to do. A DuelogError is passed on as it is. */
export function faultOf(thrown: unknown, doing: string): DuelogError {
  if (thrown instanceof DuelogError) return thrown
  const code = codeOf(thrown)
  const type = rootOf(thrown).type
  const said = `${doing} failed: ${messageOf(thrown).replace(/\.$/, '')}${type ? ` (${type})` : ''}.`
  const todo = advice[code]
  return new DuelogError(code, todo === undefined ? said : `${said} ${todo}`, { cause: thrown })
}
