/** Which dead runs an operation finds, by what is kept of a job. */
import { expect, it } from 'vitest'
import type { FinishedRun } from '../../../schemas/generated.ts'
import { deadRunsBy } from '../../../streams/runs/dead-runs.ts'

const run = (runNo: number, finishedAt: number, commandId: string | null = null) =>
  ({ runNo, finishedAt, commandId, status: 'DEAD' }) as FinishedRun
const kept = (history: FinishedRun[]) => ({ history, ends: new Map(history.map((each) => [each.runNo, each])) })
const cut = { at: 100, commandPrefix: 'operation/x/' }

it('they are those that had died by then, and were not made by the operation itself', () => {
  const finished = [
    run(1, 50),
    run(2, 100),
    run(3, 101),
    run(4, 40, 'operation/x/redrive/1'),
    run(5, 60, 'operation/y/redrive/1'),
  ]
  expect(deadRunsBy([1, 2, 3, 4, 5], kept(finished), cut)).toEqual([1, 2, 5])
})

it('one whose end an earlier version did not keep counts if the run in its place had ended by then, and not if nobody knows', () => {
  expect(deadRunsBy([1], kept([run(11, 90)]), cut)).toEqual([1])
  expect(deadRunsBy([1], kept([run(11, 110)]), cut)).toEqual([])
  expect(deadRunsBy([1], kept([run(12, 90)]), cut)).toEqual([])
})
