import { expect, test } from 'vitest'
import { Fifo } from '../../src/ground/concurrency/index.ts'

function filled(count: number): Fifo<number> {
  const queue = new Fifo<number>()
  for (let item = 0; item < count; item++) queue.push(item)
  return queue
}

test('items leave in the order in which they came', () => {
  const queue = filled(3)
  expect(queue.first).toBe(0)
  expect([queue.shift(), queue.shift()]).toEqual([0, 1])
  queue.push(3)
  expect(queue.length).toBe(2)
  expect([queue.shift(), queue.shift(), queue.shift()]).toEqual([2, 3, undefined])
  expect(queue.first).toBeUndefined()
  expect(queue.length).toBe(0)
})

test('spent items are cut and none is lost', () => {
  const queue = filled(5_000)
  const taken: (number | undefined)[] = []
  for (let at = 0; at < 4_000; at++) taken.push(queue.shift())
  queue.push(5_000)
  while (queue.length > 0) taken.push(queue.shift())
  expect(taken).toEqual(Array.from({ length: 5_001 }, (_, item) => item))
})

test('items that are put back go before the others, in their order', () => {
  const queue = filled(4)
  const taken = [queue.shift(), queue.shift()] as number[]
  queue.putBack(taken)
  expect(queue.drain()).toEqual([0, 1, 2, 3])
  expect(queue.length).toBe(0)
})

test('a cleared queue is empty', () => {
  const queue = filled(4)
  queue.shift()
  queue.clear()
  expect(queue.first).toBeUndefined()
  expect(queue.length).toBe(0)
})
