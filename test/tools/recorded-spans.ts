/** A real SDK of OpenTelemetry in this process, as users register it, which keeps the spans in memory. */
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, type Sampler, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

export type Recorded = ReturnType<InMemorySpanExporter['getFinishedSpans']>[number]

/** Once for each process of tests: what Duelog has found, it keeps. */
export function recordSpans(sampler?: Sampler) {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler !== undefined && { sampler }),
  })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  return {
    all: (): Recorded[] => exporter.getFinishedSpans(),
    of: (jobId: string): Recorded[] =>
      exporter.getFinishedSpans().filter(({ attributes }) => attributes['duelog.job.id'] === jobId),
    reset: (): void => exporter.reset(),
  }
}
