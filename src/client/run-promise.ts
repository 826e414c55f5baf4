/** Waits for the end of a run: what `result` and `run` of a request that makes one do. */
import { DuelogError } from '../errors/index.ts'
import type { AwaitedRunOf, RunInfo, RunPromise, WaitOptions } from './client.ts'

export const waitMsDefault = 60_000
/** The longest wait of a timer of Node. */
const waitMsMax = 2_147_483_647

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
export function runPromise<Answer>(
  answer: Promise<Answer>,
  awaitRun: AwaitRun,
  which: (answer: Answer) => [id: string, run: AwaitedRunOf],
): RunPromise<Answer> {
  const run = async (options?: WaitOptions): Promise<RunInfo> => awaitRun(...which(await answer), options)
  const result = async <Result>(options?: WaitOptions): Promise<Result> => resultOf(await run(options)) as Result
  return Object.assign(answer, { run, result })
}

/** Throws RunFailedError unless the run has succeeded. */
function resultOf(run: RunInfo): unknown {
  if (run.status === 'SUCCEEDED') return run.result
  const { runId, status, attempts, errors } = run
  const last = errors.at(-1)
  const why = last === undefined ? '' : ` The last error is ${last.type}: ${last.message}`
  if (status === 'DISPATCHED')
    throw new RunFailedError(`Run ${runId} has no result: trackRuns of its job is false, so workers send no reports.`, run)
  throw new RunFailedError(`Run ${runId} is ${status} after ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}.${why}`, run)
}

/** Throws `bad-request`. */
export function checkedTimeoutMs({ timeoutMs = waitMsDefault }: WaitOptions = {}): number {
  if (Number.isFinite(timeoutMs) && timeoutMs >= 1 && timeoutMs <= waitMsMax) return timeoutMs
  throw new DuelogError('bad-request', `timeoutMs is ${timeoutMs}; allowed: 1 to ${waitMsMax}`)
}
