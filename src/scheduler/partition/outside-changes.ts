/**
 * Lets jobs and runs follow changes outside of their logs, sooner than their own timers would: other workers in a pool, a pool that is resumed,
 * a topic or a pool that appears (ADR 0083). They follow by timers that are never stored, some in each commit cycle.
 */
import { waitCheckMsMax } from '../../../streams/runs/index.ts'
import {
  indexKind,
  indexRange,
  jobIdOfIndexKey,
  keyAfter,
  type Timer,
  type TimerKind,
  timerBound,
  timerKind,
  timerOfKey,
} from '../../../streams/state/index.ts'
import { atSteady } from '../../ground/clock/index.ts'
import type { PartitionContext } from './partition-context.ts'

/** Bytes of heavy jobs that one commit cycle takes of a walk beside its own timers. */
const heavyBytesMax = 1024 * 1024

type Owner = Pick<PartitionContext, 'shared' | 'activity' | 'failureIsolation' | 'local'>

/** Those that a change concerns. Undefined: it has read enough for one commit cycle. */
type Walk = Iterator<Subject | undefined> | AsyncIterator<Subject | undefined>
type Subject = Pick<Timer, 'jobId' | 'runNo'>

interface Change {
  kind: TimerKind
  /** Another value after each change. */
  version: (owner: Owner) => unknown
  /** The version that a new owner has followed. */
  seen: (owner: Owner) => unknown
  walk: (owner: Owner, now: number) => Walk
  /** How many follow in one commit cycle, if that is not what cycles take. */
  most?: number
  /** Whether a change in the middle begins anew, as those that were passed may be concerned. Default: all follow once more afterwards. */
  startsOver?: boolean
  /** Rest before all follow once more. Default 0. */
  restMs?: (owner: Owner) => number
}

/** Rest for each run that depends on workers, and at most. Otherwise workers that come and go all the time would keep an owner of 100,000 waiting runs busy. */
const restMsPerRun = 1
const restMsMax = 60_000

/** Runs that depend on the workers of their pool. */
export const workerChanges: Change = {
  kind: timerKind.workers,
  version: workersVersion,
  seen: workersVersion,
  restMs: ({ activity: { activeRuns } }) => Math.min(activeRuns.workerBound.size * restMsPerRun, restMsMax),
  *walk({ activity: { activeRuns } }) {
    for (const [jobId, runNos] of [...activeRuns.workerBound]) for (const runNo of runNos) yield { jobId, runNo }
  },
}

function workersVersion({ shared }: Owner): number {
  return shared.poolWorkers?.version ?? 0
}

/** Jobs that are checked in one commit cycle, beside all others. */
const checkedMax = 100
const invalid = 'INVALID'

/**
 * Jobs that are INVALID for want of a topic or a pool. They are found by the index of INVALID jobs, so that also a new owner knows them. It asks
 * about all of them once, and so the topics that they need are looked for.
 */
const targetAppearances: Change = {
  kind: timerKind.target,
  version: ({ shared }) => shared.targets?.appeared ?? -1,
  seen: () => -1,
  most: checkedMax,
  async *walk({ local: { store } }) {
    for (let after: string | undefined; ; ) {
      const range = indexRange(indexKind.status, invalid, after)
      const entries = await store.scan({ ...range, limit: checkedMax, keysOnly: true })
      for (const { key } of entries) {
        after = jobIdOfIndexKey(key, invalid)
        yield { jobId: after, runNo: 0 }
      }
      if (entries.length < checkedMax) return
    }
  },
}

/** Timers that one commit cycle reads. */
const readMax = 2_000
/** A timer may be later than that only by a clock that was ahead. */
const horizonMs = waitCheckMsMax + 60_000

/**
 * Runs of paused pools, and runs that wait for a topic. They are found by their own timers, in pages, so that a million waiting runs take no
 * memory. It is also done once by a new owner: the one before may have missed a change.
 */
const pauseChanges: Change = {
  kind: timerKind.workers,
  version: ({ shared: { pauses, targets } }) => `${pauses?.version ?? 0}/${targets?.appeared ?? 0}`,
  seen: () => '',
  startsOver: true,
  async *walk({ local: { store } }, now) {
    const to = timerBound(now + horizonMs)
    for (let from = timerBound(0); ; yield undefined) {
      const entries = await store.scan({ from, to, limit: readMax, keysOnly: true })
      for (const { key } of entries) {
        const { kind, jobId, runNo } = timerOfKey(key)
        if (kind === timerKind.retry) yield { jobId, runNo }
        from = keyAfter(key)
      }
      if (entries.length < readMax) return
    }
  },
}

