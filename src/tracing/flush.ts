/** The spans that an SDK still holds when a process ends. SDKs export in batches, so the last seconds would be missing. */
import { setTimeout as wait } from 'node:timers/promises'
import { trace } from '@opentelemetry/api'
import { failed, guarded } from './guarded.ts'

/** A collector that does not answer delays the end by no more. */
const flushMsMax = 3_000

interface Flushing {
  forceFlush?(): Promise<void>
}

/** Resolves when all spans that have ended are exported, or after `msMax`. At once without an SDK. */
export async function flushSpans(msMax = flushMsMax): Promise<void> {
  const flushed = guarded(() => {
    const provider = trace.getTracerProvider() as Flushing & { getDelegate?(): Flushing }
    const ofSdk = provider.getDelegate?.() ?? provider
    return ofSdk.forceFlush?.().catch(failed)
  })
  if (flushed === undefined) return
  const end = new AbortController()
  await Promise.race([flushed, wait(msMax, undefined, { signal: end.signal }).catch(() => {})])
  end.abort()
}
