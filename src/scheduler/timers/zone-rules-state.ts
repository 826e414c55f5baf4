/**
 * By which time zone rules the next times of a partition stand: those in its changelog, those in this store, and those that its owner
 * goes by. Processes of one cluster may have different Nodes, as during an upgrade; then it is said, and what is logged counts.
 */
import type { Logger } from 'pino'
import type { Owner, Position } from '../../../schemas/index.ts'
import type { Metrics } from '../../metrics/index.ts'
import type { Checkpoint } from '../state/index.ts'
import type { ZoneWalk } from './zone-walk.ts'

interface Parts {
  zoneRules?: string
  metrics: Metrics
  logger: Logger
}

export class ZoneRulesState {
  readonly #partition: number
  readonly #shared: Parts
  /** Of the store: timers of jobs without a state stand by them. Empty: by several, or nobody knows. */
  store = ''
  /** Of the changelog, as the last position says. Empty: as above. */
  changelogState = ''
  /** Of the last claim; undefined: nobody has claimed, or it was not read. Empty: an owner of an earlier version of this program. */
  #owner: string | undefined
  walk: ZoneWalk | undefined

  constructor(partition: number, shared: Parts) {
    this.#partition = partition
    this.#shared = shared
  }

  /** Of this process, such as 2026a. */
  get own(): string {
    return this.#shared.zoneRules ?? 'unknown'
  }

  get owner(): string | null {
    return this.#owner ?? null
  }

  /** Whether next times that were logged may stand by other rules than ours. */
  get mayDiffer(): boolean {
    return this.changelogState !== this.own
  }

  /** Whether all jobs have to be looked at. */
  get isStale(): boolean {
    return this.mayDiffer || this.store !== this.own
  }

  /** A store was opened. A new one gets its timers by our rules. */
  opened(local: Checkpoint | undefined, claim: Owner | undefined): void {
    this.store = local === undefined ? this.own : (local.zoneRules ?? '')
    this.claimed(claim?.zoneRules)
  }

  /** The partition is ours. Where nothing was logged, nothing stands by other rules. */
  taken(position: Position | null): void {
    this.changelogState = position === null || position.zoneRules === this.own ? this.own : ''
  }

  /** Must be told of each claim that is read. */
  claimed(rules: string | undefined): void {
    const isNews = rules !== this.#owner
    this.#owner = rules
    const differs = rules !== undefined && rules !== this.own
    const partition = this.#partition
    this.#shared.metrics.zoneRulesDiffer.set({ partition }, differs ? 1 : 0)
    if (!differs || !isNews) return
    const facts = { partition, own: this.own, owner: rules }
    // As in each upgrade from a version that did not say it: nothing is known to be wrong.
    if (rules === '')
      return this.#shared.logger.info(
        facts,
        `Partition ${partition} was last claimed by an earlier version of Duelog, which does not say its time zone rules.`,
      )
    this.#shared.logger.warn(
      facts,
      `Partition ${partition} was last claimed under the time zone rules ${rules}; this process has ${this.own}. While its owner has other rules than this process, jobs fire by those of the owner. Give all processes the same Node; duelog schedule diff-tz, run with that Node, shows which jobs move.`,
    )
  }

  /** Every job was looked at. `isOwner`: also those that have a state. */
  looked(isOwner: boolean): void {
    this.store = this.own
    if (isOwner) this.changelogState = this.own
    this.walk = undefined
  }

  forget(): void {
    this.store = this.changelogState = ''
    this.#owner = undefined
    this.walk = undefined
    this.#shared.metrics.zoneWalk.set({ partition: this.#partition }, 0)
  }
}
