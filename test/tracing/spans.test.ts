/** Spans of owners and workers, by a real SDK that keeps them in memory. */
import { readFileSync } from 'node:fs'
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { ParentBasedSampler, SamplingDecision } from '@opentelemetry/sdk-trace-base'
import { beforeEach, expect, test } from 'vitest'
import {
  activeContext,
  CycleSpans,
  type DispatchedRun,
  handlerSpan,
  type StartedAttempt,
} from '../../src/ground/tracing/index.ts'
import { recordSpans } from '../tools/recorded-spans.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const origin = { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, tracestate: 'congo=t61' }
const notSampled = { traceparent: `00-${traceId}-00f067aa0ba902b7-00` }
const run: DispatchedRun = {
  ...{ jobId: 'a', executionId: 'a/1', runNo: 1, attempt: 1, trigger: 'SCHEDULE', handler: 'mail', pool: 'default' },
  ...{ scheduledFor: 1_000, topic: 'duelog.executions.default.normal', partition: 3, origin },
}
const dispatched = (spans: CycleSpans, changed: Partial<DispatchedRun> & { isOnce?: boolean } = {}) => {
  const { isOnce = true, ...more } = changed
  const described = { ...run, ...more }
  return spans.dispatched(isOnce ? described.origin : undefined, () => described)
}
const attempt: StartedAttempt = {
  ...{ jobId: 'a', executionId: 'a/1', runNo: 1, attempt: 1, trigger: 'SCHEDULE', handler: 'mail', pool: 'default' },
  ...{ topic: 'duelog.executions.default.normal', partition: 3, offset: 7, dispatchedAt: 900, dueAt: 1_000, startedAt: 1_020 },
  ...{ parent: undefined, origin },
}

// Before an SDK is registered.
const describeNothing = (): never => {
  throw new Error('Nothing should be described without an SDK.')
}
const without = {
  once: new CycleSpans(() => 5, 1).dispatched(origin, describeNothing),
  often: new CycleSpans(() => 5, 1).dispatched(undefined, describeNothing),
  handler: handlerSpan(1, describeNothing),
  active: activeContext(),
}
const recorded = recordSpans(
  new ParentBasedSampler({
    root: {
      shouldSample: (_context, _traceId, name) => ({
        decision: name.includes('unsampled') ? SamplingDecision.NOT_RECORD : SamplingDecision.RECORD_AND_SAMPLED,
      }),
      toString: () => 'by name',
    },
  }),
)
beforeEach(() => recorded.reset())
const named = (name: string) => recorded.all().find((span) => span.name.startsWith(name))
const msOf = ([seconds, nanos]: readonly [number, number]): number => seconds * 1_000 + nanos / 1e6

test('without an SDK the context of a definition that makes one run is handed on, and nothing is made', () => {
  expect(without).toEqual({ once: origin, often: undefined, handler: undefined, active: undefined })
})

test('a job that runs once belongs to the trace of its definition', () => {
  let nowMs = 1_010
  const spans = new CycleSpans(() => nowMs, 1_000)
  const sent = dispatched(spans)
  nowMs = 1_030
  spans.ended()
  const [decide, dispatch] = [named('decide'), named('dispatch')]
  expect(decide).toMatchObject({ name: 'decide mail', kind: SpanKind.INTERNAL, links: [] })
  expect(decide?.spanContext().traceId).toBe(traceId)
  expect(decide?.parentSpanContext?.spanId).toBe('00f067aa0ba902b7')
  expect([msOf(decide?.startTime ?? [0, 0]), msOf(decide?.endTime ?? [0, 0])]).toEqual([1_000, 1_010])
  expect(dispatch).toMatchObject({ name: 'dispatch duelog.executions.default.normal', kind: SpanKind.PRODUCER })
  expect(dispatch?.parentSpanContext?.spanId).toBe(decide?.spanContext().spanId)
  expect([msOf(dispatch?.startTime ?? [0, 0]), msOf(dispatch?.endTime ?? [0, 0])]).toEqual([1_010, 1_030])
  expect(dispatch?.attributes).toEqual({
    ...{ 'messaging.system': 'kafka', 'messaging.operation.name': 'dispatch', 'messaging.operation.type': 'send' },
    ...{ 'messaging.destination.name': run.topic, 'messaging.destination.partition.id': '3', 'messaging.message.id': 'a/1' },
    ...{ 'duelog.job.id': 'a', 'duelog.run.number': 1, 'duelog.run.attempt': 1, 'duelog.run.trigger': 'SCHEDULE' },
    ...{ 'duelog.handler': 'mail', 'duelog.pool': 'default', 'duelog.scheduled_for': '1970-01-01T00:00:01.000Z' },
  })
  // The state of the tracers before goes along.
  expect(sent).toEqual({ traceparent: `00-${traceId}-${dispatch?.spanContext().spanId}-01`, tracestate: 'congo=t61' })
})

