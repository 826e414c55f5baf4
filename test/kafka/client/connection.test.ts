import { afterEach, expect, it, vi } from 'vitest'
import { closed, closeMsMax } from '../../../src/log/kafka/client/connection.ts'

afterEach(() => void vi.useRealTimers())

const said: string[] = []
const say = (_fields: object, text: string): void => void said.push(text)
const settings = { logger: { warn: say, debug: say } } as never

it('waits for a connection that does not close for 30 s, and says so', async () => {
  vi.useFakeTimers()
  said.length = 0
  let isOver = false
  const waiting = closed(new Promise(() => {}), 'The reader of group g', settings).then(() => {
    isOver = true
  })
  await vi.advanceTimersByTimeAsync(closeMsMax - 1)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await waiting
  expect(said).toEqual(['The reader of group g was not closed within 30 s; the stop goes on.'])
})

it('leaves no timer behind one that closes or cannot', async () => {
  vi.useFakeTimers()
  said.length = 0
  await closed(Promise.resolve(), 'A producer', settings)
  await closed(Promise.reject(new Error('gone')), 'A producer', settings)
  expect(vi.getTimerCount()).toBe(0)
  expect(said).toEqual(['A producer could not be closed.'])
})
