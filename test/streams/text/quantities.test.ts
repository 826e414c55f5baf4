import { expect, test } from 'vitest'
import { counted, duration } from '../../../streams/text/quantities.ts'

test('one thing is singular, and all other numbers are plural', () => {
  expect([0, 1, 2].map((count) => counted(count, 'record'))).toEqual(['0 records', '1 record', '2 records'])
  expect([1, 12].map((count) => counted(count, 'record was', 'records were'))).toEqual(['1 record was', '12 records were'])
})

test.each([
  [0, '0 ms'],
  [850, '850 ms'],
  [1_000, '1 s'],
  [1_250, '1.3 s'],
  [59_600, '1 min'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
  [90_000_000, '1 d 1 h'],
])('%d ms reads %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})
