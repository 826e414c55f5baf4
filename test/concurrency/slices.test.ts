/** Slices of a list by count and bytes. */
import { expect, it } from 'vitest'
import { slices } from '../../src/ground/concurrency/collections.ts'

const of = (...given: Parameters<typeof slices<number>>): number[][] => [...slices(...given)]
const itself = (bytes: number): number => bytes

it('has all items in order, and no slice is longer than allowed', () => {
  expect(of([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]])
  expect(of([1, 2], 2)).toEqual([[1, 2]])
  expect(of([], 2)).toEqual([])
})

it('ends a slice before it has too many bytes, and gives an item with more a slice of its own', () => {
  expect(of([4, 6, 1, 11, 1], 9, 10, itself)).toEqual([[4, 6], [1], [11], [1]])
  expect(of([11, 11], 9, 10, itself)).toEqual([[11], [11]])
  expect(of([0, 0, 10, 0, 1], 9, 10, itself)).toEqual([[0, 0, 10, 0], [1]])
})
