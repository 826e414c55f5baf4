/** Waits for the end of a run: what `result` and `run` of a request that makes one do. */
import { counted, stateWords } from '../../streams/text/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { RunInfo } from './answers.ts'
import type { AwaitedRunOf, WaitOptions } from './options.ts'

/** The promise of a request that makes a run, with ways to wait for its end. */
export interface RunPromise<Answer, Result = unknown> extends Promise<Answer> {
  /**
   * What the handler returned. Rejects with RunFailedError if the run ends otherwise or cannot come, or if its result was left out, with `wait-timeout` if it has not
   * ended in time, and with the error of the request itself.
   */
  result<As = Result>(options?: WaitOptions): Promise<As>
  /** The ended run, whatever its status. Rejects with RunFailedError if it cannot come, and with `wait-timeout`. */
  run(options?: WaitOptions): Promise<RunInfo>
}

/** The awaited run ended without a result, or cannot come. */
export class RunFailedError extends DuelogError {
  /** The ended run; undefined if there is none. */
  readonly run: RunInfo | undefined

  constructor(message: string, run?: RunInfo) {
    super('run-failed', message)
    this.name = 'RunFailedError'
    this.run = run
  }
}

export type AwaitRun = (id: string, which: AwaitedRunOf, options: WaitOptions | undefined) => Promise<RunInfo>

/** `which` says the job and run that the answer is about. It may throw. */
export function runPromise<Answer, Result = unknown>(
  answer: Promise<Answer>,
  awaitRun: AwaitRun,
  which: (answer: Answer) => [id: string, run: AwaitedRunOf],
): RunPromise<Answer, Result> {
  const run = async (options?: WaitOptions): Promise<RunInfo> => awaitRun(...which(await answer), options)
  const result = async <As = Result>(options?: WaitOptions): Promise<As> => resultOf(await run(options)) as As
  return Object.assign(answer, { run, result })
}

/** Throws RunFailedError unless the run has succeeded. */
function resultOf(run: RunInfo): unknown {
  if (run.status === 'SUCCEEDED') {
    if (run.result !== null || run.note === null) return run.result
    throw new RunFailedError(`Run ${run.runId} succeeded without a result. ${run.note}`, run)
  }
  const { runId, status, attempts, startedAt, errors } = run
  const last = errors.at(-1)
  const why = last === undefined ? '' : ` The last error is ${last.type}: ${last.message}`
  if (status === 'DISPATCHED')
    throw new RunFailedError(`Run ${runId} has no result: trackRuns of its job is false, so workers send no reports.`, run)
  // The attempt that was dispatched counts, also if no worker began it.
  if (startedAt === null && last === undefined)
    throw new RunFailedError(`Run ${runId} ${stateWords(status)}: its handler never started.`, run)
  throw new RunFailedError(`Run ${runId} ${stateWords(status)} after ${counted(attempts, 'attempt')}.${why}`, run)
}
