/** What the request queue of kafkajs schedules, without a broker: a check of pending requests, and nothing if there are none. */
import { createRequire } from 'node:module'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { stopIdleQueueTimers } from '../../../src/kafka/kafkajs/request-queue-timer.ts'

const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js')
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const sent: number[] = []

const queueWith = (maxInFlightRequests: number) => {
  const emitter = { emit() {} }
  const logger = { ...silent, namespace: () => silent }
  const queue = new RequestQueue({
    maxInFlightRequests,
    requestTimeout: 30_000,
    enforceRequestTimeout: false,
    instrumentationEmitter: emitter,
    logger,
  })
  const push = (correlationId: number): void =>
    queue.push({
      entry: { correlationId, resolve() {}, reject() {} },
      expectResponse: true,
      sendRequest: () => sent.push(correlationId),
    })
  return { queue, push }
}

beforeEach(() => {
  stopIdleQueueTimers()
  sent.length = 0
  vi.useFakeTimers()
})
afterEach(() => vi.useRealTimers())

it('plans nothing once all is answered, however late the process is', () => {
  const { queue, push } = queueWith(2)
  push(1)
  queue.fulfillRequest({ correlationId: 1, payload: {}, size: 1 })
  expect([sent, vi.getTimerCount()]).toEqual([[1], 0])
})

it('sends what has to wait for its turn, and for the end of a throttle', () => {
  const { queue, push } = queueWith(1)
  push(1)
  push(2)
  expect([sent, vi.getTimerCount()]).toEqual([[1], 1])
  queue.fulfillRequest({ correlationId: 1, payload: {}, size: 1 })
  expect(sent).toEqual([1, 2])
  queue.maybeThrottle(500)
  queue.fulfillRequest({ correlationId: 2, payload: {}, size: 1 })
  push(3)
  expect(sent).toEqual([1, 2])
  vi.advanceTimersByTime(1_000)
  expect(sent).toEqual([1, 2, 3])
  queue.fulfillRequest({ correlationId: 3, payload: {}, size: 1 })
  vi.advanceTimersByTime(1_000)
  expect(vi.getTimerCount()).toBe(0)
})
