import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { listenToThrottling } from '../../../src/kafka/kafkajs/throttling.ts'

interface Queue {
  throttledUntil: number
  maybeThrottle(ms: number | null | undefined): void
}
const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as new (options: object) => Queue
const queueOf = (clientId: string): Queue => {
  const logger = { debug() {}, namespace: () => logger }
  return new RequestQueue({ clientId, logger, requestTimeout: 1_000, enforceRequestTimeout: false, maxInFlightRequests: 1 })
}

it('the time that a broker names is told by client, and kafkajs still sends nothing meanwhile', () => {
  const told: [string, number][] = []
  for (const name of ['one', 'two']) listenToThrottling(name, (ms) => told.push([name, ms]))
  const [one, two, other] = [queueOf('one'), queueOf('two'), queueOf('other')]
  for (const ms of [0, null, undefined, 250]) one?.maybeThrottle(ms)
  two?.maybeThrottle(40)
  other?.maybeThrottle(70)
  expect(told).toEqual([
    ['one', 250],
    ['two', 40],
  ])
  for (const queue of [one, two, other]) expect(queue?.throttledUntil).toBeGreaterThan(Date.now() - 1_000)
})
