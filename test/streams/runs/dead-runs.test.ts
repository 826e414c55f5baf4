/** Which dead runs an operation finds, by what is kept of a job. */
import { expect, it } from 'vitest'
import type { FinishedRun } from '../../../schemas/generated.ts'
import { deadRunsBy } from '../../../streams/runs/ended-run.ts'

const run = (runNo: number, finishedAt: number, commandId: string | null = null) =>
  ({ runNo, finishedAt, commandId, status: 'DEAD' }) as FinishedRun
const endsOf = (runs: FinishedRun[]) => new Map(runs.map((each) => [each.runNo, each]))
const cut = { at: 100, commandPrefix: 'operation/x/' }

it('they are those that had died by then, and were not made by the operation itself', () => {
  const finished = [
    run(1, 50),
    run(2, 100),
    run(3, 101),
    run(4, 40, 'operation/x/redrive/1'),
    run(5, 60, 'operation/y/redrive/1'),
  ]
  expect(deadRunsBy([1, 2, 3, 4, 5], endsOf(finished), cut).map(({ runNo }) => runNo)).toEqual([1, 2, 5])
})
