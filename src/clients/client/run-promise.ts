/** Waits for the end of a run: what `result` and `run` of a request that makes one do. */
import { counted, stateWords } from '../../../streams/text/index.ts'
import type { Api, Given } from '../../ground/answers/index.ts'
import { type Clock, waitFor } from '../../ground/clock/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import { checkedId, checkedRunOf, checkedWait } from './call-checks.ts'
import type { AwaitedRunOf, RunInfo, WaitOptions } from './options.ts'

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
  // The attempt that was dispatched counts, also if no worker began it.
  if (startedAt === null && last === undefined)
    throw new RunFailedError(`Run ${runId} ${stateWords(status)}: its handler never started.`, run)
  throw new RunFailedError(`Run ${runId} ${stateWords(status)} after ${counted(attempts, 'attempt')}.${why}`, run)
}

/** The longest wait of one request; the API allows 45,000. A longer wait sends the request again. */
const waitRequestMs = 30_000
/** Pauses between requests while no owner or process answers: they double. */
const againMsMin = 100
const againMsMax = 2_000

interface RunAwaiterOptions {
  api: Api
  clock: Clock
  /** Aborted when the client is closed. */
  closed: AbortSignal
}

export function runAwaiter({ api, clock, closed }: RunAwaiterOptions): AwaitRun {
  return async (id, which, options) => {
    checkedId(id)
    checkedRunOf(which)
    const { timeoutMs, signal } = checkedWait(options)
    const stop = AbortSignal.any([closed, ...(signal === undefined ? [] : [signal])])
    const untilMs = clock.steadyMs() + timeoutMs
    let againMs = againMsMin
    for (;;) {
      stop.throwIfAborted()
      const leftMs = Math.ceil(untilMs - clock.steadyMs())
      if (leftMs <= 0) throw notEnded(id, timeoutMs)
      try {
        const run = await askedOnce(api, { id, ...which, timeoutMs: Math.min(leftMs, waitRequestMs), signal: stop })
        if (run !== undefined) return run
        againMs = againMsMin
      } catch (error) {
        // The owner may be moving, and the process may be starting again.
        if (stop.aborted || !(error instanceof DuelogError) || !error.retriable) throw error
        if (untilMs - clock.steadyMs() <= againMs) throw error
        await waitFor(againMs, clock, stop)
        againMs = Math.min(againMs * 2, againMsMax)
      }
    }
  }
}

/** Undefined: the run is still awaited. Rejects with RunFailedError if it cannot come. */
async function askedOnce(api: Api, asked: Given<'awaitRun'>): Promise<RunInfo | undefined> {
  const { ended, run, reason } = await api.awaitRun(asked)
  if (ended && run === null) throw new RunFailedError(`No run of job ${JSON.stringify(asked.id)} will end: ${reason}`)
  return run ?? undefined
}

const notEnded = (id: string, timeoutMs: number): DuelogError =>
  new DuelogError(
    'wait-timeout',
    `The run of job ${JSON.stringify(id)} has not ended within ${timeoutMs} ms. Nothing is lost: wait again with awaitRun. \`client.why\` says what the job waits for.`,
  )
