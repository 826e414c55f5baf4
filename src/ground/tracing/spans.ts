/** Spans of owners and workers: what was decided of a run, how long it waited, and its handler. */
import { type Attributes, context, type Link, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import type { TraceContext } from '../../../streams/text/index.ts'
import { attributeNames, contextUnder, failed, guarded, headersOf, instant, spanContextOf, spanNames, tracer } from './tracer.ts'

/** Spans of an owner: of each dispatch of a commit cycle, what was decided and how long its commit took. */

/** A run that an owner dispatches. */
export interface DispatchedRun {
  jobId: string
  executionId: string
  runNo: number
  /** Undefined, like the next three, if its target is a topic. */
  attempt?: number
  trigger?: string
  handler?: string
  pool?: string
  scheduledFor: number
  topic: string
  partition: number | undefined
  /** The context of the definition. Without a parent the run has a trace of its own, with a link to it. */
  origin: TraceContext | undefined
}

export class CycleSpans {
  readonly #nowMs: () => number
  readonly #beganAtMs: number
  readonly #spans: Span[] = []

  /** `beganAtMs`: when the cycle began, by `nowMs`. */
  constructor(nowMs: () => number, beganAtMs: number) {
    this.#nowMs = nowMs
    this.#beganAtMs = beganAtMs
  }

  /**
   * The context that its record takes along: that of the span of its dispatch; without an SDK `parent`. Only with an SDK is the run
   * described. `parent`: the context of a definition that makes one run only. That run belongs to the trace of its definition.
   */
  dispatched(parent: TraceContext | undefined, describe: () => DispatchedRun): TraceContext | undefined {
    const recorder = tracer()
    if (recorder === undefined) return parent
    const run = describe()
    return guarded(() => this.#recorded(recorder, run, parent)) ?? parent
  }

  #recorded(recorder: Tracer, run: DispatchedRun, parent: TraceContext | undefined): TraceContext | undefined {
    const { origin, topic, partition } = run
    const attributes = dispatchAttributesOf(run)
    const links = origin === undefined || parent !== undefined ? [] : [{ context: spanContextOf(origin) }]
    const decision = recorder.startSpan(
      `${spanNames.decide} ${run.handler ?? topic}`,
      { kind: SpanKind.INTERNAL, startTime: instant(this.#beganAtMs), attributes, links },
      contextUnder(parent),
    )
    const now = Math.max(this.#nowMs(), this.#beganAtMs)
    const sending: Attributes = {
      ...attributes,
      [attributeNames.system]: 'kafka',
      [attributeNames.operation]: spanNames.dispatch,
      [attributeNames.operationType]: 'send',
      [attributeNames.destination]: topic,
      ...(partition !== undefined && { [attributeNames.destinationPartition]: String(partition) }),
    }
    const under = trace.setSpan(contextUnder(undefined), decision)
    const dispatch = recorder.startSpan(
      `${spanNames.dispatch} ${topic}`,
      { kind: SpanKind.PRODUCER, startTime: instant(now), attributes: sending },
      under,
    )
    this.#spans.push(dispatch)
    decision.end(instant(now))
    return headersOf(dispatch)
  }

  /** The cycle has committed, or has failed: then its runs are dispatched again by a later one. */
  ended(errorType?: string): void {
    if (this.#spans.length === 0) return
    const now = Math.max(this.#nowMs(), this.#beganAtMs)
    for (const span of this.#spans.splice(0))
      guarded(() => {
        if (errorType !== undefined) {
          span.setAttribute(attributeNames.errorType, errorType)
          span.setStatus({ code: SpanStatusCode.ERROR })
        }
        span.end(instant(now))
      })
  }
}

const dispatchAttributesOf = (run: DispatchedRun): Attributes => ({
  [attributeNames.jobId]: run.jobId,
  [attributeNames.runNo]: run.runNo,
  [attributeNames.messageId]: run.executionId,
  [attributeNames.scheduledFor]: isoOrNumber(run.scheduledFor),
  ...(run.attempt !== undefined && { [attributeNames.attempt]: run.attempt }),
  ...(run.trigger !== undefined && { [attributeNames.trigger]: run.trigger }),
  ...(run.handler !== undefined && { [attributeNames.handler]: run.handler }),
  ...(run.pool !== undefined && { [attributeNames.pool]: run.pool }),
})

/** A wrong clock may make times that no calendar has. */
const isoOrNumber = (ms: number): string | number => (Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : ms)

/** Spans of a worker: how long a run waited, and its handler. A batch has one span of its handler, with a link to each run. */

/** An attempt that starts in this worker. */
export interface StartedAttempt {
  jobId: string
  executionId: string
  runNo: number
  attempt: number
  trigger: string
  handler: string
  pool: string
  topic: string
  partition: number
  offset: number
  dispatchedAt: number
  dueAt: number
  startedAt: number
  /** The context that its record came with. */
  parent: TraceContext | undefined
  /** The context of its definition. */
  origin: TraceContext | undefined
}

/** How an attempt has ended. */
export interface AttemptEnd {
  outcome: string
  endedAt: number
  error?: { type: string; message: string } | undefined
}

export class HandlerSpan {
  readonly #span: Span
  #left: number
  /** The context of the span, for reports. */
  readonly headers: TraceContext | undefined

  constructor(span: Span, attempts: number) {
    this.#span = span
    this.#left = attempts
    this.headers = headersOf(span)
  }

  /** Ids for lines of the log; undefined if the span has none. */
  get ids(): { trace_id: string; span_id: string } | undefined {
    if (this.headers === undefined) return undefined
    const [, traceId = '', spanId = ''] = this.headers.traceparent.split('-')
    return { trace_id: traceId, span_id: spanId }
  }

  /** Calls the handler with the span active, so that the spans of the handler belong to it. */
  around<Result>(call: () => Result): Result {
    let result: (() => Result) | undefined
    try {
      context.with(trace.setSpan(context.active(), this.#span), () => {
        result = outcomeOf(call)
      })
    } catch (error) {
      failed(error)
    }
    // A context manager that throws may have called it or not. It is called once.
    return result === undefined ? call() : result()
  }

  /** One of its attempts has ended. The span ends with the last one. */
  ended({ outcome, endedAt, error }: AttemptEnd): void {
    const isLast = --this.#left <= 0
    guarded(() => {
      if (error !== undefined) {
        this.#span.setAttribute(attributeNames.errorType, error.type)
        this.#span.setStatus({ code: SpanStatusCode.ERROR, message: error.message })
      }
      if (!isLast) return
      this.#span.setAttribute(attributeNames.outcome, outcome)
      this.#span.end(instant(endedAt))
    })
  }
}

/** What a call returns or throws, to be returned or thrown later. */
function outcomeOf<Result>(call: () => Result): () => Result {
  try {
    const value = call()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** The span of a handler for a number of attempts; undefined without an SDK. Only with one are they described. */
export function handlerSpan(count: number, describe: (at: number) => StartedAttempt): HandlerSpan | undefined {
  const recorder = tracer()
  if (recorder === undefined) return undefined
  const attempts = Array.from({ length: count }, (_, at) => describe(at))
  return guarded(() => recordedSpan(recorder, attempts))
}

function recordedSpan(recorder: Tracer, attempts: readonly StartedAttempt[]): HandlerSpan {
  const first = attempts[0] as StartedAttempt
  for (const attempt of attempts) {
    const { pool, parent, dispatchedAt, startedAt } = attempt
    // Clocks of two machines may differ.
    const startTime = instant(Math.min(dispatchedAt, startedAt))
    const options = { kind: SpanKind.INTERNAL, startTime, attributes: attemptAttributesOf(attempt), links: linkOf(attempt) }
    recorder.startSpan(`${spanNames.wait} ${pool}`, options, contextUnder(parent)).end(instant(startedAt))
  }
  const isBatch = attempts.length > 1
  const { handler, topic, partition, offset, startedAt } = first
  const attributes: Attributes = {
    ...(isBatch
      ? { [attributeNames.batchSize]: attempts.length }
      : { ...attemptAttributesOf(first), [attributeNames.offset]: offset }),
    [attributeNames.handler]: handler,
    [attributeNames.pool]: first.pool,
    [attributeNames.system]: 'kafka',
    [attributeNames.operation]: spanNames.run,
    [attributeNames.operationType]: 'process',
    [attributeNames.destination]: topic,
    [attributeNames.destinationPartition]: String(partition),
  }
  const links = isBatch ? attempts.flatMap(batchLinkOf) : linkOf(first)
  const options = { kind: SpanKind.CONSUMER, startTime: instant(startedAt), attributes, links }
  const span = recorder.startSpan(`${spanNames.run} ${handler}`, options, contextUnder(isBatch ? undefined : first.parent))
  return new HandlerSpan(span, attempts.length)
}

/** A link to the trace of the definition, where the owner made no span that has it, because it has no SDK. */
const linkOf = ({ parent, origin }: StartedAttempt): Link[] =>
  parent !== undefined || origin === undefined ? [] : [{ context: spanContextOf(origin) }]

/** A batch belongs to no trace of its runs, and has a link to each. */
const batchLinkOf = ({ parent, origin }: StartedAttempt): Link[] => {
  const of = parent ?? origin
  return of === undefined ? [] : [{ context: spanContextOf(of) }]
}

const attemptAttributesOf = (attempt: StartedAttempt): Attributes => ({
  [attributeNames.jobId]: attempt.jobId,
  [attributeNames.runNo]: attempt.runNo,
  [attributeNames.attempt]: attempt.attempt,
  [attributeNames.trigger]: attempt.trigger,
  [attributeNames.handler]: attempt.handler,
  [attributeNames.pool]: attempt.pool,
  [attributeNames.messageId]: attempt.executionId,
  [attributeNames.lateness]: Math.max(0, attempt.startedAt - attempt.dueAt),
})
