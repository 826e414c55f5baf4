/**
 * Translates a foreign record into the record to write: a definition or a deletion on jobs, or a refusal that is counted, logged
 * and answered.
 */
import { fromEtf1, fromKarafka, type Translate } from '../../../streams/intake/index.ts'
import { receiptRecord, replyHeaders, replyProblem, replyToOf, sourceHeader } from '../../../streams/jobs/index.ts'
import { recordBytes } from '../../../streams/topics/index.ts'
import type { RecordIn, RecordOut } from '../../ground/ports/index.ts'
import type { Dialect, IntakeOptions } from './options.ts'

const translations: Record<Dialect, Translate> = { etf1: fromEtf1, karafka: fromKarafka }

/** Undefined for a refused record whose sender wants no receipt. */
export function translated(options: IntakeOptions, dialect: Dialect, record: RecordIn): RecordOut | undefined {
  const { names, metrics, definition } = options
  const problem = replyProblem(record.headers)
  if (problem !== undefined) receiptDropped(options, record, problem)
  const translation = translations[dialect](record)
  metrics.foreign.inc({ source: dialect, outcome: translation.kind })
  if (translation.kind === 'refused') return refusal(options, record, translation.jobId, translation.reason)
  const value = translation.kind === 'deletion' ? null : definition.encode(translation.definition)
  return { topic: names.jobs, ofJob: true, key: translation.jobId, value, headers: headersOf(record) }
}

function receiptDropped({ metrics, logger }: IntakeOptions, { topic, partition, offset }: RecordIn, problem: string): void {
  metrics.receiptsDropped.inc()
  logger.warn({ event: 'receipt-not-sent', topic, partition, offset }, `A receipt that was asked for cannot be sent: ${problem}`)
}

/** The owner answers translated records, so the reply headers are passed on. */
function headersOf({ topic, partition, offset, headers }: RecordIn): Record<string, Buffer | string> {
  const kept: Record<string, Buffer | string> = { [sourceHeader]: `${topic}/${partition}/${offset}` }
  // A reply topic that is too long to answer would make the definition too large for the log, and block all later records.
  if (replyToOf(headers) === undefined) return kept
  for (const name of Object.values(replyHeaders)) {
    const value = headers[name]
    if (value !== undefined) kept[name] = value
  }
  return kept
}

function refusal(options: IntakeOptions, record: RecordIn, jobId: string, reason: string): RecordOut | undefined {
  const { targets, metrics, logger } = options
  const { topic, partition, offset } = record
  logger.warn(
    { event: 'foreign-schedule-refused', topic, partition, offset },
    `A foreign schedule cannot be taken and is skipped: ${reason}`,
  )
  const replyTo = replyToOf(record.headers)
  if (replyTo === undefined) return undefined
  const receipt = receiptRecord(replyTo, { outcome: 'rejected', reason, jobId, topic, partition, offset })
  const problem = targets.problem({ name: receipt.topic, partition: null }, recordBytes(receipt))
  if (problem === undefined) {
    metrics.receipts.inc({ outcome: 'rejected' })
    return { topic: receipt.topic, key: receipt.key, value: receipt.value, headers: receipt.headers }
  }
  receiptDropped(options, record, problem)
  return undefined
}
