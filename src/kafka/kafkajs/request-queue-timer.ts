/**
 * Each time that a request is answered kafkajs plans a look at what waits to be sent, also where nothing does, and looks again and again: a
 * timer of 1 ms for each connection, for ever. Its time is negative, so Node warns of it in whatever program uses this library. Where nothing
 * waits there is nothing to look for: whoever adds a request that has to wait plans the look itself.
 */
import { createRequire } from 'node:module'

interface RequestQueue {
  pending: unknown[]
  scheduleCheckPendingRequests(): void
}

let done = false

/** To be called before the first connection; more calls do nothing. */
export function stopIdleQueueTimers(): void {
  if (done) return
  done = true
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as { prototype: RequestQueue }
  const plan = prototype.scheduleCheckPendingRequests
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0) plan.call(this)
  }
}
