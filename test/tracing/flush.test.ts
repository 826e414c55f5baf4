/** The end of a process with an SDK, whatever its exporter does. */
import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, BatchSpanProcessor, InMemorySpanExporter, type SpanExporter } from '@opentelemetry/sdk-trace-base'
import { afterEach, expect, test, vi } from 'vitest'
import { flushSpans } from '../../src/ground/tracing/index.ts'

afterEach(() => trace.disable())

function register(exporter: SpanExporter): void {
  const processor = new BatchSpanProcessor(exporter, { scheduledDelayMillis: 2 ** 31 - 1, exportTimeoutMillis: 2 ** 31 - 1 })
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [processor] }))
  trace.getTracer('a test').startSpan('a span').end()
}
const exporterOf = (send: SpanExporter['export']): SpanExporter => ({ export: send, shutdown: async () => {} })

test('spans that wait for their batch are exported', async () => {
  const exporter = new InMemorySpanExporter()
  register(exporter)
  expect(exporter.getFinishedSpans()).toEqual([])
  await flushSpans()
  expect(exporter.getFinishedSpans()).toMatchObject([{ name: 'a span' }])
})

test('without an SDK nothing is waited for', async () => {
  await flushSpans()
})

test('an exporter that never answers does not hold the end', async () => {
  register(exporterOf(() => {}))
  await flushSpans(1)
})

test('an exporter that fails does not stop the end, and is told', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  register(exporterOf((_, done) => done({ code: 1, error: new Error('The collector is full.') })))
  await flushSpans()
  expect(warned).toHaveBeenCalledWith(expect.stringContaining('The collector is full.'), 'DuelogTracingWarning')
})

test('a provider that throws does not stop the end', async () => {
  const forceFlush = vi.fn(() => {
    throw new Error('The provider is broken.')
  })
  trace.setGlobalTracerProvider({ getTracer: () => trace.getTracer('none'), forceFlush } as never)
  await flushSpans()
  expect(forceFlush).toHaveBeenCalledOnce()
})