test('spans of owners and workers name Duelog and its version, as a library does', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  const spans = new CycleSpans(() => 1_010, 1_000)
  dispatched(spans)
  spans.ended()
  handlerSpan(1, () => attempt)?.ended({ outcome: 'SUCCEEDED', endedAt: 1_050 })
  const scopes = recorded.all().map(({ name, instrumentationScope }) => [name.split(' ')[0], instrumentationScope])
  const scope = expect.objectContaining({ name: 'duelog', version })
  expect(scopes).toEqual(['decide', 'dispatch', 'wait', 'run'].map((name) => [name, scope]))
})

test('each run of a job that repeats has a trace of its own, with a link to its definition', () => {
  const spans = new CycleSpans(() => 1_010, 1_000)
  const [one, two] = [dispatched(spans, { isOnce: false }), dispatched(spans, { isOnce: false, runNo: 2 })]
  spans.ended()
  const traces = recorded.all().map((span) => span.spanContext().traceId)
  expect(new Set(traces).size).toBe(2)
  expect(traces).not.toContain(traceId)
  for (const decide of recorded.all().filter(({ name }) => name.startsWith('decide'))) {
    expect(decide.parentSpanContext).toBeUndefined()
    expect(decide.links).toMatchObject([{ context: { traceId, spanId: '00f067aa0ba902b7' } }])
  }
  expect(one?.traceparent).not.toBe(two?.traceparent)
})

test('a commit that fails is an error of each dispatch', () => {
  const spans = new CycleSpans(() => 1_010, 1_000)
  dispatched(spans)
  spans.ended('fenced')
  spans.ended()
  expect(named('dispatch')).toMatchObject({ status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': 'fenced' } })
  expect(recorded.all()).toHaveLength(2)
})

test('what is not sampled is not recorded, and the worker is told so', () => {
  const spans = new CycleSpans(() => 1_010, 1_000)
  const child = dispatched(spans, { origin: notSampled })
  const own = dispatched(spans, { origin: undefined, handler: 'unsampled' })
  spans.ended()
  expect(recorded.all()).toEqual([])
  expect(child?.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
  expect(own?.traceparent).toMatch(/-00$/)
  const span = handlerSpan(1, () => ({ ...attempt, parent: own }))
  span?.ended({ outcome: 'SUCCEEDED', endedAt: 1_050 })
  expect(recorded.all()).toEqual([])
  expect(span?.ids?.trace_id).toBe(own?.traceparent.split('-')[1])
})

test('a handler runs inside its span, beside the time that its run waited', async () => {
  const parent = dispatched(new CycleSpans(() => 900, 890))
  const span = handlerSpan(1, () => ({ ...attempt, parent }))
  const seen = await span?.around(async () => {
    await Promise.resolve()
    trace.getTracer('of the user').startSpan('query').end()
    return activeContext()
  })
  span?.ended({ outcome: 'FAILED', endedAt: 1_100, error: { type: 'CardDeclined', message: 'refused' } })
  expect(trace.getSpan(context.active())).toBeUndefined()
  const [wait, handler, query] = [named('wait'), named('run'), named('query')]
  const parentId = parent?.traceparent.split('-')[2]
  expect(wait).toMatchObject({ name: 'wait default', kind: SpanKind.INTERNAL, attributes: { 'duelog.lateness_ms': 20 } })
  expect([msOf(wait?.startTime ?? [0, 0]), msOf(wait?.endTime ?? [0, 0])]).toEqual([900, 1_020])
  expect(handler).toMatchObject({
    ...{ name: 'run mail', kind: SpanKind.CONSUMER, links: [], status: { code: SpanStatusCode.ERROR, message: 'refused' } },
    attributes: {
      ...{ 'messaging.operation.name': 'run', 'messaging.operation.type': 'process', 'messaging.kafka.offset': 7 },
      ...{ 'error.type': 'CardDeclined', 'duelog.outcome': 'FAILED', 'messaging.message.id': 'a/1' },
    },
  })
  expect([wait, handler].map((each) => each?.parentSpanContext?.spanId)).toEqual([parentId, parentId])
  expect(query?.parentSpanContext?.spanId).toBe(handler?.spanContext().spanId)
  expect(seen).toEqual(span?.headers)
})

test('an owner without an SDK leaves the link to the worker', () => {
  handlerSpan(1, () => attempt)?.ended({ outcome: 'SUCCEEDED', endedAt: 1_050 })
  expect(named('run')).toMatchObject({ links: [{ context: { traceId } }] })
  expect(named('run')?.parentSpanContext).toBeUndefined()
})

test('a batch has one span with a link to each run, and ends with its last one', () => {
  const parents = ['00f067aa0ba902b7', '00f067aa0ba902b8'].map((id) => ({ traceparent: `00-${traceId}-${id}-01` }))
  const span = handlerSpan(2, (at) => ({ ...attempt, jobId: `b${at}`, parent: parents[at] }))
  span?.ended({ outcome: 'SUCCEEDED', endedAt: 1_050 })
  expect(named('run')).toBeUndefined()
  span?.ended({ outcome: 'SUCCEEDED', endedAt: 1_060 })
  expect(named('run')).toMatchObject({
    attributes: { 'messaging.batch.message_count': 2 },
    links: parents.map(({ traceparent }) => ({ context: { spanId: traceparent.split('-')[2] } })),
  })
  expect(recorded.all().filter(({ name }) => name.startsWith('wait'))).toHaveLength(2)
})
