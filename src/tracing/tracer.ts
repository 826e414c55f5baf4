/**
 * The tracer of this process. An SDK that the user registers makes it record. Without one there is no tracer, and nothing is made for
 * spans.
 */
import {
  type Context,
  context,
  createTraceState,
  type HrTime,
  type ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import pkg from '../../package.json' with { type: 'json' }
import { type TraceContext, traceContextOf } from '../../streams/text/index.ts'
import { guarded } from './guarded.ts'

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
