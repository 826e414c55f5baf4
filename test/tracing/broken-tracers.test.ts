/** A tracer that throws: whatever call of it fails, jobs run, each handler is called once, and the process says that spans are missing. */
import { type Context, context, diag, type Span, type Tracer, type TracerProvider, trace } from '@opentelemetry/api'
import { expect, onTestFinished, test, vi } from 'vitest'
import { activeContext } from '../../src/ground/tracing/index.ts'
import { testSystem } from '../../src/testing/index.ts'

const spanCalls = ['spanContext', 'setAttribute', 'setStatus', 'end'] as const
const places = ['provider', 'startSpan', ...spanCalls, 'with, before', 'with, after', 'logger'] as const
type Place = (typeof places)[number]

let broken: Place | undefined
const counts = new Map<Place, number>()
let told = 0
const breaks = (place: Place): void => {
  if (broken !== place) return
  counts.set(place, (counts.get(place) ?? 0) + 1)
  throw new Error(`${place} of the tracer is broken`)
}

const span = new Proxy({} as Span, {
  get: (_, name) => () => {
    breaks(name as Place)
    return name === 'spanContext' ? { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 } : undefined
  },
})
const tracer = {
  startSpan: () => {
    breaks('startSpan')
    // A logger that throws is met by what is logged.
    if (broken === 'logger') throw new Error('startSpan of the tracer is broken')
    return span
  },
} as unknown as Tracer
const provider: TracerProvider = {
  getTracer: () => {
    breaks('provider')
    return tracer
  },
}
trace.setGlobalTracerProvider(provider)
context.setGlobalContextManager({
  active: () => ({ getValue: () => undefined, setValue: () => context.active(), deleteValue: () => context.active() }) as Context,
  with: (_context, call, self, ...args) => {
    breaks('with, before')
    const result = call.call(self as never, ...args)
    breaks('with, after')
    return result
  },
  bind: (_context, target) => target,
  enable: () => ({}) as never,
  disable: () => ({}) as never,
})
const ignore = (): void => {}
diag.setLogger({ error: () => breaks('logger'), warn: ignore, info: ignore, debug: ignore, verbose: ignore })

/** The place `provider` comes first: a tracer that was found is kept. */
test.for(places)('jobs run with a tracer whose call throws: %s', async (place) => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(ignore)
  onTestFinished(() => {
    warned.mockRestore()
    broken = undefined
  })
  broken = place
  const calls: string[] = []
  const called = ({ jobId, attempt }: { jobId: string; attempt: number }): void => void calls.push(`${jobId}/${attempt}`)
  const duelog = testSystem({
    handlers: {
      atOnce: called,
      later: async (run) => {
        await Promise.resolve()
        called(run)
      },
      fails: (run) => {
        called(run)
        throw new Error('as the handler wants')
      },
      batch: { batch: { maxSize: 2, maxWaitMs: 5 }, run: (runs) => runs.forEach(called) },
    },
  })
  const headers = { traceparent: `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01` }
  const common = { schedule: { delayMs: 10 }, headers, retry: { maxAttempts: 1 } }
  for (const handler of ['atOnce', 'later', 'fails', 'batch'])
    await duelog.schedule({ id: handler, target: { handler }, ...common })
  await duelog.schedule({ id: 'topic', schedule: common.schedule, headers, target: { topic: { name: 'out' } } })
  await duelog.advanceBy(60_000)
  expect(calls.toSorted()).toEqual(['atOnce/1', 'batch/1', 'fails/1', 'later/1'])
  const outcomes = await Promise.all(
    ['atOnce', 'later', 'fails', 'batch', 'topic'].map(async (id) => (await duelog.run(id, 1))?.status),
  )
  expect(outcomes).toEqual(['SUCCEEDED', 'SUCCEEDED', 'DEAD', 'SUCCEEDED', 'SUCCEEDED'])
  expect(await duelog.records('out')).toHaveLength(1)
  expect(activeContext).not.toThrow()
  expect(counts.get(place)).toBeGreaterThan(0)
  told += warned.mock.calls.length
})

test('the process says it once', () => expect(told).toBe(1))
