/** What becomes of a handler's return value. */
import { expect, test } from 'vitest'
import { succeeded } from '../../../src/worker/executor/report/outcome.ts'

test('a result has no half of a character: callers get the value, and a line of the run says what was replaced', () => {
  const outcome = succeeded({ text: 'cut \ud83d', 'name\ud83d': ['\ude00'], whole: '\u{1f600}' })
  if (outcome.type !== 'SUCCEEDED') throw new Error(outcome.type)
  const text = outcome.result?.toString() ?? ''
  expect(JSON.parse(text)).toEqual({ text: 'cut \ufffd', 'name\ufffd': ['\ufffd'], whole: '\u{1f600}' })
  expect(outcome.loss).toContain('"text" is a text with half of a character')
})
