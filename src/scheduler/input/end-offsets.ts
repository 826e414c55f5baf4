/** First and end offsets of topics: for one partition, for all partitions of a process in one query, and the errors about them. */
import type { Clock } from '../../ground/clock/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { LogAdmin } from '../../ground/ports/index.ts'

/** First offset that holds a record, and the next offset that readers of committed records can reach. */
export interface Range {
  earliest: number
  next: number
}

/** Throws DuelogError `unsafe-topic` when the topic has no such partition. */
export async function rangeOf(admin: LogAdmin, topic: string, partition: number): Promise<Range> {
  const found = (await admin.offsets(topic)).find((entry) => entry.partition === partition)
  if (found !== undefined) return found
  throw withoutPartition(topic, partition)
}

function withoutPartition(topic: string, partition: number): DuelogError {
  const message = `Topic ${topic} has no partition ${partition}; it has fewer than when Duelog began to use it. Give it back as many as it had.`
  return new DuelogError('unsafe-topic', message)
}

export const endOf = async (admin: LogAdmin, topic: string, partition: number): Promise<number> =>
  (await rangeOf(admin, topic, partition)).next

/** The end that readers of committed records can reach; 0 if all records have expired, because then there is nothing to read. */
export const readableEnd = ({ earliest, next }: Range): number => (earliest < next ? next : 0)

/** The error for a log that ends at `end` although it was read up to `next`. A log does not shrink by itself. */
export function shrunk(topic: string, partition: number, end: number, next: number): DuelogError {
  const message = `${topic}/${partition} ends at ${end} and was read up to ${next}: it was truncated, or deleted and created again.`
  return new DuelogError('log-shrunk', message)
}

/**
 * Offset of the first record that a write has appended to a partition. Throws DuelogError `broker-unavailable` if the answer lacks it.
 * A missing offset must not be read as 0, because that would mean that the log is another one (ADR 0049). The next claim finds out
 * whether the write succeeded.
 */
export function firstOffset(offsets: ReadonlyMap<string, number>, topic: string, partition: number): number {
  const offset = offsets.get(`${topic}/${partition}`)
  if (offset !== undefined) return offset
  throw new DuelogError('broker-unavailable', `What was written to ${topic}/${partition} was acknowledged without its offset.`)
}

type Ranges = Map<number, Range>

/** A query without an answer after this time has failed; the brokers may have lost it. */
const answerWaitMs = 10_000

/**
 * Queries for the end offsets of a topic, shared by all partitions of a process. A caller gets an end that was looked up after its
 * call. At most two queries exist for any number of callers: the one that was sent, and the next one.
 */
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
