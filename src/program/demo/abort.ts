/** Waits that an AbortSignal can end. */
import { setTimeout as wait } from 'node:timers/promises'

/** The result of the promise. Rejects with the signal's reason as soon as the signal is aborted. */
export async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Whether the promise resolved within the time. Rejects as `unlessAborted` does. */
export async function resolvedWithin(promise: Promise<unknown>, ms: number, signal: AbortSignal): Promise<boolean> {
  const done = new AbortController()
  const limit = wait(ms, false, { signal: done.signal }).catch(() => false)
  try {
    return await unlessAborted(Promise.race([promise.then(() => true), limit]), signal)
  } finally {
    done.abort()
  }
}
