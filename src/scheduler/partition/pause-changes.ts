/**
 * Lets runs of paused pools go on when their pool is resumed, and runs that wait for a topic when one appears, sooner than their own timers
 * would. The runs are found by these timers, in pages, so that a million waiting runs take no memory. It is also done once when the partition
 * becomes active: the owner before may have missed a change.
 */
import { waitCheckMsMax } from '../../../streams/runs/index.ts'
import { keyAfter, type Timer, timerBound, timerKind, timerOfKey } from '../../../streams/state/index.ts'
import type { FollowPace } from './follow-pace.ts'
import type { PartitionContext } from './partition-context.ts'
import { heavyBytesMax } from './worker-changes.ts'

/** Timers that one commit cycle reads. */
const readMax = 2_000
/** A timer may be later than that only by a clock that was ahead. */
const horizonMs = waitCheckMsMax + 60_000

export class PauseChanges {
  readonly #context: PartitionContext
  readonly #pace: Pick<FollowPace, 'max'>
  #seen = ''
  /** The next key to read; undefined: all have followed. */
  #from: Buffer | undefined
  #to = timerBound(0)

  /** `pace`: the others follow in the next cycles, so that due timers do not wait for all of them. */
  constructor(context: PartitionContext, pace: Pick<FollowPace, 'max'>) {
    this.#context = context
    this.#pace = pace
  }

  /** Timers for the current commit cycle, which also takes `others` timers. They are never stored. */
  async timers(now: number, others: number): Promise<Timer[]> {
    const { store, failureIsolation, heavyJobs } = this.#context
    // A change in the middle begins anew: runs that were passed may be concerned.
    if (this.#hasChanged) {
      this.#seen = this.#versions
      this.#from = timerBound(0)
      this.#to = timerBound(now + horizonMs)
    }
    const most = failureIsolation.fitting(this.#pace.max, others)
    if (this.#from === undefined || most <= 0) return []
    const entries = await store.scan({ from: this.#from, to: this.#to, limit: readMax, keysOnly: true })
    this.#from = undefined
    const timers: Timer[] = []
    let heavyBytes = 0
    for (const [at, { key }] of entries.entries()) {
      const { kind, jobId, runNo } = timerOfKey(key)
      if (kind === timerKind.retryResidue) {
        timers.push({ dueAt: now, kind: timerKind.workers, jobId, runNo })
        heavyBytes += heavyJobs.of(jobId)
      }
      if (timers.length < most && heavyBytes < heavyBytesMax && at + 1 < readMax) continue
      this.#from = keyAfter(key)
      break
    }
    return timers
  }

  /** Whether some have not followed yet. */
  get areLeft(): boolean {
    return this.#from !== undefined || this.#hasChanged
  }

  get #hasChanged(): boolean {
    return this.#versions !== this.#seen
  }

  get #versions(): string {
    const { pauses, targets } = this.#context.shared
    return `${pauses?.version ?? 0}/${targets?.appeared ?? 0}`
  }
}
