/** The versions of the time zone rules behind the next times of a partition, and the walk over its jobs after they have changed. */
import type { Owner, Position } from '../../../schemas/index.ts'
import { mayMove, zoneMoveOf } from '../../../streams/runs/index.ts'
import {
  definitionKey,
  emptyValue,
  jobIdOfKey,
  keyAfter,
  prefix,
  rangeOf,
  type Timer,
  timerKey,
  timerKind,
  timersOf,
} from '../../../streams/state/index.ts'
import { atSteady } from '../../ground/clock/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import type { PartitionStore } from '../../ground/ports/index.ts'
import { SearchBudget, type Shared } from '../options/index.ts'
import { type Checkpoint, eachJob } from '../state/index.ts'

/**
 * The versions of the time zone rules behind the next times of a partition: in its changelog, in this store, and of its owner. Processes
 * of one cluster may have different versions of Node, for example during an upgrade. Then a warning is logged, and the logged times count.
 */

interface Parts {
  zoneRules?: string
  metrics: Metrics
  logger: Logger
}

/** Time zone rules of this process, such as 2026a. */
export const ownZoneRules = ({ zoneRules }: Pick<Parts, 'zoneRules'>): string => zoneRules ?? 'unknown'

export class ZoneRulesState {
  readonly #partition: number
  readonly #shared: Parts
  /** Rules of the store, for the timers of jobs without a state. Empty: several, or unknown. */
  store = ''
  /** Rules of the changelog, from the last committed position. Empty: several, or unknown. */
  logged = ''
  /** Rules of the last claim. Undefined: there is no claim, or it was not read. */
  #owner: string | undefined
  walk: ZoneWalk | undefined

  constructor(partition: number, shared: Parts) {
    this.#partition = partition
    this.#shared = shared
  }

  /** Rules of this process, such as 2026a. */
  get own(): string {
    return ownZoneRules(this.#shared)
  }

  get owner(): string | null {
    return this.#owner ?? null
  }

  /** Whether logged next times may be based on other rules than ours. */
  get mayDiffer(): boolean {
    return this.logged !== this.own
  }

  /** Whether all jobs have to be checked. */
  get isStale(): boolean {
    return this.mayDiffer || this.store !== this.own
  }

  /** A store was opened. A new one gets its timers from our rules. */
  opened(local: Checkpoint | undefined, claim: Owner | undefined): void {
    this.store = local?.zoneRules ?? this.own
    this.claimed(claim?.zoneRules)
  }

  /** This process owns the partition. If nothing was logged, nothing is based on other rules. */
  taken(position: Position | null): void {
    this.logged = position === null || position.zoneRules === this.own ? this.own : ''
  }

  /** Must be called with each claim that is read. */
  claimed(rules: string | undefined): void {
    const isNews = rules !== this.#owner
    this.#owner = rules
    const differs = rules !== undefined && rules !== this.own
    const partition = this.#partition
    this.#shared.metrics.zoneRulesDiffer.set({ partition }, differs ? 1 : 0)
    if (!differs || !isNews) return
    const facts = { partition, own: this.own, owner: rules }
    this.#shared.logger.warn(
      { event: 'zone-rules-differ', ...facts },
      `Partition ${partition} was last claimed under the time zone rules ${rules}; this process has ${this.own}. While its owner has other rules than this process, jobs fire by those of the owner. Give all processes the same Node; duelog schedule diff-tz, run with that Node, shows which jobs move.`,
    )
  }

  /** Every job was checked. `isOwner`: also jobs with a state. */
  checked(isOwner: boolean): void {
    this.store = this.own
    if (isOwner) this.logged = this.own
    this.walk = undefined
  }

