/**
 * Jobs with an active run, decoded, as the store has them: each run reads its job once, and its reports find it here. They are of one opening
 * of a partition: dropped with it at any error (invariant I6). Only commit cycles of a claimed partition write jobs, and each says here what it
 * has stored. Soft state, so it may hold any of them or none.
 */
import type { Job } from '../../../streams/state/index.ts'
import { BoundedMap } from '../../ground/concurrency/index.ts'

/** Jobs of all partitions of a process together, about 3 kB each. The oldest are dropped first. */
export const activeJobsMax = 16_000
/** Bytes of a definition, and of a state. A larger one is read again. */
const bytesMax = 4_096

/** The reports of a run that is due later come too late: a burst would displace all others before. */
const aheadMsMax = 2_000

interface Stored {
  nowMs: number
  stateBytes: number
  isNew: boolean
}

export class ActiveJobs {
  readonly #jobs: BoundedMap<string, Job>

  constructor(max: number) {
    this.#jobs = new BoundedMap(max)
  }

  /** What is loaded for one commit cycle, such as snapshots, is not part of it. */
  get(jobId: string): Job | undefined {
    const job = this.#jobs.get(jobId)
    return job === undefined ? undefined : { ...job }
  }

  /** A commit cycle has stored it. `isNew`: also its definition, whose bytes are part of a fetch. */
  stored({ id, definition, state, unreadable }: Job, { nowMs, stateBytes, isNew }: Stored): void {
    const run = state?.active.at(-1)
    const isAwaited = run !== undefined && run.dueAt <= nowMs + aheadMsMax && unreadable === undefined
    if (!isAwaited || definition?.spec === undefined || Math.max(stateBytes, definition.bytes.length) > bytesMax)
      return this.forget(id)
    const bytes = isNew ? Buffer.from(definition.bytes) : definition.bytes
    this.#jobs.renew(id, { id, state, definition: { ...definition, bytes } })
  }

  /** It has changed otherwise. */
  forget(jobId: string): void {
    this.#jobs.delete(jobId)
  }

  entries(): Iterable<[jobId: string, job: Job]> {
    return this.#jobs
  }
}
