/** The metadata of committed offsets, which another program may have written. */
import { expect, test } from 'vitest'
import { closedKeptMs, closedText, isClosed, restartsOf, takenText } from '../../src/ports/taken-runs.ts'

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
    takenText({ reach: 1, waiting: 0, untracked: 0, sharing: 0 }, nowMs),
  ])
    expect(isClosed(text, nowMs), text).toBe(false)
})

test('restarts are read as they were written, the first 100; what is broken counts for nothing', () => {
  const taken = { reach: 900, waiting: 0, untracked: 1, sharing: 0 }
  const restarts = Array.from({ length: 150 }, (_, n): [number, number] => [2 ** 40 + n, 2])
  expect(restartsOf(takenText({ ...taken, restarts }, nowMs))).toEqual(new Map(restarts.slice(0, 100)))
  expect(restartsOf(takenText(taken, nowMs))).toEqual(new Map())
  const broken = [[], 1, [1], [1, 2, 3], ['1', 2], [-1, 2], [1, 0.5], null]
  expect(restartsOf(JSON.stringify({ restarts: [...broken, [7, 1]] }))).toEqual(new Map([[7, 1]]))
  for (const text of [undefined, '', '"restarts"', '{"restarts":', '{"restarts":7}', `{"restarts":[[1,1]]${' '.repeat(4_000)}}`])
    expect(restartsOf(text), text).toEqual(new Map())
})
