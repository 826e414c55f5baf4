/** Batches of which some runs end before the handler is called. */
import { counted } from '../../../../streams/text/index.ts'
import { messageOf } from '../../../ground/errors/index.ts'
import type { BatchHandler, BatchOutcome, Run } from './handler.ts'
import { NonRetryableError } from './handler.ts'

/** What is wrong with the return value of a batch handler, as a sentence; undefined if nothing is. */
export function outcomesProblem(returned: unknown, runs: number): string | undefined {
  if (returned === undefined) return undefined
  if (!Array.isArray(returned)) return 'what a batch handler returned is no list of outcomes'
  if (returned.length === runs) return undefined
  return `a batch handler returned ${counted(returned.length, 'outcome')} for ${counted(runs, 'run')}; return one for each`
}

class BatchOutcomesWrongError extends NonRetryableError {
  constructor(message: string) {
    super(message)
    this.name = 'BatchOutcomesWrong'
  }
}

/** Calls the handler with the runs that `prepare` does not reject. Resolves with one outcome for each run. */
export async function partialBatch(
  handler: BatchHandler,
  runs: readonly Run[],
  prepare: (run: Run) => Run | Promise<Run>,
): Promise<BatchOutcome[]> {
  const outcomes: BatchOutcome[] = runs.map(() => ({}))
  const prepared: { run: Run; index: number }[] = []
  for (const [index, run] of runs.entries()) {
    try {
      prepared.push({ run: await prepare(run), index })
    } catch (error) {
      outcomes[index] = { error }
    }
  }
  if (prepared.length === 0) return outcomes
  const of = await outcomesOf(
    handler,
    prepared.map(({ run }) => run),
  )
  for (const [at, { index }] of prepared.entries()) outcomes[index] = of(at)
  return outcomes
}

async function outcomesOf(handler: BatchHandler, runs: readonly Run[]): Promise<(at: number) => BatchOutcome> {
  try {
    const returned: unknown = await handler.run(runs)
    const problem = outcomesProblem(returned, runs.length)
    if (problem !== undefined) throw new BatchOutcomesWrongError(problem)
    return (at) => (returned as BatchOutcome[] | undefined)?.[at] ?? {}
  } catch (error) {
    return () => ({ error: error instanceof Error ? error : new Error(messageOf(error)) })
  }
}
