/**
 * The books of an audit: what the records of the log say was dispatched, started and ended, by run. It knows nothing of how owners decide,
 * but the meaning of the records. Records may come in any order of their topics, in offset order within a partition.
 */
import type { Execution, ExecutionEvent, FinishedRun, JobDefinition, JobState } from '../../schemas/generated.ts'

export interface RunAccount {
  jobId: string
  runNo: number
  specOffset: number
  scheduledFor: number
  trigger: Execution['trigger']
  dispatchedAt: number
  startDeadlineAt: number
  attempts: Map<number, AttemptAccount>
  end: 'succeeded' | 'dead' | 'other' | undefined
}

interface AttemptAccount {
  /** From when it might start. Undefined: an event came, and no execution. */
  dueAt: number | undefined
  dispatches: number
  startedAt: number | undefined
  /** Who started it, and when: a second one is another start. */
  starts: Set<string>
}

export interface JobAccount {
  definition: { spec: JobDefinition; offset: number; appendedAt: number } | undefined
  state: JobState | undefined
  /** Finished runs that the state lists, by run number. */
  finished: Map<number, FinishedRun>
}

export class Books {
  readonly runs = new Map<string, RunAccount>()
  readonly jobs = new Map<string, JobAccount>()
  /** Records that could not be read, by topic. */
  readonly unreadable = new Map<string, number>()

  execution(execution: Execution): void {
    const { jobId, runNo, attempt, specOffset, scheduledFor, trigger, dueAt, dispatchedAt, startDeadlineAt } = execution
    const key = runKey(execution)
    let run = this.runs.get(key)
    if (run === undefined || run.scheduledFor < 0) {
      const attempts = run?.attempts ?? new Map<number, AttemptAccount>()
      run = { jobId, runNo, specOffset, scheduledFor, trigger, dispatchedAt, startDeadlineAt, attempts, end: run?.end }
      this.runs.set(key, run)
    }
    run.startDeadlineAt = Math.max(run.startDeadlineAt, startDeadlineAt)
    const account = attemptOf(run, attempt)
    account.dueAt = Math.min(account.dueAt ?? dueAt, dueAt)
    account.dispatches++
  }

  event(event: Pick<ExecutionEvent, 'type' | 'jobId' | 'runNo' | 'attempt' | 'specOffset' | 'worker' | 'startedAt'>): void {
    const { type, attempt, worker, startedAt } = event
    if (startedAt === null && type !== 'SUCCEEDED') return
    const run = this.#runOf(event)
    if (startedAt !== null) {
      const account = attemptOf(run, attempt)
      account.startedAt = Math.min(account.startedAt ?? startedAt, startedAt)
      account.starts.add(`${worker}@${startedAt}`)
    }
    if (type === 'SUCCEEDED') run.end = 'succeeded'
  }

  deadLetter(execution: Pick<Execution, 'jobId' | 'runNo' | 'specOffset'>): void {
    this.#runOf(execution).end = 'dead'
  }

  definition(jobId: string, definition: JobAccount['definition']): void {
    this.#jobOf(jobId).definition = definition
  }

  state(jobId: string, state: JobState | undefined): void {
    const job = this.#jobOf(jobId)
    job.state = state
    // Run numbers of a job of the same id begin anew.
    if (state === undefined) job.finished.clear()
    else if (state.lastRun !== null) job.finished.set(state.lastRun.runNo, state.lastRun)
  }

  finished(jobId: string, run: FinishedRun): void {
    this.#jobOf(jobId).finished.set(run.runNo, run)
  }

  unread(topic: string): void {
    this.unreadable.set(topic, (this.unreadable.get(topic) ?? 0) + 1)
  }

  #jobOf(jobId: string): JobAccount {
    let job = this.jobs.get(jobId)
    if (job === undefined) {
      job = { definition: undefined, state: undefined, finished: new Map() }
      this.jobs.set(jobId, job)
    }
    return job
  }

  /** A run of which no execution was read yet has no nominal time. */
  #runOf(run: Pick<Execution, 'jobId' | 'runNo' | 'specOffset'>): RunAccount {
    const key = runKey(run)
    let account = this.runs.get(key)
    if (account === undefined) {
      const { jobId, runNo, specOffset } = run
      const unknown = { scheduledFor: unknownTime, trigger: 'SCHEDULE', dispatchedAt: 0, startDeadlineAt: 0 } as const
      account = { jobId, runNo, specOffset, ...unknown, attempts: new Map(), end: undefined }
      this.runs.set(key, account)
    }
    return account
  }
}

/** Of runs that are known by their events alone; nominal times are positive. */
export const unknownTime = -1

/** A job that was deleted and defined anew numbers its runs from 1 again; the offset of the definition tells the two apart. */
const runKey = ({ jobId, runNo, specOffset }: Pick<Execution, 'jobId' | 'runNo' | 'specOffset'>): string =>
  `${jobId}\u0000${runNo}\u0000${specOffset}`

function attemptOf(run: RunAccount, attempt: number): AttemptAccount {
  let account = run.attempts.get(attempt)
  if (account === undefined) {
    account = { dueAt: undefined, dispatches: 0, startedAt: undefined, starts: new Set() }
    run.attempts.set(attempt, account)
  }
  return account
}
