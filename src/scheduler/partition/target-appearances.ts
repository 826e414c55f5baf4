/**
 * Checks the jobs that are INVALID for want of a topic or a pool when one appears, sooner than their own timers would (ADR 0083). They are found by
 * the index of INVALID jobs, so that also a new owner knows them. It asks about all of them once, and so the topics that they need are looked for.
 */
import { indexKind, indexRange, jobIdOfIndexKey, type Timer, timerKind } from '../../../streams/state/index.ts'
import type { PartitionContext } from './partition-context.ts'
import { heavyBytesMax } from './worker-changes.ts'

/** Jobs that are checked in one commit cycle, beside all others. */
const checkedMax = 100
const status = 'INVALID'

export class TargetAppearances {
  readonly #context: PartitionContext
  /** `appeared` of the last walk; -1: there was none. */
  #appeared = -1
  #isWalking = false
  /** The last job of the walk that was checked. */
  #after: string | undefined

  constructor(context: PartitionContext) {
    this.#context = context
  }

  /** Timers for the current commit cycle, which also takes `others` timers. They are never stored. */
  async timers(now: number, others: number): Promise<Timer[]> {
    const { store, failureIsolation, heavyJobs } = this.#context
    if (!this.areLeft) return []
    if (!this.#isWalking) this.#begin()
    const most = failureIsolation.fitting(checkedMax, others)
    if (most < 1) return []
    const entries = await store.scan({ ...indexRange(indexKind.status, status, this.#after), limit: most, keysOnly: true })
    const ids = entries.map(({ key }) => jobIdOfIndexKey(key, status))
    const timers: Timer[] = []
    let heavyBytes = 0
    for (const jobId of ids) {
      if (heavyBytes >= heavyBytesMax) break
      timers.push({ dueAt: now, kind: timerKind.target, jobId, runNo: 0 })
      heavyBytes += heavyJobs.of(jobId)
      this.#after = jobId
    }
    if (timers.length === ids.length && ids.length < most) this.#isWalking = false
    return timers
  }

  /** Whether some have not been checked yet. */
  get areLeft(): boolean {
    const { appeared } = this.#context.shared.targets ?? {}
    return this.#isWalking || (appeared !== undefined && appeared !== this.#appeared)
  }

  /** Another appearance meanwhile begins a second walk, after this one. */
  #begin(): void {
    this.#appeared = this.#context.shared.targets?.appeared ?? -1
    this.#isWalking = true
    this.#after = undefined
  }
}
