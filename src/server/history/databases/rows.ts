/**
 * An ended run as a row. Its id begins with the time at which the run ended, so that every index is in the order of time, and ends
 * with a hash of its identity, so that a record which is read again finds its own row.
 */

import type { EndedRun } from '../../../../schemas/index.ts'
import { cutText, fnv } from '../../../../streams/text/index.ts'
import type { SqlRow, SqlValue } from './sql.ts'

/** Bits of an id after the time: runs that end in the same millisecond. */
export const hashBits = 20n
/** End of the times that an id can hold, in epoch ms: in the year 2248. */
const timeEnd = 2 ** 43 - 1
/** Longest text of a column that is not bounded elsewhere, in characters. Anybody with the right to write to the topic chooses it. */
const textCharsMax = 1_000
/** Longest text of a column with an index. PostgreSQL refuses index entries of more than 2,704 bytes. */
const keyCharsMax = 255
/** The same for columns that are in one index together. */
const [outcomeCharsMax, handlerCharsMax, poolCharsMax] = [64, 128, 64]
const resultBytesMax = 4_096
const tagsMax = 64

/** First id of the runs that ended at this time or later. */
export function idAt(ms: number): bigint {
  return BigInt(Math.max(0, Math.min(Math.ceil(ms), timeEnd))) << hashBits
}

/** The time of an id, in epoch ms. */
export const timeOfId = (id: bigint): number => Number(id >> hashBits)

export const columns = [
  ...['id', 'job_id', 'life', 'run_no', 'outcome', 'reason', 'cause', 'command_id', 'handler', 'topic', 'pool', 'tags'],
  ...['scheduled_for', 'due_at', 'started_at', 'finished_at', 'duration_ms', 'attempts', 'worker', 'error_type'],
  ...['error_message', 'result', 'result_bytes', 'note', 'may_hold_secrets', 'traceparent'],
] as const

export interface RunRow {
  id: bigint
  jobId: string
  life: string
  runNo: number
  scheduledFor: number
  finishedAt: number
  outcome: string
  handler: string | null
  pool: string | null
  /** See durationOf. */
  durationMs: number | null
  /** From the due time of the last attempt to its start, at least 0; null if either is unknown. */
  lateMs: number | null
  hasError: boolean
  tags: string[]
  /** In the order of `columns`, after the id. */
  rest: SqlValue[]
}

/** Skipped occurrences have no run: their number is 0, and each has its nominal time. */
export function identityOf({
  jobId,
  life,
  runNo,
  scheduledFor,
}: Pick<RunRow, 'jobId' | 'life' | 'runNo' | 'scheduledFor'>): string {
  const run = `${jobId}\n${life}\n${runNo}`
  return runNo === 0 ? `${run}\n${scheduledFor}` : run
}

/** The run as a row; a sentence part if it is not a run that Duelog can have written. */
export function rowOf(run: EndedRun): RunRow | string {
  const { finishedAt, runNo } = run
  if (!Number.isSafeInteger(finishedAt) || finishedAt < 0 || finishedAt >= timeEnd) return `finishedAt is ${finishedAt}`
  if (!Number.isSafeInteger(runNo) || runNo < 0) return `runNo is ${runNo}`
  if (run.jobId.length > keyCharsMax) return `jobId has ${run.jobId.length} characters`
  const jobId = clean(run.jobId, keyCharsMax)
  const life = clean(run.life, keyCharsMax)
  const outcome = clean(run.outcome, outcomeCharsMax)
  const [handler, pool] = [cleanOrNull(run.handler, handlerCharsMax), cleanOrNull(run.pool, poolCharsMax)]
  const tags = [...new Set(run.tags.slice(0, tagsMax).map((tag) => clean(tag, keyCharsMax)))]
  const scheduledFor = whole(run.scheduledFor)
  const durationMs = durationOf(run)
  const lateMs = run.dueAt === null || run.startedAt === null ? null : Math.max(0, run.startedAt - run.dueAt)
  const rest: SqlValue[] = [
    ...[jobId, life, runNo, outcome, cleanOrNull(run.reason), clean(run.trigger), cleanOrNull(run.commandId)],
    ...[handler, cleanOrNull(run.topic), pool, JSON.stringify(tags)],
    ...[scheduledFor, wholeOrNull(run.dueAt), wholeOrNull(run.startedAt), finishedAt, durationMs],
    ...[whole(run.attempts), cleanOrNull(run.worker), cleanOrNull(run.errorType, keyCharsMax), cleanOrNull(run.errorMessage)],
    ...[run.result !== null && run.result.length <= resultBytesMax ? run.result : null, whole(run.resultBytes)],
    ...[cleanOrNull(run.note), run.mayHoldSecrets ? 1 : 0, cleanOrNull(run.traceparent)],
  ]
  const id = idAt(finishedAt) | BigInt(fnv(identityOf({ jobId, life, runNo, scheduledFor })) & ((1 << Number(hashBits)) - 1))
  const hasError = run.errorType !== null || run.errorMessage !== null
  return { id, jobId, life, runNo, scheduledFor, finishedAt, outcome, handler, pool, durationMs, lateMs, hasError, tags, rest }
}

/** From the start of the last attempt to the end of the run; null without a start, or if the clocks differ. */
export function durationOf({ startedAt, finishedAt }: Pick<EndedRun, 'startedAt' | 'finishedAt'>): number | null {
  return startedAt === null || startedAt > finishedAt ? null : finishedAt - startedAt
}

/** PostgreSQL has no NUL in texts. A cut may split a pair of surrogates. */
export function clean(text: string, charsMax = textCharsMax): string {
  return cutText(text, charsMax).replaceAll('\0', '\ufffd')
}

const cleanOrNull = (text: string | null, charsMax?: number): string | null => (text === null ? null : clean(text, charsMax))
const whole = (value: number): number => (Number.isSafeInteger(value) ? value : 0)
const wholeOrNull = (value: number | null): number | null => (value === null ? null : whole(value))

export function runOf(row: SqlRow): EndedRun {
  const text = (name: string): string => String(row[name])
  const textOrNull = (name: string): string | null => (row[name] == null ? null : text(name))
  const number = (name: string): number => Number(row[name])
  const numberOrNull = (name: string): number | null => (row[name] == null ? null : number(name))
  const { result } = row
  return {
    jobId: text('job_id'),
    runNo: number('run_no'),
    life: text('life'),
    outcome: text('outcome'),
    reason: textOrNull('reason'),
    trigger: text('cause'),
    commandId: textOrNull('command_id'),
    handler: textOrNull('handler'),
    topic: textOrNull('topic'),
    pool: textOrNull('pool'),
    tags: JSON.parse(text('tags')) as string[],
    scheduledFor: number('scheduled_for'),
    dueAt: numberOrNull('due_at'),
    startedAt: numberOrNull('started_at'),
    finishedAt: number('finished_at'),
    attempts: number('attempts'),
    worker: textOrNull('worker'),
    errorType: textOrNull('error_type'),
    errorMessage: textOrNull('error_message'),
    result: result instanceof Uint8Array ? Buffer.from(result) : null,
    resultBytes: number('result_bytes'),
    note: textOrNull('note'),
    mayHoldSecrets: Number(row.may_hold_secrets) !== 0,
    traceparent: textOrNull('traceparent'),
  }
}
