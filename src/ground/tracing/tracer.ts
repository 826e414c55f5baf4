/**
 * The tracer of this process. An SDK that the user registers makes it record. Without one there is no tracer, and nothing is made for
 * spans.
 */

import { setTimeout as wait } from 'node:timers/promises'
import {
  type Context,
  context,
  createTraceState,
  diag,
  type HrTime,
  type ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import pkg from '../../../package.json' with { type: 'json' }
import { type TraceContext, traceContextOf } from '../../../streams/text/index.ts'

/** The first word of a span's name. The second says what it is about: a handler, a topic or a pool, and never a job. */
export const spanNames = {
  /** Of the owner: from the begin of the commit cycle to the decision. */
  decide: 'decide',
  /** Of the owner: from the decision to its commit, which writes the run to its topic. */
  dispatch: 'dispatch',
  /** Of the worker: from the dispatch to the start of the handler. Most of it is the time until the run is due, and its queue. */
  wait: 'wait',
  /** Of the worker: the handler. */
  run: 'run',
} as const

export const attributeNames = {
  system: 'messaging.system',
  operation: 'messaging.operation.name',
  operationType: 'messaging.operation.type',
  destination: 'messaging.destination.name',
  destinationPartition: 'messaging.destination.partition.id',
  messageId: 'messaging.message.id',
  offset: 'messaging.kafka.offset',
  batchSize: 'messaging.batch.message_count',
  errorType: 'error.type',
  jobId: 'duelog.job.id',
  runNo: 'duelog.run.number',
  attempt: 'duelog.run.attempt',
  trigger: 'duelog.run.trigger',
  handler: 'duelog.handler',
  pool: 'duelog.pool',
  scheduledFor: 'duelog.scheduled_for',
  lateness: 'duelog.lateness_ms',
  outcome: 'duelog.outcome',
} as const

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

/** Name and version of the instrumentation scope: by them, users tell our spans from others, and find what has changed. */
const scope = ['duelog', pkg.version] as const

let found: Tracer | undefined

/** Undefined while no SDK is registered. It may be registered at any time. */
export function tracer(): Tracer | undefined {
  found ??= guarded(() => {
    // A provider of the API hands calls on to that of an SDK, once there is one. That of an SDK alone has no such function.
    const provider = trace.getTracerProvider() as TracerProvider & Partial<Pick<ProxyTracerProvider, 'getDelegateTracer'>>
    return provider.getDelegateTracer === undefined ? provider.getTracer(...scope) : provider.getDelegateTracer(...scope)
  })
  return found
}

/** A context of headers as the API knows it. */
export function spanContextOf({ traceparent, tracestate }: TraceContext): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  // Of the flags only the sampled one is known.
  const spanContext: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  if (tracestate !== undefined) spanContext.traceState = createTraceState(tracestate)
  return spanContext
}

/** The context in which a span of this parent begins; that of a new trace without one. */
export function contextUnder(parent: TraceContext | undefined): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent))
}

/** The context of a span, for headers; undefined if the span has none, as without an SDK. */
export function headersOf(span: Span | undefined): TraceContext | undefined {
  if (span === undefined) return undefined
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  const flags = (traceFlags & 1) === 1 ? '01' : '00'
  const tracestate = traceState?.serialize()
  return traceContextOf({
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(tracestate === undefined || tracestate === '' ? {} : { tracestate }),
  })
}

/** Epoch ms as the API takes them without a doubt: an SDK reads a small number as a time since the start of the process. */
export const instant = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms - Math.floor(ms / 1_000) * 1_000) * 1e6)]

/** The context of the span that is active now, for a request to another system; undefined if there is none. */
export const activeContext = (): TraceContext | undefined => guarded(() => headersOf(trace.getSpan(context.active())))

/** A collector that does not answer delays the end by no more. */
const flushMsMax = 3_000

interface Flushing {
  forceFlush?(): Promise<void>
}

/** Resolves when all spans that have ended are exported, or after `msMax`. At once without an SDK. */
export async function flushSpans(msMax = flushMsMax): Promise<void> {
  const flushed = guarded(() => {
    const provider = trace.getTracerProvider() as Flushing & { getDelegate?(): Flushing }
    const ofSdk = provider.getDelegate?.() ?? provider
    return ofSdk.forceFlush?.().catch(failed)
  })
  if (flushed === undefined) return
  const end = new AbortController()
  await Promise.race([flushed, wait(msMax, undefined, { signal: end.signal }).catch(() => {})])
  end.abort()
}
