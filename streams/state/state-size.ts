/**
 * How large the state of a job may be, and what is left out of it first when it would be larger. Its record has to fit a batch of the log
 * with room to spare, whatever workers say: a record that is refused would stop the whole partition.
 */
import type { ActiveRun, AttemptError, FinishedRun, JobState } from '../../schemas/index.ts'

/** Bytes of a state, counted so that its record is never larger. */
export const stateBytesMax = 524_288
/** What is left of a message that is cut. */
const cutMessageChars = 100

/** Numbers, lengths and marks of one: at most so many bytes, with ten for each number. */
const overhead = { state: 600, run: 400, finished: 120, error: 40, refusal: 80 } as const
const numberBytes = 10

const bytesOf = (text: string | null | undefined): number => (text == null ? 0 : Buffer.byteLength(text) + 4)

const errorBytes = (error: AttemptError): number =>
  overhead.error + bytesOf(error.type) + bytesOf(error.message) + bytesOf(error.worker)

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

/** Bytes of a state at most. */
export function stateBytes(state: JobState): number {
  let bytes = overhead.state + bytesOf(state.reason) + bytesOf(state.backfill?.commandId)
  bytes += numberBytes * (state.deadRuns.length + state.recentCommands.length)
  for (const { reason, commandId } of state.decisions) bytes += overhead.refusal + bytesOf(reason) + bytesOf(commandId)
  for (const run of state.active) bytes += runBytes(run)
  return state.lastRun === null ? bytes : bytes + finishedBytes(state.lastRun)
}

/** In this order until the state fits. The first are what people miss least; no step changes what will be done. */
const steps: readonly ((state: JobState) => JobState)[] = [
  (state) => withErrors(state, (errors) => [...errors.slice(0, -1).map(cut), ...errors.slice(-1)]),
  (state) => withErrors(state, (errors) => errors.slice(-1)),
  (state) => withErrors(state, (errors) => errors.map(cut)),
  ({ lastRun, ...state }) => ({ ...state, lastRun: lastRun === null ? null : withoutResult(lastRun) }),
  (state) => withErrors(state, () => []),
  (state) => ({ ...state, active: state.active.map((run) => ({ ...run, worker: null })) }),
  (state) => ({ ...state, active: state.active.map((run) => ({ ...run, commandId: null })) }),
]

/** The state itself where it fits, as nearly all do. */
export function fittedState(state: JobState): JobState {
  let fitted = state
  for (const step of steps) {
    if (stateBytes(fitted) <= stateBytesMax) return fitted
    fitted = step(fitted)
  }
  return fitted
}

const cut = (error: AttemptError): AttemptError =>
  error.message.length <= cutMessageChars
    ? error
    : { ...error, message: `${error.message.slice(0, cutMessageChars).toWellFormed()}…` }

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
