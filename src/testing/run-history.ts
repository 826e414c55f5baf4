/** All runs of a test system, from the log of decisions: unlike an owner, it keeps every ended run with its errors. */
import type { FinishedRun, JobState, StateEntry } from '../../schemas/index.ts'
import { jobIdOfKey } from '../../streams/state/index.ts'
import type { AttemptError, Run as RunAnswer } from '../answers/index.ts'
import type { ActiveRunView } from '../ports/index.ts'
import { isoTime, parsedJson } from './json-values.ts'
import { codecs, names } from './processes.ts'
import type { MemoryLog } from './simulation/index.ts'

export class RunHistory {
  readonly #log: MemoryLog
  readonly #next = new Map<number, number>()
  /** By job, then by life and number of the run. */
  readonly #ended = new Map<string, Map<string, FinishedRun>>()
  readonly #states = new Map<string, JobState>()

  constructor(log: MemoryLog) {
    this.#log = log
  }

  /** Ended runs of a job, oldest first; also those of earlier lives of its id. */
  ended(id: string): FinishedRun[] {
    this.#read()
    return [...(this.#ended.get(id)?.values() ?? [])]
  }

  /** The last decision about a job; undefined if there is none. */
  state(id: string): JobState | undefined {
    this.#read()
    return this.#states.get(id)
  }

  #read(): void {
    for (let partition = 0; partition < this.#log.partitions; partition++) {
      const { records, next } = this.#log
        .at(names.state, partition)
        .read(this.#next.get(partition) ?? 0, Number.POSITIVE_INFINITY)
      this.#next.set(partition, next)
      for (const { key, value } of records)
        if (key !== null && value !== null) this.#take(key, codecs().state.decode(value) as StateEntry)
    }
  }

  #take(key: Buffer, { state, run }: StateEntry): void {
    if (state === null && run === null) return
    const id = jobIdOfKey(key)
    if (state !== null) this.#states.set(id, state)
    const ended = state?.lastRun ?? run
    if (ended == null) return
    const runs = this.#ended.get(id) ?? new Map<string, FinishedRun>()
    this.#ended.set(id, runs)
    // The end of a run does not change. Two lives of an id have runs of the same number, which end at different times.
    runs.set(`${ended.runNo} ${ended.scheduledFor} ${ended.finishedAt}`, ended)
  }
}

/** An active run, as the API answers it. */
export function activeRunAnswer(jobId: string, run: ActiveRunView): RunAnswer {
  return {
    runId: `${jobId}/${run.runNo}`,
    jobId,
    runNo: run.runNo,
    status: run.status as RunAnswer['status'],
    trigger: run.trigger,
    commandId: run.commandId,
    scheduledFor: isoTime(run.scheduledFor),
    attempts: run.attempt,
    dueAt: isoTime(run.dueAt),
    dispatchedAt: isoTime(run.dispatchedAt),
    startDeadlineAt: isoTime(run.startDeadlineAt),
    waitsFor: run.waitsFor,
    startedAt: run.startedAt === null ? null : isoTime(run.startedAt),
    finishedAt: null,
    worker: run.worker,
    progress: run.heartbeat?.progress ?? null,
    message: run.heartbeat?.message ?? null,
    checkedAt: run.heartbeat === null ? null : isoTime(run.heartbeat.checkedAt),
    result: null,
    errors: run.errors.map(errorAnswer),
  }
}

/** An ended run, as the API answers it. */
export function endedRunAnswer(jobId: string, run: FinishedRun): RunAnswer {
  return {
    runId: `${jobId}/${run.runNo}`,
    jobId,
    runNo: run.runNo,
    status: run.status as RunAnswer['status'],
    trigger: run.trigger,
    commandId: run.commandId,
    scheduledFor: isoTime(run.scheduledFor),
    attempts: run.attempts,
    ...(run.dueAt !== null && { dueAt: isoTime(run.dueAt) }),
    ...(run.dispatchedAt !== null && { dispatchedAt: isoTime(run.dispatchedAt) }),
    startedAt: run.startedAt === null ? null : isoTime(run.startedAt),
    finishedAt: isoTime(run.finishedAt),
    worker: run.worker,
    result: run.result === null ? null : parsedJson(run.result),
    note: run.note,
    errors: run.errors.map(errorAnswer),
  }
}

/** The stack is only in the answer about one run. */
const errorAnswer = ({ stack: _, ...error }: FinishedRun['errors'][number]): AttemptError => ({
  ...error,
  at: isoTime(error.at),
  dueAt: timeOrNull(error.dueAt),
  dispatchedAt: timeOrNull(error.dispatchedAt),
  startedAt: timeOrNull(error.startedAt),
})

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))
