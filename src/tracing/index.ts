/** Traces by the API of OpenTelemetry: spans of owners and workers, and the context between systems. No other room imports that API. */
export { flushSpans } from './flush.ts'
export { attributeNames, spanNames } from './names.ts'
export { CycleSpans, type DispatchedRun } from './owner-spans.ts'
export { activeContext } from './tracer.ts'
export { type HandlerSpan, handlerSpan, type StartedAttempt } from './worker-spans.ts'
