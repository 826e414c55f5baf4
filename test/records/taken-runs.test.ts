/** The metadata of committed offsets, which another program may have written. */
import { expect, test } from 'vitest'
import { closedKeptMs, closedText, isClosed, takenText } from '../../src/ground/records/worker-data.ts'

const nowMs = 1_800_000_000_000

test('a partition counts as closed for a minute, and not by another text or a clock that was wrong', () => {
  expect(isClosed(closedText(nowMs), nowMs)).toBe(true)
  expect(isClosed(closedText(nowMs), nowMs + closedKeptMs - 1)).toBe(true)
  expect(isClosed(closedText(nowMs), nowMs + closedKeptMs)).toBe(false)
  expect(isClosed(closedText(nowMs + 3_600_000), nowMs)).toBe(false)
  for (const text of [
    undefined,
    '',
    '{}',
    'closed',
    `${closedText(nowMs)} `,
    takenText({ reach: 1, waiting: 0, sharing: 0 }, nowMs),
  ])
    expect(isClosed(text, nowMs), text).toBe(false)
})
