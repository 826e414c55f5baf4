/** Spans of an owner: of each dispatch of a commit cycle, what was decided and how long its commit took. */
import { type Attributes, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import type { TraceContext } from '../../streams/text/index.ts'
import { guarded } from './guarded.ts'
import { attributeNames, spanNames } from './names.ts'
import { contextUnder, headersOf, instant, spanContextOf, tracer } from './tracer.ts'

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
    const attributes = attributesOf(run)
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

const attributesOf = (run: DispatchedRun): Attributes => ({
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
