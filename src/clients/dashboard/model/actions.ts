/** Actions of the user: commands for jobs, runs, pools, workers and faults, each of which shows its outcome as a notice; confirmations before those that cannot
 * be undone. Times are in ISO 8601. */
import { type Signal, signal } from '@preact/signals'
import { stateWords } from '../../../../streams/text/index.ts'
import type { CommandResult, Job, JobDefinition, Run } from '../../../ground/answers/index.ts'
import { api, problemFrom } from './request.ts'
import { counted } from './words.ts'

/** For a handler that is one expression. */
export function setTo<Value>(of: Signal<Value>, value: Value): void {
  of.value = value
}

interface Notice {
  text: string
  bad: boolean
}
export const notice = signal<Notice | undefined>(undefined)
const noticeMs = 6_000
let clearing: ReturnType<typeof setTimeout> | undefined

export function say(text: string, bad = false): void {
  notice.value = { text, bad }
  clearTimeout(clearing)
  // An error stays until the user dismisses it.
  if (!bad) clearing = setTimeout(() => setTo(notice, undefined), noticeMs)
}

/** The user has corrected what an error was about. */
export function forgetError(): void {
  if (notice.peek()?.bad === true) notice.value = undefined
}

/** Number of actions whose answers are awaited. Meanwhile lists stay as they are, so that no row moves under the pointer. */
export const actionsAwaited = signal(0)

export async function awaited<Value>(action: () => Promise<Value>): Promise<Value> {
  actionsAwaited.value++
  try {
    return await action()
  } finally {
    actionsAwaited.value--
  }
}

export const sayError = (error: unknown): void => say(problemFrom(error).message, true)

/** Shows the outcome of a request. `done` is the text, unless the owner has not applied the command yet or refused it. */
export async function act<Answer>(request: Promise<Answer>, done: string | ((answer: Answer) => string)): Promise<boolean> {
  try {
    const answer = await request
    const { applied, detail, runId, reason } = (answer ?? {}) as Partial<CommandResult>
    if (applied === false && detail !== undefined) say(detail)
    else if (runId === null) say(`No run was created: ${reason ?? 'no reason was given'}.`, true)
    else say(typeof done === 'string' ? done : done(answer))
    return true
  } catch (error) {
    sayError(error)
    return false
  }
}

interface Question {
  title: string
  /** What happens when the user confirms. */
  consequence: string
  /** Label of the button that confirms. */
  yes: string
  /** Label of the button that does not; "Cancel" when absent. */
  no?: string
  /** It destroys nothing, so its button has no warning color. */
  safe?: boolean
  answer(yes: boolean): void
}
export const question = signal<Question | undefined>(undefined)

/** Resolves with true when the user confirms. */
export function confirmed(asked: Omit<Question, 'answer'>): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = {
      ...asked,
      answer(yes) {
        question.value = undefined
        resolve(yes)
      },
    }
  })
}

export const runNow = (id: string) => act(api.triggerJob({ id }), ({ runId }) => `Run ${runId ?? `of ${id}`} created.`)
export const pause = (id: string) => act(api.pauseJob({ id }), `Paused ${id}. It will not fire until you resume it.`)
export const resume = (id: string) => act(api.resumeJob({ id }), `Resumed ${id}.`)
export const skipNext = ({ id, nextFireAt }: Job) =>
  act(api.skipNext({ id, body: nextFireAt === null ? {} : { at: nextFireAt } }), `Skipped the next occurrence of ${id}.`)

const cancelled = ({ active }: Job): string =>
  active.length === 0 ? '' : ` Its ${counted(active.length, 'active run')} will be cancelled.`

/** Resolves with false when the job was not deleted or the user did not confirm. */
export async function remove(job: Job): Promise<boolean> {
  const { id, etag } = job
  const consequence = `Deletes the job and its run history. It will not fire again.${cancelled(job)} This cannot be undone.`
  if (!(await confirmed({ title: `Delete ${id}?`, consequence, yes: 'Delete job' }))) return false
  return act(api.deleteJob({ id, wait: 'applied', ifMatch: etag }), `Deleted ${id}.`)
}

export async function cancelJob(job: Job): Promise<boolean> {
  const { id } = job
  const consequence = `The job does not fire again until it gets a new definition.${cancelled(job)} Its definition and run history stay.`
  if (!(await confirmed({ title: `Cancel job ${id}?`, consequence, yes: 'Cancel job', no: 'Keep job' }))) return false
  return act(api.cancelJob({ id }), `Cancelled job ${id}.`)
}

export async function cancelRun({ jobId, runNo, runId }: Run): Promise<boolean> {
  const consequence = 'The handler gets a signal to stop, and the run is not retried. Later occurrences of the job fire as usual.'
  if (!(await confirmed({ title: `Cancel run ${runId}?`, consequence, yes: 'Cancel run', no: 'Keep run' }))) return false
  return act(api.cancelRun({ jobId, runNo }), `Cancelled run ${runId}.`)
}

export const retryNow = ({ jobId, runNo, runId }: Run) => act(api.retryRun({ jobId, runNo }), `Retried run ${runId}.`)
export const redrive = ({ jobId, runNo, runId }: Run) =>
  act(api.redriveRun({ jobId, runNo }), (answer) => `Run ${runId} redriven as ${answer.runId ?? 'a new run'}.`)

export const backfill = (id: string, range: { from: string; to: string }) =>
  act(api.backfillJob({ id, body: range }), `Backfill of ${id} started.`)
export const cancelBackfill = ({ id, backfill }: Job) =>
  act(api.cancelBackfill({ id }), `Backfill of ${id} ended after ${counted(backfill?.made ?? 0, 'run')}.`)

export const putJob = (id: string, definition: JobDefinition, etag: string) =>
  act(api.putJob({ id, wait: 'applied', ifMatch: etag, body: definition }), `Saved ${id}.`)
/** A job that exists is not changed. */
export const createJob = (id: string, definition: JobDefinition) =>
  act(api.putJob({ id, wait: 'applied', ifNoneMatch: '*', body: definition }), `Created ${id}.`)

export type PauseWord = 'pause' | 'drain' | 'resume'

const ofPool = {
  pause: [
    'Pause',
    'Nothing starts in it until it is resumed. Jobs fire as before, and their runs wait and lose no attempt. Running handlers go on.',
  ],
  drain: ['Drain', 'Its workers do what was dispatched. Further runs wait until it is resumed, and lose no attempt.'],
} as const

export async function changePool(pool: string, word: PauseWord): Promise<boolean> {
  if (word !== 'resume') {
    const [verb, consequence] = ofPool[word]
    const question = { title: `${verb} the pool ${pool}?`, consequence, yes: `${verb} pool`, safe: true }
    if (!(await confirmed(question))) return false
  }
  return act(api[`${word}Pool`]({ pool }), ({ state }) => `The pool ${pool} ${stateWords(state)}.`)
}

export const changeWorker = (worker: string, word: PauseWord) =>
  act(api[`${word}Worker`]({ worker }), ({ state }) => `The worker ${worker} ${stateWords(state)}.`)

export const acknowledgeFaults = (choice: { ids: string[] } | { upTo: string }, reason: string) =>
  act(
    api.acknowledgeFaults({ body: { ...choice, reason } }),
    ({ acknowledged }) => `${counted(acknowledged, 'fault')} acknowledged.`,
  )
