/**
 * Stops an idle timer of kafkajs. After each answer kafkajs schedules a check of pending requests, even if there are none, and
 * repeats it: a timer of 1 ms for each connection, forever. Its delay is negative, so Node prints a warning in each program that
 * uses this library. Without pending requests no check is needed: a request that has to wait schedules the check itself.
 */
import { createRequire } from 'node:module'

interface RequestQueue {
  pending: unknown[]
  scheduleCheckPendingRequests(): void
}

let done = false

/** Must be called before the first connection. Further calls do nothing. */
export function stopIdleQueueTimers(): void {
  if (done) return
  done = true
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as { prototype: RequestQueue }
  const plan = prototype.scheduleCheckPendingRequests
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0) plan.call(this)
  }
}
