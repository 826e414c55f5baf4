/** Traces by the API of OpenTelemetry: spans of owners and workers, and the context between systems. No other room imports that API. */

export { CycleSpans, type DispatchedRun, type HandlerSpan, handlerSpan, type StartedAttempt } from './spans.ts'
export { activeContext, attributeNames, flushSpans, spanNames } from './tracer.ts'
