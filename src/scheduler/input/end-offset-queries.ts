/**
 * Queries for the end offsets of a topic, shared by all partitions of a process. A caller gets an end that was looked up after its
 * call. At most two queries exist for any number of callers: the one that was sent, and the next one.
 */
import type { Clock } from '../../clock/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { LogAdmin } from '../../ports/index.ts'
import { withoutPartition } from './end-offsets.ts'

/** First offset that holds a record, and the next offset that readers of committed records can reach. */
export interface Range {
  earliest: number
  next: number
}
type Ranges = Map<number, Range>

/** A query without an answer after this time has failed; the brokers may have lost it. */
export const answerWaitMs = 10_000

export class EndOffsetQueries {
  readonly #admin: LogAdmin
  readonly #topic: string
  readonly #clock: Clock
  #sent: Promise<Ranges> | undefined
  #next: Promise<Ranges> | undefined

  constructor(admin: LogAdmin, topic: string, clock: Clock) {
    this.#admin = admin
    this.#topic = topic
    this.#clock = clock
  }

  /** Rejects with DuelogError `broker-unavailable` if there is no answer, and `unsafe-topic` if there is no such partition. */
  async ask(partition: number): Promise<Range> {
    const range = (await this.#ask()).get(partition)
    if (range === undefined) throw withoutPartition(this.#topic, partition)
    return range
  }

  #ask(): Promise<Ranges> {
    if (this.#sent === undefined) return this.#send()
    this.#next ??= this.#sent
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined
        return this.#send()
      })
    return this.#next
  }

  #send(): Promise<Ranges> {
    const { promise, resolve, reject } = Promise.withResolvers<Ranges>()
    const expired = (): void => reject(unanswered(this.#topic))
    const cancelTimer = this.#clock.at(this.#clock.nowMs() + answerWaitMs, expired)
    const found = this.#admin.offsets(this.#topic)
    found.then((all) => resolve(new Map(all.map(({ partition, ...range }) => [partition, range]))), reject)
    const sent = promise.finally(() => {
      cancelTimer()
      this.#sent = undefined
    })
    // The callers of the next query get this error, too.
    sent.catch(() => undefined)
    this.#sent = sent
    return sent
  }
}

const unanswered = (topic: string): DuelogError =>
  new DuelogError('broker-unavailable', `The brokers have not said where ${topic} ends for ${answerWaitMs} ms.`)
