/** An outage is logged, and does not flood the log. */
import { type LogEntry, logLevel } from 'kafkajs'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { relayTo } from '../../../src/log/kafka/client/log-relay.ts'

const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn() }
const entry = (message: string, facts: object = {}, level = logLevel.ERROR): LogEntry =>
  ({ level, namespace: 'Connection', label: '', log: { message, timestamp: '', logger: 'kafkajs', ...facts } }) as LogEntry

beforeEach(() => {
  vi.clearAllMocks()
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
})

test('the first of repeated messages is logged at once with its stack, the others with their count once a minute', () => {
  const relay = relayTo(logger)
  for (let port = 1; port <= 1_200; port++) relay(entry(`connect refused by port ${port}`, { broker: port, stack: 'at …' }))
  expect(logger.warn.mock.calls).toEqual([
    [{ event: 'kafka-client-warning', broker: 1, stack: 'at …' }, 'kafkajs Connection: connect refused by port 1'],
  ])
  vi.advanceTimersByTime(60_000)
  expect(logger.warn.mock.calls[1]).toEqual([
    { event: 'kafka-client-warning', broker: 1_200, repeated: 1_199 },
    'kafkajs Connection: connect refused by port 1',
  ])
  vi.advanceTimersByTime(3_600_000)
  expect(logger.warn).toHaveBeenCalledTimes(2)
  relay(entry('connect refused by port 7'))
  expect(logger.warn).toHaveBeenCalledTimes(3)
})

test('a bounded number of kinds of messages is remembered', () => {
  const relay = relayTo(logger)
  const words = Array.from({ length: 300 }, (_, n) => String.fromCharCode(97 + (n % 26)).repeat(1 + Math.floor(n / 26)))
  for (const word of words) relay(entry(word))
  expect(vi.getTimerCount()).toBeLessThanOrEqual(300)
  vi.clearAllMocks()
  for (const word of words.slice(-100)) relay(entry(word))
  expect(logger.warn).not.toHaveBeenCalled()
  relay(entry(words[0] as string))
  expect(logger.warn).toHaveBeenCalledTimes(1)
})

test('ordinary events, and the consequences of a silent broker, are logged at debug level', () => {
  const relay = relayTo(logger)
  relay(entry('The group is rebalancing, re-joining'))
  relay(entry('Connection error: b:9092 has not answered; it is taken for lost', { stack: 'at …' }))
  relay(entry('said by the way', {}, logLevel.WARN))
  expect(logger.debug).toHaveBeenCalledTimes(2)
  expect(logger.warn).not.toHaveBeenCalled()
  expect(logger.info).toHaveBeenCalledTimes(1)
})
