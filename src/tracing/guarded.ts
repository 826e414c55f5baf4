/**
 * Calls into the tracer of the user. What it throws ends here: a run does not fail, and no partition stops, because a span cannot be made.
 * Samplers, processors of spans and context managers are code of users, and an SDK passes on what they throw.
 */
import { diag } from '@opentelemetry/api'

let isWarned = false

/** Undefined: it has thrown. */
export function guarded<Result>(call: () => Result): Result | undefined {
  try {
    return call()
  } catch (error) {
    failed(error)
    return undefined
  }
}

/** Each error goes to the diagnostics of OpenTelemetry, and the first one of the process to its warnings. */
export function failed(error: unknown): void {
  try {
    diag.error('Duelog: the tracer has thrown', error)
  } catch {
    // This logger is code of the user too.
  }
  if (isWarned) return
  isWarned = true
  process.emitWarning(
    `The tracer of OpenTelemetry has thrown: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}. Runs go on, but their spans may be missing. Check samplers, span processors and the context manager of your SDK. Further errors go to its diagnostics (diag.setLogger) alone.`,
    'DuelogTracingWarning',
  )
}