/** One change, and those that follow it. */
export class Follower {
  readonly #owner: Owner
  readonly #change: Change
  readonly #pace: Pick<FollowPace, 'max'>
  #walk: Walk | undefined
  #seen: unknown
  /** By the steady clock: when all may follow again. */
  #restsUntilMs = Number.NEGATIVE_INFINITY

  constructor(owner: Owner, change: Change, pace: Pick<FollowPace, 'max'>) {
    this.#owner = owner
    this.#change = change
    this.#pace = pace
    this.#seen = change.seen(owner)
  }

  /** Timers for the current commit cycle, which also takes `others` timers. The rest follows in the next cycles, so that due timers do not wait for all. */
  async timers(now: number, others: number): Promise<Timer[]> {
    if (!this.areLeft) return []
    const { failureIsolation, local } = this.#owner
    const { kind, most = this.#pace.max, startsOver = false } = this.#change
    if (this.#walk === undefined || (startsOver && this.#hasChanged)) this.#begin(now)
    const fitting = failureIsolation.fitting(most, others)
    const timers: Timer[] = []
    let heavyBytes = 0
    while (timers.length < fitting && heavyBytes < heavyBytesMax) {
      const next = await this.#walk?.next()
      if (next?.done !== false) this.#walk = undefined
      if (next?.value === undefined) break
      timers.push({ dueAt: now, kind, ...next.value })
      heavyBytes += local.heavyJobs.of(next.value.jobId)
    }
    return timers
  }

  /** Whether some are to follow now. */
  get areLeft(): boolean {
    return this.#walk !== undefined || (this.#hasChanged && this.#owner.shared.clock.steadyMs() >= this.#restsUntilMs)
  }

  /** When they are to follow after a rest; Infinity: never. */
  get nextCheckAt(): number {
    return this.#hasChanged ? atSteady(this.#owner.shared.clock, this.#restsUntilMs) : Number.POSITIVE_INFINITY
  }

  get #hasChanged(): boolean {
    return this.#change.version(this.#owner) !== this.#seen
  }

  #begin(now: number): void {
    this.#seen = this.#change.version(this.#owner)
    this.#restsUntilMs = this.#owner.shared.clock.steadyMs() + (this.#change.restMs?.(this.#owner) ?? 0)
    this.#walk = this.#change.walk(this.#owner, now)
  }
}

/** All changes of one partition. */
export class OutsideChanges {
  readonly #pace = new FollowPace()
  readonly #followers: readonly Follower[]

  constructor(owner: Owner) {
    this.#followers = [targetAppearances, workerChanges, pauseChanges].map((change) => new Follower(owner, change, this.#pace))
  }

  async timers(now: number, others: number): Promise<Timer[]> {
    const found: Timer[] = []
    for (const follower of this.#followers) found.push(...(await follower.timers(now, others + found.length)))
    return found
  }

  get areLeft(): boolean {
    return this.#followers.some(({ areLeft }) => areLeft)
  }

  get nextCheckAt(): number {
    return Math.min(...this.#followers.map(({ nextCheckAt }) => nextCheckAt))
  }

  /** A commit cycle with these timers has ended. */
  cycleEnded(timers: readonly Timer[], tookMs: number): void {
    this.#pace.cycleEnded(timers.filter(({ kind }) => kind === timerKind.workers).length, tookMs)
  }
}

/** Runs that follow in one commit cycle, at most and at least. Where a cycle of a few runs is slow too, still fewer would take longer together and help nobody. */
const followedMax = 500
const followedMin = 100
/** How long such a cycle should take. */
const cycleMs = 50

/**
 * How many runs follow in one commit cycle. Due timers of other jobs wait for the end of a cycle, and how long a run takes depends on the
 * machine: 500 took 20 ms on an idle one and 700 ms on a busy one. So it follows what cycles take.
 */
export class FollowPace {
  /** The first cycle takes the least: nothing is known yet. */
  #max = followedMin

  /** For the next cycle. */
  get max(): number {
    return this.#max
  }

  /** A cycle has ended in which so many followed. One that had few of them says little about more. */
  cycleEnded(followed: number, tookMs: number): void {
    if (followed < followedMin) return
    const fitting = Math.floor((followed * cycleMs) / Math.max(tookMs, 1))
    this.#max = Math.min(Math.max(Math.min(fitting, this.#max * 2), followedMin), followedMax)
  }
}
