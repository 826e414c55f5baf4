/** The plan of a load: its jobs by number, and the send time of each. */
import type { Job } from '../../clients/client/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'

export type Kind = 'at' | 'every' | 'cron'

export interface LoadOptions {
  /** Jobs sent per second. */
  rate: number
  /** Duration of the sending, in seconds. */
  durationS: number
  kind: Kind
  /** From the sending of a job to its first due time, in ms. */
  delayMs: number
  /** Runs of each job that recurs. */
  runs: number
  /** Interval between two runs of a job, for kind `every`, in ms. */
  everyMs: number
  handler: string
  pool: string
  payloadBytes: number
  mix: Mix
}

/** Relative shares of the priorities. */
export type Mix = ReadonlyMap<JobPriority, number>
/** A word or a number. */
export type JobPriority = NonNullable<Job['priority']>

/** Largest number of runs in one load; each is kept in memory until the end. */
export const runsMax = 5_000_000
const cronEachSecond = '* * * * * *'
/** Longest time from the sending of a job to its last run. */
const spanMsMax = 86_400_000
/** Jobs are deleted soon after their last run. */
const retainMs = 60_000

export class Load {
  readonly options: LoadOptions
  readonly jobs: number
  /** Runs that follow from each job. */
  readonly runsPerJob: number
  readonly #prefix: string
  readonly #payload: string
  readonly #priorities: readonly JobPriority[]

  /** `name` is part of the jobs' ids and should be new. Throws DuelogError `bad-request` for more runs than runsMax. */
  constructor(options: LoadOptions, name: string) {
    this.options = options
    this.jobs = Math.max(1, Math.round(options.rate * options.durationS))
    this.runsPerJob = options.kind === 'at' ? 1 : options.runs
    this.#prefix = `generate-${name}-`
    this.#payload = 'x'.repeat(options.payloadBytes)
    this.#priorities = prioritiesOf(options.mix)
    const runs = this.jobs * this.runsPerJob
    if (runs > runsMax) {
      throw new DuelogError('bad-request', `rate, duration and runs make ${runs} runs; allowed: at most ${runsMax} in one load.`)
    }
    if (this.spanMs > spanMsMax) {
      const message = `delay and runs reach ${this.spanMs} ms beyond the sending of a job; allowed: at most ${spanMsMax}.`
      throw new DuelogError('bad-request', message)
    }
  }

  get runs(): number {
    return this.jobs * this.runsPerJob
  }

  /** Number of jobs that should have been sent `ms` after the start. */
  dueAfter(ms: number): number {
    return Math.min(this.jobs, Math.floor((ms * this.options.rate) / 1_000) + 1)
  }

  job(index: number, nowMs: number): Job {
    const { kind, delayMs, everyMs, handler, pool, payloadBytes } = this.options
    const firstAt = nowMs + delayMs
    const job: Job = {
      id: `${this.#prefix}${index}`,
      schedule: kind === 'at' ? { at: firstAt } : kind === 'every' ? { everyMs, anchor: firstAt } : { cron: cronEachSecond },
      target: { handler, pool },
      priority: this.#priorities[index % this.#priorities.length],
      tags: ['generate'],
      retainCompletedMs: retainMs,
      retainFailedMs: retainMs,
    }
    if (payloadBytes > 0) Object.assign(job, { payload: this.#payload, contentType: 'text/plain' })
    // Runs that are late because of the load must still run, because they would count as lost otherwise.
    if (kind !== 'at') {
      const all = { catchUp: 'ALL', catchUpMax: this.runsPerJob, maxConcurrentRuns: 100 } as const
      Object.assign(job, { startAt: firstAt, maxRuns: this.runsPerJob, ...all })
    }
    return job
  }

  /** Number of a job by its id; undefined for the jobs of others. */
  indexOf(jobId: string): number | undefined {
    if (!jobId.startsWith(this.#prefix)) return undefined
    const digits = jobId.slice(this.#prefix.length)
    const index = /^\d+$/.test(digits) ? Number(digits) : this.jobs
    return index < this.jobs ? index : undefined
  }

  /** Longest time from the sending of a job to the due time of its last run. */
  get spanMs(): number {
    const { kind, delayMs, everyMs } = this.options
    const stepMs = kind === 'at' ? 0 : kind === 'every' ? everyMs : 1_000
    return delayMs + stepMs * this.runsPerJob
  }
}

/** The priorities of successive jobs, spread as evenly as their shares allow. */
function prioritiesOf(mix: Mix): JobPriority[] {
  const shares = Array.from(mix, ([priority, share]) => ({ priority, share, owed: 0 }))
  const sum = shares.reduce((total, { share }) => total + share, 0)
  return Array.from({ length: sum }, () => {
    for (const each of shares) each.owed += each.share
    const next = shares.reduce((most, each) => (each.owed > most.owed ? each : most))
    next.owed -= sum
    return next.priority
  })
}
