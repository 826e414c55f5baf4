/** Empty answers end a read only if the leaders say that their logs go as far as it has to. Without this rule a backup lacked what a new leader hid. */
import { expect, test } from 'vitest'
import { QuietEnd } from '../../../src/kafka/reading/quiet-end.ts'
import { rest } from '../../tools/manual-clock.ts'

/** `answers`: what the leaders say, one after the other; the last one stays. */
function reading(...answers: (Error | 'whole')[]) {
  const seen = { ends: 0, asked: 0, lost: [] as unknown[], nowMs: 0 }
  const quiet = new QuietEnd({
    checkEnds: async () => {
      const answer = answers[Math.min(seen.asked++, answers.length - 1)]
      if (answer instanceof Error) throw answer
    },
    onEnd: () => void seen.ends++,
    onLost: (error) => void seen.lost.push(error),
    nowMs: () => seen.nowMs,
  })
  const rounds = async (count: number): Promise<void> => {
    for (let round = 0; round < count; round++) {
      quiet.asked(1)
      quiet.answered(1)
    }
    await rest()
  }
  return { quiet, seen, rounds }
}

test('after empty answers the leaders are asked, and after as many more the read ends', async () => {
  const { seen, rounds } = reading('whole')
  await rounds(19)
  expect(seen.asked).toBe(0)
  await rounds(1)
  expect(seen).toMatchObject({ asked: 1, ends: 0 })
  await rounds(19)
  expect(seen.ends).toBe(0)
  await rounds(1)
  expect(seen).toMatchObject({ asked: 1, ends: 1 })
  // The next partitions are read then.
  await rounds(20)
  expect(seen).toMatchObject({ asked: 2, ends: 1 })
})

test('a leader that hides the end of its log is waited for, at most a minute', async () => {
  const short = new Error('short')
  const { quiet, seen, rounds } = reading(short, short, 'whole', short)
  await rounds(20)
  await rounds(20)
  expect(seen).toMatchObject({ asked: 2, ends: 0, lost: [] })
  quiet.progress()
  await rounds(20)
  await rounds(20)
  expect(seen).toMatchObject({ asked: 3, ends: 1 })
  await rounds(20)
  seen.nowMs = 60_000
  await rounds(20)
  expect(seen.lost).toEqual([short])
})

test('a fetch that fails while the leaders are asked makes their answer worthless', async () => {
  const { quiet, seen, rounds } = reading('whole')
  for (let round = 0; round < 20; round++) {
    quiet.asked(1)
    quiet.answered(1)
  }
  quiet.failed(new Error('moved'))
  await rest()
  await rounds(20)
  expect(seen).toMatchObject({ asked: 2, ends: 0 })
  await rounds(20)
  expect(seen.ends).toBe(1)
})
