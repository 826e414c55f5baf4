/** One trace from a definition over owner and worker to the systems that its run calls, on a real broker and with a real SDK. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { trace } from '@opentelemetry/api'
import avro, { type Schema } from 'avsc'
import { expect, onTestFinished, test, vi } from 'vitest'
import { schemaTexts } from '../../schemas/texts.ts'
import { Watcher } from '../kafka/harness.ts'
import { type Recorded, recordSpans } from '../tools/recorded-spans.ts'
import { openPlace } from './harness.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, tracestate: 'congo=t61' }
const idOf = (span: Recorded | undefined): string | undefined => span?.spanContext().spanId
const named = (spans: Recorded[], name: string): Recorded | undefined => spans.find((span) => span.name.startsWith(`${name} `))
const contextOf = (span: Recorded | undefined): string => `00-${span?.spanContext().traceId}-${idOf(span)}-01`

async function startServer(): Promise<{ url: string; requests: IncomingMessage['headers'][] }> {
  const requests: IncomingMessage['headers'][] = []
  const server = createServer((request, response) => {
    requests.push(request.headers)
    response.end('fine')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests }
}

test('a trace goes on through owner, worker, handler, request, target topic and history; bad contexts stop nothing', async () => {
  const recorded = recordSpans()
  const { url, requests } = await startServer()
  const place = await openPlace()
  const inbox = await place.make('inbox')
  const logged: Record<string, unknown>[] = []
  const system = await place.start(
    { DUELOG_HTTP_ALLOW: '127.0.0.1' },
    {
      greet: async (run) => {
        await Promise.resolve()
        trace
          .getTracer('of the user')
          .startSpan('query', { attributes: { 'duelog.job.id': run.jobId } })
          .end()
        logged.push((run.logger as unknown as { bindings(): Record<string, unknown> }).bindings())
        return null
      },
    },
  )
  const runs = new Watcher({ topics: [place.names.runs], groupId: `${place.prefix}traces` })
  await runs.reader.start()
  const seen = await place.watch(inbox)
  const now = { delayMs: 0 }
  const greet = { handler: 'greet' }
  await place.client.schedule({ id: 'once', schedule: now, target: greet, headers })
  await place.client.schedule({ id: 'often', schedule: { everyMs: 500, anchor: 0 }, maxRuns: 1, target: greet, headers })
  await place.client.schedule({ id: 'hook', schedule: now, target: { http: { url } }, headers })
  await place.client.schedule({ id: 'topic', schedule: now, target: { topic: { name: inbox } }, headers })
  const bad = { traceparent: `00-${'0'.repeat(32)}-x`, tracestate: 'x'.repeat(600) }
  await place.client.schedule({ id: 'bad', schedule: now, target: greet, headers: bad })
  const type = avro.Type.forSchema(JSON.parse(schemaTexts['ended-run']) as Schema)
  const endOf = (id: string) =>
    runs.records
      .filter(({ key }) => key?.toString() === id)
      .map(({ value }) => type.fromBuffer((value ?? Buffer.alloc(0)).subarray(5)) as { traceparent: string | null })[0]
  await runs.until(() => ['once', 'often', 'hook', 'topic', 'bad'].every((id) => endOf(id) !== undefined))
  await seen.until(() => seen.records.length === 1)
  // The answer of the commit comes after its records can be read.
  const all = async (id: string, count: number): Promise<Recorded[]> => {
    await vi.waitUntil(() => recorded.of(id).length >= count, { timeout: 60_000 })
    return recorded.of(id)
  }

  const once = await all('once', 5)
  expect(once.map(({ name }) => name.split(' ')[0]).toSorted()).toEqual(['decide', 'dispatch', 'query', 'run', 'wait'])
  expect(new Set(once.map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]))
  expect(named(once, 'decide')?.parentSpanContext?.spanId).toBe('00f067aa0ba902b7')
  expect(named(once, 'dispatch')?.parentSpanContext?.spanId).toBe(idOf(named(once, 'decide')))
  expect(named(once, 'wait')?.parentSpanContext?.spanId).toBe(idOf(named(once, 'dispatch')))
  expect(named(once, 'run')?.parentSpanContext?.spanId).toBe(idOf(named(once, 'dispatch')))
  expect(once.find(({ name }) => name === 'query')?.parentSpanContext?.spanId).toBe(idOf(named(once, 'run')))
  expect(endOf('once')?.traceparent).toBe(contextOf(named(once, 'run')))
  expect(logged[0]).toMatchObject({
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
  })

  const often = await all('often', 5)
  expect(often.map((span) => span.spanContext().traceId)).not.toContain(traceId)
  expect(new Set(often.map((span) => span.spanContext().traceId)).size).toBe(1)
  expect(named(often, 'decide')?.links).toMatchObject([{ context: { traceId, spanId: '00f067aa0ba902b7' } }])
  expect(endOf('often')?.traceparent).toBe(contextOf(named(often, 'run')))

  const hook = named(await all('hook', 4), 'run')
  expect(requests).toMatchObject([{ traceparent: contextOf(hook), tracestate: 'congo=t61' }])
  expect(hook?.spanContext().traceId).toBe(traceId)

  const dispatch = named(await all('topic', 2), 'dispatch')
  expect(dispatch).toMatchObject({ name: `dispatch ${inbox}`, attributes: { 'messaging.destination.name': inbox } })
  expect(seen.records[0]?.headers.traceparent?.toString()).toBe(contextOf(dispatch))
  expect(endOf('topic')?.traceparent).toBe(contextOf(dispatch))

  const badSpans = await all('bad', 5)
  expect(named(badSpans, 'decide')?.links).toEqual([])
  expect(named(badSpans, 'decide')?.parentSpanContext).toBeUndefined()

  // The process ends after this: a batch that is not exported now is lost.
  expect(recorded.flushed()).toEqual([])
  await system.stop()
  expect(recorded.flushed()).toHaveLength(recorded.all().length)
})
