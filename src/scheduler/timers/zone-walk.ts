/**
 * A look at every job of a partition after the rules of time zones have changed: a newer Node brings them (ADR 0040). Next times that
 * were logged are moved by decisions that are logged, those that follow from a record by their timers alone. It goes on beside the
 * firing, a few jobs at a time, and begins anew after a crash: to look twice changes nothing. A job that falls due before it was
 * looked at is looked at then (streams/runs/fire.ts).
 */
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
import { atSteady } from '../../clock/index.ts'
import type { PartitionStore } from '../../ports/index.ts'
import { SearchBudget, type Shared } from '../options/index.ts'
import { eachJob } from '../state/index.ts'

/** Jobs of one look, which are decoded in one go. */
export const zoneJobsPerLook = 100
/** Between two looks: others fire in this process. A million jobs in four partitions are seen in about two minutes. */
export const zoneLookEveryMs = 50

export interface ZoneWalkView {
  /** Jobs that were looked at. */
  checked: number
  /** Of these, jobs whose next time moves. */
  moved: number
}

export class ZoneWalk {
  readonly #store: PartitionStore
  readonly #shared: Pick<Shared, 'codecs' | 'clock' | 'metrics'>
  readonly #partition: number
  /** Where it goes on; undefined: behind the last job. */
  #from: Buffer | undefined = rangeOf(prefix.definition).from
  /** By the steady clock: one that is set back must not hold it up. */
  #lookAt: number
  readonly view: ZoneWalkView = { checked: 0, moved: 0 }

  constructor(partition: number, store: PartitionStore, shared: Pick<Shared, 'codecs' | 'clock' | 'metrics'>) {
    this.#partition = partition
    this.#store = store
    this.#shared = shared
    this.#lookAt = shared.clock.steadyMs()
    shared.metrics.zoneWalk.set({ partition }, 1)
  }

  /** When to call `look` again; Infinity once all jobs were seen. */
  get lookAt(): number {
    return atSteady(this.#shared.clock, this.#lookAt)
  }

  get isDue(): boolean {
    return this.#shared.clock.steadyMs() >= this.#lookAt
  }

  get isDone(): boolean {
    return this.#from === undefined
  }

  /**
   * Looks at the next jobs, at most so many. Resolves with a timer for each whose logged next time moves: a turn that is given it decides that. Of
   * jobs without a state the timers are written here; `written` hears of each.
   */
  async look(written: (timer: Timer) => void, most = zoneJobsPerLook): Promise<Timer[]> {
    const { clock, metrics } = this.#shared
    const now = clock.nowMs()
    const ids = await this.#nextIds(most)
    const timers: Timer[] = []
    const moving: Timer[] = []
    const patience = new SearchBudget()
    for await (const job of eachJob(this.#store, this.#shared.codecs, ids)) {
      await patience.rest()
      if (!mayMove(job.definition?.spec)) continue
      if (job.state === undefined) timers.push(...timersOf(job))
      else if (zoneMoveOf(job) !== undefined) moving.push({ dueAt: now, kind: timerKind.zone, jobId: job.id, runNo: 0 })
    }
    const lacking = await this.#lacking(timers)
    for (const timer of lacking) written(timer)
    if (lacking.length > 0) await this.#store.apply(lacking.map((timer) => ({ key: timerKey(timer), value: emptyValue })))
    this.view.checked += ids.length
    this.view.moved += lacking.length + moving.length
    metrics.zoneChecked.inc(ids.length)
    metrics.zoneMoved.inc(lacking.length)
    this.#lookAt = this.isDone ? Number.POSITIVE_INFINITY : clock.steadyMs() + zoneLookEveryMs
    if (this.isDone) metrics.zoneWalk.set({ partition: this.#partition }, 0)
    return moving
  }

  /** Those that the store has not. One that it has too many does nothing when it is due. */
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
