/** Waits for the end of a run over HTTP: requests that the API holds until the run has ended, one after the other. */
import type { AwaitedRun } from '../answers/index.ts'
import type { Clock } from '../clock/index.ts'
import { DuelogError } from '../errors/index.ts'
import { type Address, ApiClient, path } from '../remote/index.ts'
import type { RunInfo } from './answers.ts'
import { checkedId, checkedRunOf, checkedWait } from './call-checks.ts'
import type { AwaitedRunOf } from './options.ts'
import { type AwaitRun, RunFailedError } from './run-promise.ts'

/** The longest wait of one request; the API allows 45,000. A longer wait sends the request again. */
const waitRequestMs = 30_000
/** Pauses between requests while no owner or process answers: they double. */
const againMsMin = 100
const againMsMax = 2_000

export interface RunAwaiterOptions {
  address: Address
  clock: Clock
  /** Aborted when the client is closed. */
  closed: AbortSignal
}

export function runAwaiter({ address, clock, closed }: RunAwaiterOptions): AwaitRun {
  return async (id, which, options) => {
    checkedId(id)
    checkedRunOf(which)
    const { timeoutMs, signal } = checkedWait(options)
    const stop = AbortSignal.any([closed, ...(signal === undefined ? [] : [signal])])
    const api = new ApiClient(address, stop)
    const untilMs = clock.steadyMs() + timeoutMs
    let againMs = againMsMin
    for (;;) {
      stop.throwIfAborted()
      const leftMs = Math.ceil(untilMs - clock.steadyMs())
      if (leftMs <= 0) throw notEnded(id, timeoutMs)
      try {
        const run = await askedOnce(api, id, which, Math.min(leftMs, waitRequestMs))
        if (run !== undefined) return run
        againMs = againMsMin
      } catch (error) {
        // The owner may be moving, and the process may be starting again.
        if (stop.aborted || !(error instanceof DuelogError) || !error.retriable) throw error
        if (untilMs - clock.steadyMs() <= againMs) throw error
        await pause(clock, againMs, stop)
        againMs = Math.min(againMs * 2, againMsMax)
      }
    }
  }
}

/** Undefined: the run is still awaited. Rejects with RunFailedError if it cannot come. */
async function askedOnce(api: ApiClient, id: string, which: AwaitedRunOf, waitMs: number): Promise<RunInfo | undefined> {
  const query = { ...which, timeoutMs: waitMs }
  const { ended, run, reason } = await api.ask<AwaitedRun>('GET', path`/v1/jobs/${id}/result`, { query, waitMs })
  if (ended && run === null) throw new RunFailedError(`No run of job ${JSON.stringify(id)} will end: ${reason}`)
  return run ?? undefined
}

function pause(clock: Clock, delayMs: number, stop: AbortSignal): Promise<void> {
  // The client also runs on Node 20, which has no Promise.withResolvers.
  return new Promise((resolve) => {
    const end = (): void => {
      stop.removeEventListener('abort', end)
      cancelTimer()
      resolve()
    }
    const cancelTimer = clock.at(clock.nowMs() + delayMs, end)
    stop.addEventListener('abort', end, { once: true })
  })
}

const notEnded = (id: string, timeoutMs: number): DuelogError =>
  new DuelogError(
    'wait-timeout',
    `The run of job ${JSON.stringify(id)} has not ended within ${timeoutMs} ms. Nothing is lost: wait again with awaitRun. \`client.why\` says what the job waits for.`,
  )
