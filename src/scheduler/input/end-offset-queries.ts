/**
 * Where the partitions of a topic end, asked for all partitions of a process together. Whoever asks hears an end that was looked up after
 * the call, and at most two questions are under way for any number of callers: the one that was sent, and the next one.
 */
import type { Clock } from '../../clock/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { LogAdmin } from '../../ports/index.ts'
import { withoutPartition } from './end-offsets.ts'

/** Where readers of committed records can get, and from where on there are records. */
export interface Range {
  earliest: number
  next: number
}
type Ranges = Map<number, Range>

/** A question that is not answered by then has failed; the brokers may have lost it. */
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

  /** Rejects with DuelogError `broker-unavailable` when there is no answer, `unsafe-topic` when there is no such partition. */
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
    const cancel = this.#clock.at(this.#clock.nowMs() + answerWaitMs, expired)
    const found = this.#admin.offsets(this.#topic)
    found.then((all) => resolve(new Map(all.map(({ partition, ...range }) => [partition, range]))), reject)
    const sent = promise.finally(() => {
      cancel()
      this.#sent = undefined
    })
    // Whoever waits for the next question hears of it, too.
    sent.catch(() => undefined)
    this.#sent = sent
    return sent
  }
}

const unanswered = (topic: string): DuelogError =>
  new DuelogError('broker-unavailable', `The brokers have not said where ${topic} ends for ${answerWaitMs} ms.`)
