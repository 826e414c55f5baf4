/**
 * The W3C trace context of headers, checked and bounded (https://www.w3.org/TR/trace-context/). Whatever a header holds, it is either
 * a context that every tracer can read, or none.
 */

export interface TraceContext {
  traceparent: string
  /** State of the tracers on the way; left out if it is missing or over a limit. */
  tracestate?: string
}

/** Headers as text or bytes. */
export type ContextHeaders = Readonly<Record<string, { toString(): string; readonly length: number } | undefined>>

/** Characters of a traceparent of version 00. Later versions may append fields, which are not passed on. */
const traceparentChars = 55
const traceparentCharsMax = 256
/** Characters and members of a tracestate that every tracer passes on. */
const tracestateCharsMax = 512
const tracestateMembersMax = 32

const traceparentForm = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/
const tracestateForm = /^[\t\x20-\x7e]+$/

/** Bytes that a context takes at most as two headers of a record. */
export const traceContextBytesMax = 700

export function traceContextOf({ traceparent: parent, tracestate: state }: ContextHeaders): TraceContext | undefined {
  if (parent === undefined || parent.length > traceparentCharsMax) return undefined
  const given = parent.toString()
  const traceparent = given.slice(0, traceparentChars)
  const more = given.slice(traceparentChars)
  if (!traceparentForm.test(traceparent) || (more !== '' && (given.startsWith('00') || !more.startsWith('-')))) return undefined
  if (state === undefined || state.length > tracestateCharsMax) return { traceparent }
  const tracestate = state.toString()
  if (!tracestateForm.test(tracestate) || tracestate.split(',').length > tracestateMembersMax) return { traceparent }
  return { traceparent, tracestate }
}
