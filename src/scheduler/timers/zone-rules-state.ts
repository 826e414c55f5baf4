/**
 * The versions of the time zone rules behind the next times of a partition: in its changelog, in this store, and of its owner. Processes
 * of one cluster may have different versions of Node, for example during an upgrade. Then a warning is logged, and the logged times count.
 */
import type { Owner, Position } from '../../../schemas/index.ts'
import type { Logger } from '../../logging/index.ts'
import type { Metrics } from '../../metrics/index.ts'
import type { Checkpoint } from '../state/index.ts'
import type { ZoneWalk } from './zone-walk.ts'

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
  /** Rules of the last claim. Undefined: there is no claim, or it was not read. Empty: the owner runs an earlier version of Duelog. */
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
    this.store = local === undefined ? this.own : (local.zoneRules ?? '')
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
    // This is so in each upgrade from a version that did not log its rules, so it is not a warning.
    if (rules === '')
      return this.#shared.logger.info(
        { event: 'zone-rules-unknown', ...facts },
        `Partition ${partition} was last claimed by an earlier version of Duelog, which does not say its time zone rules.`,
      )
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
