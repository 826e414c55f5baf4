/** The record of a run with a topic target: payload and headers byte for byte, Duelog's own headers; and the cause of a follow-up as handlers and receivers of other languages get it. */
import type { Cause, CauseOutcome, Execution, TopicTarget } from '../../schemas/index.ts'
import { type Context, executionIdOf, type TopicRecord } from '../state/index.ts'
import { cutText } from '../text/index.ts'
import { recordBytes } from '../topics/index.ts'

/** Headers that such a record has. They replace headers of the job with the same names. */
export const recordHeaders = {
  jobId: 'duelog-job-id',
  runNo: 'duelog-run-no',
  scheduledFor: 'duelog-scheduled-for',
  executionId: 'duelog-execution-id',
  /** Only of a follow-up: RunCause as JSON. */
  cause: 'duelog-cause',
} as const

export function topicRecord(
  run: Pick<Execution, 'jobId' | 'runNo' | 'life' | 'scheduledFor'>,
  { name, key, partition }: TopicTarget,
  { payload, headers, cause }: { payload: Buffer | null; headers: Record<string, Buffer>; cause: Cause | null },
): TopicRecord {
  const { jobId, runNo, scheduledFor } = run
  const { [recordHeaders.cause]: _, ...own } = headers
  return {
    topic: name,
    partition,
    key: key ?? jobId,
    value: payload,
    headers: {
      ...own,
      [recordHeaders.jobId]: jobId,
      [recordHeaders.runNo]: String(runNo),
      [recordHeaders.scheduledFor]: String(scheduledFor),
      [recordHeaders.executionId]: executionIdOf(run),
      ...(cause !== null && { [recordHeaders.cause]: causeJson(cause) }),
    },
  }
}

/** The record of a run for its topic, and why it cannot be written now. A follow-up that is too large with its cause goes without it. */
export function writableRecord(
  execution: Execution,
  place: TopicTarget,
  topicProblem: Context['topicProblem'],
): { record: TopicRecord; problem: string | undefined } {
  const record = topicRecord(execution, place, execution)
  const problem = topicProblem(place, recordBytes(record))
  if (problem === undefined || execution.cause === null) return { record, problem }
  const bare = topicRecord(execution, place, { ...execution, cause: null })
  return topicProblem(place, recordBytes(bare)) === undefined ? { record: bare, problem: undefined } : { record, problem }
}

/** The cause of a follow-up as handlers and receivers of other languages get it. */

/** The run whose end triggered this one. */
export interface RunCause {
  readonly jobId: string
  readonly runNo: number
  /** Life of its job; `jobId/runNo@life` is its execution id. */
  readonly life: string
  readonly outcome: CauseOutcome
  /** Its nominal time in epoch ms. */
  readonly scheduledFor: number
  /** When it ended, in epoch ms. */
  readonly finishedAt: number
  /** Its last error; null if it succeeded, or expired before an attempt failed. */
  readonly error: { readonly type: string; readonly message: string } | null
  /** What its handler returned; null if it returned nothing, or failed. */
  readonly result: unknown
}

export function runCauseOf({ errorType, errorMessage, result, ...cause }: Cause): RunCause {
  const error = errorType === null ? null : { type: errorType, message: errorMessage ?? '' }
  return { ...cause, error, result: parsed(result) }
}

/** Longest message in a header of HTTP: servers refuse long headers. */
const headerMessageCharsMax = 200
/** Longest result in a header of a record, in bytes. */
const headerResultBytesMax = 4_096

/** JSON in ASCII without the result, for a header of HTTP. */
export function causeHeader({ result: _, error, ...cause }: RunCause): string {
  const short =
    error === null
      ? null
      : { type: error.type.slice(0, headerMessageCharsMax), message: cutText(error.message, headerMessageCharsMax) }
  return JSON.stringify({ ...cause, error: short }).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** JSON for a header of a record. A long result is left out, so that the record stays within the limit of its topic. */
export function causeJson({ result, ...cause }: Cause): string {
  return JSON.stringify(runCauseOf({ ...cause, result: (result?.length ?? 0) <= headerResultBytesMax ? result : null }))
}

/** Null: there is none, or a sender made it up and it is not JSON. */
function parsed(result: Buffer | null): unknown {
  try {
    return result === null ? null : JSON.parse(result.toString('utf8'))
  } catch {
    return null
  }
}
