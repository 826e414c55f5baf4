/**
 * Receipt for a record on jobs or job-commands whose sender has requested one: a pure function of the job before and after the record.
 * The owner writes it in the transaction whose position covers the record. So it is sent once, and only if the record was applied.
 */
import type { JobCommand } from '../../schemas/index.ts'
import { type Decision, type Input, type Job, pristineState, type TopicRecord } from '../state/index.ts'
import { commandNoun } from '../text/index.ts'
import { reasonText } from './reasons.ts'

/** Header of a definition or deletion: the record that it was made from. */
export const sourceHeader = 'duelog-source'

/** Headers by which a record asks for a receipt. */
export const replyHeaders = { topic: 'duelog-reply-topic', correlationId: 'duelog-correlation-id' } as const

export interface ReplyTo {
  topic: string
  /** Returned unchanged. */
  correlationId: Buffer | undefined
  /** The sender's record, if this record was made from it; else it is this record. */
  source: Place | undefined
}

/** Position of a record. */
export interface Place {
  topic: string
  partition: number
  offset: number
}

export interface Receipt {
  outcome: 'accepted' | 'rejected' | 'cancelled' | 'too-late'
  /** Why it was not accepted or cancelled. */
  reason?: string
  jobId: string
  /** Position of the record that the sender wrote. */
  topic: string
  partition: number
  offset: number
  /** With accepted: nominal time of the next occurrence in epoch ms, or null when there is none. */
  nextFireAt?: number | null
  /** With jitter: when that is due, in epoch ms. */
  nextDueAt?: number
}

/** Longest correlation id, and longest name that a topic can have. */
export const correlationIdBytesMax = 1_024
const replyTopicBytesMax = 249

/** Why a requested receipt cannot be sent; undefined also if none was requested. */
export function replyProblem(headers: Readonly<Record<string, Buffer>>): string | undefined {
  const [topic, id] = [headers[replyHeaders.topic], headers[replyHeaders.correlationId]]
  if (topic === undefined) return undefined
  if (topic.length > replyTopicBytesMax)
    return `Header ${replyHeaders.topic} has ${topic.length} bytes; at most ${replyTopicBytesMax}.`
  if (id === undefined || id.length <= correlationIdBytesMax) return undefined
  return `Header ${replyHeaders.correlationId} has ${id.length} bytes; at most ${correlationIdBytesMax}.`
}

/** Undefined if no receipt was requested, or if its headers are over their limits (`replyProblem`). */
export function replyToOf(headers: Record<string, Buffer>): ReplyTo | undefined {
  const topic = headers[replyHeaders.topic]
  return topic === undefined || replyProblem(headers) !== undefined
    ? undefined
    : { topic: topic.toString(), correlationId: headers[replyHeaders.correlationId], source: sourceOf(headers[sourceHeader]) }
}

/** The foreign record that a record of `jobs` was made from. */
export function sourceOf(header: Buffer | undefined): Place | undefined {
  const [, topic, partition, offset] =
    /^([\w.-]{1,249})\/(\d{1,9})\/(\d{1,15})$/.exec(header?.subarray(0, 300).toString() ?? '') ?? []
  return topic === undefined ? undefined : { topic, partition: Number(partition), offset: Number(offset) }
}

export type Answer = Pick<Receipt, 'outcome' | 'reason' | 'nextFireAt' | 'nextDueAt'>

/** Result of a definition, a deletion or a command. */
export function answerTo(before: Job, input: Input, { job, refusal }: Decision): Answer {
  if (input.kind === 'command') return commandAnswer(job, input.command, refusal)
  if (input.kind === 'definition') return definitionAnswer(job, input.definition.offset, input.definition.problem)
  if (input.kind === 'deletion') return deletionAnswer(before, job)
  return { outcome: 'rejected', reason: `A record of the kind ${input.kind} gets no receipt.` }
}

function commandAnswer(job: Job, command: JobCommand, refusal: string | undefined): Answer {
  if (refusal !== undefined)
    return { outcome: 'rejected', reason: `The ${commandNoun(command)} was dropped: ${reasonText(refusal)}.` }
  return { outcome: 'accepted', nextFireAt: job.state?.nextFireAt ?? null }
}

function definitionAnswer(job: Job, offset: number, problem: string | undefined): Answer {
  if (job.definition?.offset !== offset) return { outcome: 'rejected', reason: 'A later definition is in force.' }
  if (problem !== undefined) return { outcome: 'rejected', reason: problem }
  const state = job.state ?? pristineState(job)
  if (state.status === 'INVALID') return { outcome: 'rejected', reason: state.reason ?? 'The job is INVALID.' }
  const { nextFireAt, nextDueAt } = state
  return { outcome: 'accepted', nextFireAt, ...(nextDueAt !== null && { nextDueAt }) }
}

function deletionAnswer(before: Job, after: Job): Answer {
  if (before.definition === undefined && before.state === undefined)
    return { outcome: 'too-late', reason: 'There is no such job: it never was, was deleted, or was swept after its retention.' }
  if (after.definition !== undefined) return { outcome: 'rejected', reason: 'A later definition is in force.' }
  const { nextFireAt, runNo, status } = before.state ?? pristineState(before)
  if (nextFireAt !== null || status === 'INVALID') return { outcome: 'cancelled' }
  return { outcome: 'too-late', reason: `Run ${runNo} was the last one, and it had begun already.` }
}

/** The record of a receipt: JSON, with the job id as its key. */
export function receiptRecord(to: ReplyTo, receipt: Receipt): TopicRecord {
  const { correlationId } = to
  return {
    topic: to.topic,
    partition: null,
    key: receipt.jobId,
    value: Buffer.from(JSON.stringify(receipt)),
    headers: correlationId === undefined ? {} : { [replyHeaders.correlationId]: correlationId },
  }
}