  /** No store can be read any more. */
  end(): void {
    const { zoneWalk, zoneRulesDiffer } = this.#shared.metrics
    for (const gauge of [zoneWalk, zoneRulesDiffer]) gauge.set({ partition: this.#partition }, 0)
  }
}

/**
 * A check of every job of a partition after the time zone rules have changed with a newer version of Node (ADR 0040). A logged next
 * time is moved by a logged decision. A next time that follows from a definition is moved by writing its timer. The walk runs beside
 * firing, a few jobs at a time. After a crash it starts again, which is safe because a second check changes nothing. A job that falls
 * due before the walk reaches it is checked when it fires (streams/runs/fire.ts).
 */

/** Jobs of one call, which are decoded without a pause. */
export const zoneJobsPerCheck = 100
/** Time between two calls, because other partitions fire in this process. A million jobs in four partitions take about two minutes. */
export const zoneCheckEveryMs = 50

export interface ZoneWalkView {
  /** Jobs that were checked. */
  checked: number
  /** Checked jobs whose next time moves. */
  moved: number
}

export class ZoneWalk {
  readonly #store: PartitionStore
  readonly #shared: Pick<Shared, 'codecs' | 'clock' | 'metrics'>
  readonly #partition: number
  /** Where the walk continues. Undefined: after the last job. */
  #from: Buffer | undefined = rangeOf(prefix.definition).from
  /** By the steady clock, so that a wall clock that is set back does not delay it. */
  #nextCheckSteadyMs: number
  readonly view: ZoneWalkView = { checked: 0, moved: 0 }

  constructor(partition: number, store: PartitionStore, shared: Pick<Shared, 'codecs' | 'clock' | 'metrics'>) {
    this.#partition = partition
    this.#store = store
    this.#shared = shared
    this.#nextCheckSteadyMs = shared.clock.steadyMs()
    shared.metrics.zoneWalk.set({ partition }, 1)
  }

  /** When to call `checkNext` again. Infinity once all jobs were checked. */
  get nextCheckAt(): number {
    return atSteady(this.#shared.clock, this.#nextCheckSteadyMs)
  }

  get isDue(): boolean {
    return this.#shared.clock.steadyMs() >= this.#nextCheckSteadyMs
  }

  get isDone(): boolean {
    return this.#from === undefined
  }

  /**
   * Checks the next jobs, at most `most`. Resolves with a timer for each job whose logged next time moves. A commit cycle with
   * this timer makes the decision. For jobs without a state the timers are stored here, and `onTimerScheduled` is called with
   * each.
   */
  async checkNext(onTimerScheduled: (timer: Timer) => void, most = zoneJobsPerCheck): Promise<Timer[]> {
    const { clock, metrics } = this.#shared
    const now = clock.nowMs()
    const ids = await this.#nextIds(most)
    const timers: Timer[] = []
    const moving: Timer[] = []
    const budget = new SearchBudget()
    for await (const job of eachJob(this.#store, this.#shared.codecs, ids)) {
      await budget.rest()
      if (!mayMove(job.definition?.spec)) continue
      if (job.state === undefined) timers.push(...timersOf(job))
      else if (zoneMoveOf(job) !== undefined) moving.push({ dueAt: now, kind: timerKind.zone, jobId: job.id, runNo: 0 })
    }
    const lacking = await this.#lacking(timers)
    for (const timer of lacking) onTimerScheduled(timer)
    if (lacking.length > 0) await this.#store.apply(lacking.map((timer) => ({ key: timerKey(timer), value: emptyValue })))
    this.view.checked += ids.length
    this.view.moved += lacking.length + moving.length
    metrics.zoneChecked.inc(ids.length)
    metrics.zoneMoved.inc(lacking.length)
    this.#nextCheckSteadyMs = this.isDone ? Number.POSITIVE_INFINITY : clock.steadyMs() + zoneCheckEveryMs
    if (this.isDone) metrics.zoneWalk.set({ partition: this.#partition }, 0)
    return moving
  }

  /** Timers that the store lacks. A superfluous timer in the store does nothing when it is due. */
  async #lacking(timers: Timer[]): Promise<Timer[]> {
    if (timers.length === 0) return []
    const found = await this.#store.get(timers.map(timerKey))
    return timers.filter((_, at) => found[at] === null)
  }

  async #nextIds(most: number): Promise<string[]> {
    const from = this.#from ?? rangeOf(prefix.definition).to
    const entries = await this.#store.scan({ from, to: rangeOf(prefix.definition).to, limit: most, keysOnly: true })
    const ids = entries.map(({ key }) => jobIdOfKey(key))
    const last = ids.at(-1)
    this.#from = last === undefined || ids.length < most ? undefined : keyAfter(definitionKey(last))
    return ids
  }
}
