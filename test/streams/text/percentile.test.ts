import { expect, it } from 'vitest'
import { type LatenessClass, percentileOf } from '../../../streams/text/quantities.ts'

it('interpolates percentiles within their class', () => {
  const classes: LatenessClass[] = [
    [10, 50],
    [20, 50],
    [null, 0],
  ]
  expect([percentileOf(classes, 0.5), percentileOf(classes, 0.75), percentileOf(classes, 1)]).toEqual([10, 15, 20])
  expect(percentileOf([...classes.slice(0, 2), [null, 1_000]], 0.99)).toBe(20)
  expect(percentileOf([], 0.5)).toBeUndefined()
})
