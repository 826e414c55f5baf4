/**
 * Tells how long brokers throttle a client. A broker whose quota is used up says in its answer for how long, and kafkajs sends nothing on
 * that connection meanwhile. kafkajs tells nobody.
 */
import { createRequire } from 'node:module'

interface RequestQueue {
  clientId: string
  maybeThrottle(ms: number | null | undefined): void
}

/** By client id. A process has one; tests have several. */
const listeners = new Map<string, (ms: number) => void>()
const listenersMax = 100

/** `listener` is called with each time that a broker names to a connection with this client id. */
export function listenToThrottling(clientId: string, listener: (ms: number) => void): void {
  if (listeners.size === 0) watch()
  const [oldest] = listeners.keys()
  if (listeners.size >= listenersMax && oldest !== undefined) listeners.delete(oldest)
  listeners.set(clientId, listener)
}

function watch(): void {
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as { prototype: RequestQueue }
  const throttle = prototype.maybeThrottle
  prototype.maybeThrottle = function (this: RequestQueue, ms): void {
    if (typeof ms === 'number' && ms > 0) listeners.get(this.clientId)?.(ms)
    throttle.call(this, ms)
  }
}
