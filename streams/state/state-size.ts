/**
 * Size limit of a job's state, and the parts that are dropped first if it would be larger. The record of the state must fit a batch of the
 * log with room to spare, whatever workers report: a refused record would stop the whole partition.
 */

import type { ActiveRun, AttemptError, FinishedRun, JobState } from '../../schemas/index.ts'
import { cutText } from '../text/index.ts'

/** Limit in bytes. They are counted so that the record is never larger. */
export const stateBytesMax = 524_288
/** Characters that remain of a cut message. */
const cutMessageChars = 100

/** Most bytes for the numbers and lengths of each part, with ten for each number. */
const overhead = { state: 600, run: 400, finished: 150, error: 75, refusal: 80 } as const
const numberBytes = 10

const bytesOf = (text: string | null | undefined): number => (text == null ? 0 : Buffer.byteLength(text) + 4)

const errorBytes = (error: AttemptError): number =>
  overhead.error + bytesOf(error.type) + bytesOf(error.message) + bytesOf(error.worker) + bytesOf(error.stack)

const errorsBytes = (errors: readonly AttemptError[]): number => errors.reduce((sum, error) => sum + errorBytes(error), 0)

const runBytes = ({ commandId, worker, limits, errors }: ActiveRun): number =>
  overhead.run +
  bytesOf(commandId) +
  bytesOf(worker) +
  bytesOf(limits?.concurrencyKey) +
  bytesOf(limits?.rateKey) +
  errorsBytes(errors)

const finishedBytes = ({ commandId, worker, note, result, errors }: FinishedRun): number =>
  overhead.finished + bytesOf(commandId) + bytesOf(worker) + bytesOf(note) + (result?.length ?? 0) + errorsBytes(errors)

/** Upper bound for the bytes of a state. */
export function stateBytes(state: JobState): number {
  let bytes = overhead.state + bytesOf(state.reason) + bytesOf(state.backfill?.commandId)
  bytes += numberBytes * (state.deadRuns.length + state.recentCommands.length)
  for (const { reason, commandId } of state.decisions) bytes += overhead.refusal + bytesOf(reason) + bytesOf(commandId)
  for (const run of state.active) bytes += runBytes(run)
  return state.lastRun === null ? bytes : bytes + finishedBytes(state.lastRun)
}

/** Applied in this order until the state fits. The first ones remove what people miss least. No step changes a decision. */
const steps: readonly ((state: JobState) => JobState)[] = [
  (state) => withErrors(state, (errors) => errors.map((error) => ({ ...error, stack: null }))),
  (state) => withErrors(state, (errors) => [...errors.slice(0, -1).map(cut), ...errors.slice(-1)]),
  (state) => withErrors(state, (errors) => errors.slice(-1)),
  (state) => withErrors(state, (errors) => errors.map(cut)),
  ({ lastRun, ...state }) => ({ ...state, lastRun: lastRun === null ? null : withoutResult(lastRun) }),
  (state) => withErrors(state, () => []),
  (state) => ({ ...state, active: state.active.map((run) => ({ ...run, worker: null })) }),
  (state) => ({ ...state, active: state.active.map((run) => ({ ...run, commandId: null })) }),
]

/** The state itself if it fits, as nearly all do. */
export function fittedState(state: JobState): JobState {
  let fitted = state
  for (const step of steps) {
    if (stateBytes(fitted) <= stateBytesMax) return fitted
    fitted = step(fitted)
  }
  return fitted
}

const cut = (error: AttemptError): AttemptError =>
  error.message.length <= cutMessageChars ? error : { ...error, message: `${cutText(error.message, cutMessageChars)}…` }

function withErrors(state: JobState, change: (errors: AttemptError[]) => AttemptError[]): JobState {
  const { active, lastRun } = state
  return {
    ...state,
    active: active.map((run) => (run.errors.length === 0 ? run : { ...run, errors: change(run.errors) })),
    lastRun: lastRun === null ? null : { ...lastRun, errors: change(lastRun.errors) },
  }
}

const withoutResult = (run: FinishedRun): FinishedRun =>
  run.result === null ? run : { ...run, result: null, note: 'The result was left out: the state of the job had no room for it.' }
