import { expect, test } from 'vitest'
import { BoundedMap } from '../../src/ground/concurrency/index.ts'

test('one entry more than the maximum drops the oldest', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('c', 3)
  expect([...map]).toEqual([
    ['b', 2],
    ['c', 3],
  ])
})

test('a known key keeps its place when it is set, and drops nothing', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('a', 3)
  expect([...map.keys()]).toEqual(['a', 'b'])
  map.set('c', 4)
  expect([...map.keys()]).toEqual(['b', 'c'])
})

test('a renewed key is the newest', () => {
  const map = new BoundedMap<string, number>(2)
  map.renew('a', 1)
  map.renew('b', 2)
  map.renew('a', 3)
  map.renew('c', 4)
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ])
})

test('deleted entries make room', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2)
  map.delete('b')
  map.set('c', 3)
  expect([...map.keys()]).toEqual(['a', 'c'])
})

test('what is dropped is told, and what is deleted is not', () => {
  const told: [number, string][] = []
  const map = new BoundedMap<string, number>(1, (value, key) => void told.push([value, key]))
  map.set('a', 1).set('b', 2)
  map.delete('b')
  map.renew('c', 3)
  map.renew('c', 4)
  expect(told).toEqual([[1, 'a']])
})
