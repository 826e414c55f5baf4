/** All runs of a test system, from the log of decisions: unlike an owner, it keeps every ended run with its errors. */
import type { FinishedRun, JobState, StateEntry } from '../../schemas/index.ts'
import { jobIdOfKey, prefix } from '../../streams/state/index.ts'
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

  /** The last decision about a job; undefined if there is none, or the job is deleted. */
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
      for (const { key, value } of records) {
        if (key === null) continue
        if (value !== null) this.#take(key, codecs().state.decode(value) as StateEntry)
        else if (key[0] === prefix.state) this.#states.delete(jobIdOfKey(key))
      }
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
