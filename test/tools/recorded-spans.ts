/** A real SDK of OpenTelemetry in this process, as users register it, which keeps the spans in memory. */
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  InMemorySpanExporter,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'

export type Recorded = ReturnType<InMemorySpanExporter['getFinishedSpans']>[number]

/** Once for each process of tests: what Duelog has found, it keeps. */
export function recordSpans(sampler?: Sampler) {
  const exporter = new InMemorySpanExporter()
  const batches = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({
    spanProcessors: [
      new SimpleSpanProcessor(exporter),
      // As SDKs export by default, except that the time never comes.
      new BatchSpanProcessor(batches, { scheduledDelayMillis: 2 ** 31 - 1 }),
    ],
    ...(sampler !== undefined && { sampler }),
  })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  return {
    all: (): Recorded[] => exporter.getFinishedSpans(),
    /** Those of the batches that were exported because somebody asked for it. */
    flushed: (): Recorded[] => batches.getFinishedSpans(),
    of: (jobId: string): Recorded[] =>
      exporter.getFinishedSpans().filter(({ attributes }) => attributes['duelog.job.id'] === jobId),
    reset: (): void => exporter.reset(),
  }
}
