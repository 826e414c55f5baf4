import { expect, test } from 'vitest'
import { cutText } from '../../../streams/text/problem.ts'

test('a text is cut before a character that does not fit whole, and lone halves are replaced', () => {
  expect(cutText('ab\u{1f600}c', 3)).toBe('ab')
  expect(cutText('ab\u{1f600}c', 4)).toBe('ab\u{1f600}')
  expect(cutText('ab\u{1f600}c', 5)).toBe('ab\u{1f600}c')
  expect(cutText('a\ud83d', 5)).toBe('a\ufffd')
  expect(cutText('\u{1f600}', 0)).toBe('')
})
