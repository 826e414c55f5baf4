/**
 * Reports transactions that a client left open in a topic of Duelog: no reader gets past them until they end, and nothing else would
 * tell why. All partitions of a process are checked together at an interval. The age of such a transaction counts from the first check
 * that saw it.
 *
 *   end of the log > end that readers reach, at the same place for long enough ──► logged once, with topic, partition and offset
 */
import { counted } from '../../../streams/text/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import type { LogAdmin, OpenTransaction } from '../../ground/ports/index.ts'
import { readSources } from '../input/index.ts'
import type { Shared } from '../options/index.ts'

/** Interval between two checks. */
export const checkEveryMs = 30_000
/** A transaction that is open for less is not reported. Clients have one minute by default. */
export const openMsMin = 60_000

interface Seen extends OpenTransaction {
  partition: number
  /** By the steady clock. */
  sinceSteadyMs: number
  isLogged: boolean
}

export class OpenTransactions {
  readonly #admin: Pick<LogAdmin, 'offsets' | 'highWatermarks'>
  readonly #topics: readonly string[]
  readonly #shared: { clock: Clock; metrics: Metrics; logger: Shared['logger'] }
  readonly #isOurs: (partition: number) => boolean
  readonly #onEnd: (topic: string, partition: number, end: number) => void
  /** Keyed by topic and partition, so the topics bound its size. */
  readonly #seen = new Map<string, Seen>()
  #checkTimer: (() => void) | undefined
  #stopped = false

  /** `isOurs`: whether this process owns the partition; other owners report theirs. `onEnd` receives the end of each log. */
  constructor(
    admin: Pick<LogAdmin, 'offsets' | 'highWatermarks'>,
    names: TopicNames,
    shared: { clock: Clock; metrics: Metrics; logger: Shared['logger'] },
    isOurs: (partition: number) => boolean,
    onEnd: (topic: string, partition: number, end: number) => void,
  ) {
    this.#admin = admin
    this.#topics = readSources.map((source) => names[source])
    this.#shared = shared
    this.#isOurs = isOurs
    this.#onEnd = onEnd
  }

  start(): void {
    if (this.#admin.highWatermarks !== undefined) this.#later()
  }

  stop(): void {
    this.#stopped = true
    this.#checkTimer?.()
  }

  /** The oldest open transaction that blocks the partition. */
  of(partition: number): OpenTransaction | null {
    let oldest: Seen | undefined
    for (const seen of this.#seen.values()) {
      if (seen.partition !== partition || !this.#isLong(seen)) continue
      if (oldest === undefined || seen.sinceSteadyMs < oldest.sinceSteadyMs) oldest = seen
    }
    if (oldest === undefined) return null
    const { topic, offset, records, since } = oldest
    return { topic, offset, records, since }
  }

  #later(): void {
    const { clock } = this.#shared
    if (this.#stopped) return
    this.#checkTimer = clock.at(clock.nowMs() + checkEveryMs, () => void this.#check().finally(() => this.#later()))
  }

  async #check(): Promise<void> {
    const { logger } = this.#shared
    for (const topic of this.#topics) {
      try {
        // In this order, so that a transaction that ends in between does not count as open.
        const ends = await this.#admin.highWatermarks?.(topic)
        const ranges = await this.#admin.offsets(topic)
        for (const { partition, next } of ranges) {
          const end = ends?.get(partition) ?? next
          this.#onEnd(topic, partition, end)
          this.#take(topic, partition, next, end)
        }
      } catch (error) {
        logger.debug({ event: 'open-transactions-unknown', topic, err: error }, 'Open transactions could not be looked for.')
      }
    }
  }

  #take(topic: string, partition: number, offset: number, end: number): void {
    const { clock, metrics, logger } = this.#shared
    const place = `${topic}/${partition}`
    const known = this.#seen.get(place)
    if (end <= offset || !this.#isOurs(partition)) {
      this.#seen.delete(place)
      if (known !== undefined) metrics.openTransaction.remove({ topic, partition })
      if (known?.isLogged && end <= offset)
        logger.info({ event: 'open-transaction-ended', topic, partition }, `The open transaction in ${place} has ended.`)
      return
    }
    const seen: Seen =
      known?.offset === offset
        ? known
        : { topic, partition, offset, records: 0, since: clock.nowMs(), sinceSteadyMs: clock.steadyMs(), isLogged: false }
    seen.records = end - offset
    this.#seen.set(place, seen)
    const ageMs = clock.steadyMs() - seen.sinceSteadyMs
    metrics.openTransaction.set({ topic, partition }, this.#isLong(seen) ? ageMs / 1_000 : 0)
    if (seen.isLogged || !this.#isLong(seen)) return
    seen.isLogged = true
    logger.warn(
      { event: 'transaction-open', topic, partition, offset, records: seen.records, ageMs },
      `A transaction in ${place} is open since offset ${offset} for ${Math.round(ageMs / 1_000)} s at least; ${counted(seen.records, 'record is', 'records are')} after that offset, and no reader gets them until it ends. Find it: kafka-transactions.sh --bootstrap-server <broker> find-hanging --broker-id <leader>. End it: kafka-transactions.sh --bootstrap-server <broker> abort --topic ${topic} --partition ${partition} --start-offset ${offset}, or stop the program that has it open.`,
    )
  }

  #isLong({ sinceSteadyMs }: Seen): boolean {
    return this.#shared.clock.steadyMs() - sinceSteadyMs >= openMsMin
  }
}
