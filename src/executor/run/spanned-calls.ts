/** Calls of handlers, and their spans: from the call to the end of its last attempt. */
import { executionIdOf } from '../../../streams/state/index.ts'
import { traceContextOf } from '../../../streams/text/index.ts'
import { type HandlerSpan, handlerSpan, type StartedAttempt } from '../../tracing/index.ts'
import type { BatchHandler, Handler } from '../handlers/index.ts'
import { type Attempt, HandledRun, type Outcome } from '../report/index.ts'

/** Undefined without a tracer. Each attempt keeps it, so that its end can be told. */
function spanOf(attempts: readonly Attempt[]): HandlerSpan | undefined {
  const span = handlerSpan(attempts.length, (at) => startedAttempt(attempts[at] as Attempt))
  if (span !== undefined) for (const attempt of attempts) attempt.span = span
  return span
}

/** Calls a handler, inside its span if there is one. */
export function callHandler(handler: Handler, attempt: Attempt): unknown {
  const span = spanOf([attempt])
  const run = new HandledRun(attempt)
  return span === undefined ? handler(run) : span.around(() => handler(run))
}

/** The same for a batch. */
export function callBatch(handler: BatchHandler, attempts: readonly Attempt[]): unknown {
  const span = spanOf(attempts)
  const runs = attempts.map((attempt) => new HandledRun(attempt))
  return span === undefined ? handler.run(runs) : span.around(() => handler.run(runs))
}

/** The outcome of the attempt is fixed. */
export function toldSpan({ span, endedAt }: Attempt, outcome: Outcome): void {
  span?.ended({ outcome: outcome.type, endedAt, error: outcome.type === 'FAILED' ? outcome.error : undefined })
}

function startedAttempt({ entry, execution, startedAt }: Attempt): StartedAttempt {
  const { jobId, runNo, attempt, trigger, handler, pool, dispatchedAt, dueAt, headers } = execution
  return {
    ...{ jobId, runNo, attempt, trigger, handler, pool, dispatchedAt, dueAt },
    executionId: executionIdOf(execution),
    ...{ topic: entry.lane.topic, partition: entry.lane.partition, offset: entry.offset },
    startedAt: startedAt ?? dueAt,
    parent: entry.trace,
    origin: traceContextOf(headers),
  }
}
