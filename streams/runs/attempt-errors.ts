/** Errors of the failed attempts of a run: what the state of a job keeps of each. */

import type { ActiveRun, AttemptError } from '../../schemas/index.ts'
import { runErrorsMax } from '../state/index.ts'
import { cutText } from '../text/index.ts'

const messageCharsMax = 1_000
/** Longest stack that is kept. It has about 20 frames. */
const stackCharsMax = 2_000

/** What failed. `stack` is optional, because an owner that judges an attempt has none. */
interface Failure {
  type: string
  message: string
  stack?: string | null | undefined
}

type Attempted = Pick<ActiveRun, 'attempt' | 'worker' | 'dueAt' | 'dispatchedAt' | 'startedAt'>

/** The current attempt of a run failed at `at`. */
export function attemptErrorOf(run: Attempted, { type, message, stack }: Failure, at: number): AttemptError {
  const { attempt, worker, dueAt, dispatchedAt, startedAt } = run
  return {
    ...{ attempt, at, worker, type, message: cutText(message, messageCharsMax) },
    ...{ dueAt, dispatchedAt, startedAt, stack: stack == null ? null : cutText(stack, stackCharsMax) },
  }
}

/** The last five errors. Only the newest keeps its stack: the state is written with each attempt, so it must stay small (ADR 0091). */
export function withAttemptError(errors: readonly AttemptError[], error: AttemptError): AttemptError[] {
  const earlier = errors.map((one) => (one.stack === null ? one : { ...one, stack: null }))
  return [...earlier, error].slice(-runErrorsMax)
}
