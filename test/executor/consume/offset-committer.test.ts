/** Commits that meet. */
import { expect, test } from 'vitest'
import { Lane } from '../../../src/worker/executor/consume/lane.ts'
import { OffsetCommitter } from '../../../src/worker/executor/consume/offset-committer.ts'
import { ManualClock, rest } from '../../tools/manual-clock.ts'
import { silent } from '../harness.ts'

test('of two commits that wait for a third, the second commits again what the first could not', async () => {
  const answers: PromiseWithResolvers<void>[] = []
  const sent: number[] = []
  const committer = new OffsetCommitter(new ManualClock(), silent, ([position]) => {
    sent.push(position?.offset ?? -1)
    answers.push(Promise.withResolvers())
    return (answers.at(-1) as PromiseWithResolvers<void>).promise
  })
  const lane = new Lane({ topic: 'runs', partition: 0, level: 0, ahead: false }, { onReleased: () => {}, onAdvanced: () => {} })
  lane.gain(0)
  const passed = (offset: number): void => {
    lane.passed(offset)
    committer.touch(lane)
  }
  passed(1)
  const results = [committer.commitNow()]
  await rest()
  passed(2)
  results.push(committer.commitNow(), committer.commitNow())
  answers[0]?.resolve()
  await rest()
  answers[1]?.reject(new Error('The group is rebalancing.'))
  await rest()
  answers[2]?.resolve()
  expect(await Promise.all(results)).toEqual([true, false, true])
  expect(sent).toEqual([1, 2, 2])
  committer.stop()
})
