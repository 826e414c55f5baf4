/**
 * A fetch without records is not the end of a log. Without this rule an audit on an overloaded machine left out the records of
 * one broker.
 */
import { expect, test } from 'vitest'
import { IdleFetches } from '../../../src/kafka/reading/idle-fetches.ts'

const rounds = (quiet: IdleFetches, nodeId: number, count: number): boolean[] =>
  Array.from({ length: count }, () => {
    quiet.asked(nodeId)
    return quiet.answered(nodeId)
  })

test('the read ends once each broker was asked often and had nothing', () => {
  const quiet = new IdleFetches(() => 0)
  expect(rounds(quiet, 1, 20).filter(Boolean)).toHaveLength(1)
  quiet.progress()
  expect(rounds(quiet, 1, 19)).not.toContain(true)
})

test('a broker with an unanswered fetch, or with unprocessed records, is waited for', () => {
  const quiet = new IdleFetches(() => 0)
  quiet.asked(1)
  expect(rounds(quiet, 2, 100)).not.toContain(true)
  quiet.answered(1)
  quiet.progress()
  expect(rounds(quiet, 2, 100)).not.toContain(true)
  expect(rounds(quiet, 1, 20).at(-1)).toBe(true)
})

test('a broker that is not asked any more is not waited for', () => {
  let nowMs = 0
  const quiet = new IdleFetches(() => nowMs)
  quiet.asked(1)
  expect(rounds(quiet, 2, 50)).not.toContain(true)
  nowMs = 61_000
  expect(rounds(quiet, 2, 1)).toEqual([true])
})

test('a failed fetch does not count, and failures end the wait after a minute', () => {
  let nowMs = 0
  const quiet = new IdleFetches(() => nowMs)
  rounds(quiet, 1, 19)
  expect(quiet.lost()).toBe(false)
  expect(rounds(quiet, 1, 19)).not.toContain(true)
  nowMs = 59_000
  expect(quiet.lost()).toBe(false)
  quiet.progress()
  nowMs = 60_000
  expect(quiet.lost()).toBe(false)
  nowMs = 120_000
  expect(quiet.lost()).toBe(true)
})
