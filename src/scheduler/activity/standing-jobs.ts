/**
 * Counts of the jobs of a partition that need somebody's attention, and stay so until somebody acts: jobs with dead runs, and INVALID and
 * PAUSED ones. A new owner does not know them. It counts them once, from the index of its store (queries/standing-walk.ts), while commits
 * go on. From then on each decision changes the counts, so they are exact.
 */
import type { Job } from '../../../streams/state/index.ts'
import type { StandingCounts } from '../../ground/ports/index.ts'

const none: StandingCounts = { deadRuns: 0, deadJobs: 0, invalid: 0, paused: 0 }

export class StandingJobs {
  readonly #counts = { ...none }
  /** While they are being counted: ids of the jobs that the counts have, some 100 bytes each. Undefined before, and afterwards. */
  #counted: Set<string> | undefined
  #phase: 'unknown' | 'counting' | 'known' = 'unknown'

  /** Null until all are counted. */
  get counts(): StandingCounts | null {
    return this.#phase === 'known' ? { ...this.#counts } : null
  }

  /** 0 until all are counted. */
  get deadRuns(): number {
    return this.#phase === 'known' ? this.#counts.deadRuns : 0
  }

  get isUnknown(): boolean {
    return this.#phase === 'unknown'
  }

  /** Call it between two commit cycles. False: they are known, or being counted. */
  begin(): boolean {
    if (this.#phase !== 'unknown') return false
    this.#phase = 'counting'
    this.#counted = new Set()
    return true
  }

  /** A job as the store has it. If a decision about it came first, that one counts. */
  found(job: Job): void {
    if (this.#counted === undefined || this.#counted.has(job.id)) return
    this.#counted.add(job.id)
    this.#add(standingOf(job), 1)
  }

  /** All jobs were found. */
  end(): void {
    this.#phase = 'known'
    this.#counted = undefined
  }

  /** The store could not be read to its end; the next caller begins again. */
  giveUp(): void {
    this.clear()
  }

  /** A decision has made `after` of `before`. */
  changed(before: Job, after: Job): void {
    if (this.#phase === 'unknown') return
    const [was, is] = [standingOf(before), standingOf(after)]
    if (was === none && is === none) return
    const isNew = this.#counted !== undefined && !this.#counted.has(after.id)
    if (isNew) this.#counted?.add(after.id)
    else this.#add(was, -1)
    this.#add(is, 1)
  }

  clear(): void {
    Object.assign(this.#counts, none)
    this.#counted = undefined
    this.#phase = 'unknown'
  }

  #add(counts: StandingCounts, sign: 1 | -1): void {
    for (const name of ['deadRuns', 'deadJobs', 'invalid', 'paused'] as const) this.#counts[name] += sign * counts[name]
  }
}

/** What one job adds to the counts. */
function standingOf({ definition, state }: Job): StandingCounts {
  if (definition === undefined) return none
  const { spec } = definition
  const status = state?.status ?? (spec === undefined ? 'INVALID' : spec.paused ? 'PAUSED' : 'ACTIVE')
  const deadRuns = state?.deadRuns.length ?? 0
  if (deadRuns === 0 && status !== 'INVALID' && status !== 'PAUSED') return none
  return {
    deadRuns,
    deadJobs: deadRuns > 0 ? 1 : 0,
    invalid: status === 'INVALID' ? 1 : 0,
    paused: status === 'PAUSED' ? 1 : 0,
  }
}
