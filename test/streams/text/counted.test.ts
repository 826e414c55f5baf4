import { expect, test } from 'vitest'
import { counted } from '../../../streams/text/counted.ts'

test('one thing is singular, and all other numbers are plural', () => {
  expect([0, 1, 2].map((count) => counted(count, 'record'))).toEqual(['0 records', '1 record', '2 records'])
  expect([1, 12].map((count) => counted(count, 'record was', 'records were'))).toEqual(['1 record was', '12 records were'])
})
