/**
 * What the request queue of kafkajs schedules, without a broker: a check of pending requests, and nothing if there are none. And what
 * it tells of throttles.
 */
import { createRequire } from 'node:module'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { changeRequestQueues, listenToThrottling } from '../../../src/log/kafka/client/connection.ts'

const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js')
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const sent: number[] = []

const queueWith = (maxInFlightRequests: number, clientId = 'c') => {
  const emitter = { emit() {} }
  const logger = { ...silent, namespace: () => silent }
  const queue = new RequestQueue({
    maxInFlightRequests,
    clientId,
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
  changeRequestQueues()
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

it('the time that a broker names is told by client, and kafkajs still sends nothing meanwhile', () => {
  const told: [string, number][] = []
  for (const name of ['one', 'two']) listenToThrottling(name, (ms) => told.push([name, ms]))
  const [one, two, other] = ['one', 'two', 'other'].map((clientId) => queueWith(1, clientId).queue)
  for (const ms of [0, null, undefined, 250]) one?.maybeThrottle(ms)
  two?.maybeThrottle(40)
  other?.maybeThrottle(70)
  expect(told).toEqual([
    ['one', 250],
    ['two', 40],
  ])
  for (const queue of [one, two, other]) expect(queue?.throttledUntil).toBeGreaterThan(Date.now() - 1_000)
})
