/** The cause of a follow-up as handlers and receivers of other languages get it. */
import type { Cause, CauseOutcome } from '../../schemas/index.ts'
import { cutText } from '../text/index.ts'

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
