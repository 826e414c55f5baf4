/**
 * Jobs with an active run, decoded, as the store has them: each run reads its job once, and its reports find it here. They are of one opening
 * of a partition: dropped with it at any error (invariant I6). Only commit cycles of a claimed partition write jobs, and each says here what it
 * has stored. Soft state, so it may hold any of them or none.
 */
import type { Job } from '../../../streams/state/index.ts'

/** Jobs of all partitions of a process together. The oldest are dropped first. */
export const activeJobsMax = 16_000
/** Bytes of a definition, and of a state. A larger one is read again. */
const bytesMax = 4_096
/** Bytes of both that a job may have on average. Decoded, a job takes 2 kB and three to four times as much as these. */
const bytesMean = 512

/** The reports of a run that is due later come too late: a burst would displace all others before. */
const aheadMsMax = 2_000

interface Stored {
  nowMs: number
  stateBytes: number
  isNew: boolean
}

export class ActiveJobs {
  readonly #jobs = new Map<string, { job: Job; bytes: number }>()
  #bytes = 0
  readonly #max: () => number

  /** `max`: asked for each job, because a partition that the process gets later takes its share. */
  constructor(max: () => number) {
    this.#max = max
  }

  /** What is loaded for one commit cycle, such as snapshots, is not part of it. */
  get(jobId: string): Job | undefined {
    const kept = this.#jobs.get(jobId)
    return kept === undefined ? undefined : { ...kept.job }
  }

  /** A commit cycle has stored it. `isNew`: also its definition, whose bytes are part of a fetch. */
  stored({ id, definition, state, unreadable }: Job, { nowMs, stateBytes, isNew }: Stored): void {
    const run = state?.active.at(-1)
    const isAwaited = run !== undefined && run.dueAt <= nowMs + aheadMsMax && unreadable === undefined
    if (!isAwaited || definition?.spec === undefined || Math.max(stateBytes, definition.bytes.length) > bytesMax)
      return this.forget(id)
    const bytes = isNew ? Buffer.from(definition.bytes) : definition.bytes
    this.forget(id)
    this.#jobs.set(id, { job: { id, state, definition: { ...definition, bytes } }, bytes: stateBytes + bytes.length })
    this.#bytes += stateBytes + bytes.length
    this.#dropOldest()
  }

  /** It has changed otherwise. */
  forget(jobId: string): void {
    this.#bytes -= this.#jobs.get(jobId)?.bytes ?? 0
    this.#jobs.delete(jobId)
  }

  #dropOldest(): void {
    const max = this.#max()
    while (this.#jobs.size > max || this.#bytes > max * bytesMean) {
      const { value: oldest } = this.#jobs.keys().next()
      if (oldest === undefined) return
      this.forget(oldest)
    }
  }

  *entries(): Iterable<[jobId: string, job: Job]> {
    for (const [jobId, { job }] of this.#jobs) yield [jobId, job]
  }
}
