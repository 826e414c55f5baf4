/**
 * A report of a worker, cut to the limits of its schema. A part that is over a limit is left out and named, and the rest still
 * counts. A run whose result is too large has ended all the same. If its report were ignored, it would run again and again.
 */
import { type AvroField, type AvroRecord, type ExecutionEvent, executionEventSchema, fieldOf } from '../../schemas/index.ts'
import { limitChecker } from '../definitions/index.ts'
import { cutText, type Problem } from '../text/index.ts'

const problemsOf = limitChecker(executionEventSchema)
const errorSchema = (fieldOf(executionEventSchema, 'error').type as [string, AvroRecord])[1]

/** The problems of a report; nearly always empty. */
export const validateEvent = (event: ExecutionEvent): Problem[] => problemsOf(event)

export interface FittedReport {
  /** Undefined: the report names an impossible attempt. */
  event: ExecutionEvent | undefined
  /** Fields that were over their limits. */
  problems: Problem[]
  /** With SUCCEEDED: which part is missing, for people. */
  note: string | undefined
}

/** The report itself if all fields are within their limits. */
export function fittedReport(report: ExecutionEvent): FittedReport {
  const problems = validateEvent(report)
  if (problems.length === 0) return { event: report, problems, note: undefined }
  const event = shortened(report)
  const result = problems.find(({ field }) => field === 'result')
  const note = result === undefined ? undefined : `The result was left out: ${result.message}`
  return { event: validateEvent(event).length === 0 ? event : undefined, problems, note }
}

function shortened(report: ExecutionEvent): ExecutionEvent {
  const { result, error, progress } = report
  const of = (name: string): AvroField => fieldOf(executionEventSchema, name)
  const ofError = (name: string): AvroField => fieldOf(errorSchema, name)
  return {
    ...report,
    at: clamped(report.at, of('at')),
    startedAt: report.startedAt === null ? null : clamped(report.startedAt, of('startedAt')),
    worker: cut(report.worker, of('worker')),
    result: result !== null && result.length > (of('result').maxBytes ?? 0) ? null : result,
    error:
      error === null
        ? null
        : {
            ...error,
            type: cut(error.type, ofError('type')),
            message: cut(error.message, ofError('message')),
            stack: error.stack === null ? null : cut(error.stack, ofError('stack')),
            retryAfterMs: error.retryAfterMs === null ? null : clamped(error.retryAfterMs, ofError('retryAfterMs')),
          },
    progress: progress === null || Number.isNaN(progress) ? null : clamped(progress, of('progress')),
    message: report.message === null ? null : cut(report.message, of('message')),
  }
}

const clamped = (value: number, { minimum = 0, maximum = 0 }: AvroField): number => Math.min(Math.max(value, minimum), maximum)

const cut = (text: string, { maxLength = 0 }: AvroField): string => cutText(text, maxLength)
