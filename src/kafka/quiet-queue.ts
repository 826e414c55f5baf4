/**
 * kafkajs plans a look at its request queue for a moment that has passed. Node then waits 1 ms, which is what is wanted, and warns of the
 * negative time in whatever program uses this library. So an empty queue is shown a moment that is about to come while it plans.
 */
import { createRequire } from 'node:module'

interface RequestQueue {
  /** Epoch ms; -1 where nothing was throttled. */
  throttledUntil: number
  pending: unknown[]
  scheduleCheckPendingRequests(): void
}

/** Long enough that the moment has not passed when it is looked at. */
const SOON_MS = 2

let done = false

/** To be called before the first connection; more calls do nothing. */
export function quietQueues(): void {
  if (done) return
  done = true
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as { prototype: RequestQueue }
  const plan = prototype.scheduleCheckPendingRequests
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    // With requests that wait it never is negative.
    if (this.pending.length > 0) return plan.call(this)
    const until = this.throttledUntil
    this.throttledUntil = Math.max(until, Date.now() + SOON_MS)
    try {
      plan.call(this)
    } finally {
      // What it throttles by must not depend on the clock of now, which may be set back.
      this.throttledUntil = until
    }
  }
}
