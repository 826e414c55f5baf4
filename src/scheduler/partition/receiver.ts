/** Passes records from the reader into the partition: job-state to the store, all others to the input buffer. */
import { atSteady } from '../../ground/clock/index.ts'
import type { Batch } from '../../ground/ports/index.ts'
import { InputDecoder, type InputRecord, type ReadSource, type Source, shrunk, type Taken } from '../input/index.ts'
import { SearchBudget } from '../options/index.ts'
import type { PartitionContext } from './partition-context.ts'
import { receiveState } from './restore.ts'

/** Delay before the registry is asked again for an unknown schema. */
const registryRetryMs = 1_000
/** Maximum time that all reading waits for the registry. After that only the topic that needs the answer waits. */
const registryWaitMs = 300
/**
 * While the partition fires, definitions with expensive rules are decoded in idle time (concurrency/idle-time.ts). All reading
 * waits for them this long. After that only the definitions topic waits, from its current offset, for the same time again.
 */
const searchWaitMs = 50
const putOffMs = 100

export class Receiver {
  readonly #context: PartitionContext
  readonly #decoder: InputDecoder

  constructor(context: PartitionContext) {
    this.#context = context
    const {
      partition,
      shared,
      activity: { leases, workers },
    } = context
    const { partitions, codecs, targets, clock, metrics, logger } = shared
    const taken = (): Taken => context.input.positions.logged
    this.#decoder = new InputDecoder({ partition, taken, partitions, codecs, leases, workers, targets, clock, metrics, logger })
  }

  /** Takes records from the reader. Resolves when the next ones may come. */
  async receive(source: ReadSource, batch: Batch): Promise<void> {
    const context = this.#context
    const { reader: partitionReader } = context.input
    // A log does not shrink by itself: it was truncated or recreated. The next claim finds the offset to continue from.
    if (batch.highWatermark < partitionReader.next(source) && partitionReader.isOpen(source) && !context.life.closing)
      return context.life.fail(shrunk(batch.topic, batch.partition, batch.highWatermark, partitionReader.next(source)))
    partitionReader.ended(source, batch.highWatermark)
    const records = batch.records.filter((record) => record.offset >= partitionReader.next(source))
    if (records.length === 0 || context.life.closing || !partitionReader.isOpen(source)) return
    context.life.progress()
    context.restoreProgress.received(source, records.length, batch.highWatermark)
    const openings = partitionReader.openings(source)
    try {
      if (source !== 'state') await this.#receiveInputs(source, records)
      // A task that applies definitions at the same time must not read one state and write another.
      else
        await context.assignment.alone(
          async () => openings === partitionReader.openings(source) && receiveState(context, records),
        )
    } catch (error) {
      // If the partition closed in between, its records are delivered again. Otherwise this is a fault of the partition and not
      // of the reader.
      if (openings === partitionReader.openings(source)) context.life.fail(error)
    }
    context.signal.wake()
    await context.input.backpressure.room()
    const isTrickle = source === 'jobs' && context.life.phase === 'active' && partitionReader.next(source) >= batch.highWatermark
    if (isTrickle) await context.resources.readingPace.next()
  }

  async #receiveInputs(source: Source, records: Batch['records']): Promise<void> {
    const { shared, input } = this.#context
    const { reader: partitionReader, buffer: inputBuffer } = input
    const openings = partitionReader.openings(source)
    const budget = new SearchBudget()
    const putOffAt = shared.clock.steadyMs() + searchWaitMs
    for (const record of records) {
      const canWait = source === 'jobs' && this.#context.life.phase === 'active'
      const rest = canWait ? budget.restAsSpare(shared.spare) : budget.rest()
      if (rest !== undefined && canWait) {
        // Rests run one after another, so many of them may take seconds.
        await this.#until(putOffAt, rest)
        if (openings !== partitionReader.openings(source)) return
        if (shared.clock.steadyMs() >= putOffAt) return this.#readAgainAfter(rest, putOffMs, source, openings)
      } else if (rest !== undefined) await rest
      if (openings !== partitionReader.openings(source)) return
      let inputRecord: InputRecord
      try {
        const now = this.#decoder.inputRecord(source, record, shared.clock.nowMs())
        // Synchronous where possible, because this runs for every record.
        inputRecord = now instanceof Promise ? await this.#withTimeout(now) : now
      } catch (error) {
        if (openings === partitionReader.openings(source)) this.#askAgain(source, openings, error)
        break
      }
      // The input was reopened in between: the record is delivered again.
      if (openings !== partitionReader.openings(source)) return
      if (inputRecord.input?.kind === 'event') {
        this.#context.input.positions.reportRead()
        // The report of a start changes nothing for those who wait for the end.
        const { type } = inputRecord.input.event
        inputRecord.isAwaited = type !== 'STARTED' && this.#context.activity.jobWaits.has(inputRecord.jobId)
      }
      inputBuffer.put(inputRecord)
      partitionReader.received(source, record.offset + 1)
    }
  }

  /** The answer of the registry, if it arrives soon: no other topic is read while it is awaited. */
  async #withTimeout<T>(answer: Promise<T>): Promise<T> {
    const { clock } = this.#context.shared
    const { promise, reject } = Promise.withResolvers<never>()
    const cancel = clock.at(clock.nowMs() + registryWaitMs, () => reject(new Error('The registry has not answered yet.')))
    try {
      return await Promise.race([answer, promise])
    } finally {
      cancel()
    }
  }

  /** Resolves with the rest, or at this time at the latest. */
  async #until(steadyMs: number, rest: Promise<void>): Promise<void> {
    const { clock } = this.#context.shared
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = clock.at(atSteady(clock, steadyMs), resolve)
    await Promise.race([rest, promise])
    cancel()
  }

  /** The record may be valid: this topic of this partition waits for the registry without a limit. */
  #askAgain(source: Source, openings: number, error: unknown): void {
    const { shared } = this.#context
    shared.logger.warn(
      { event: 'schema-awaited', err: error, partition: this.#context.partition, source },
      'A record waits for the schema registry; firing goes on.',
    )
    this.#readAgainAfter(Promise.resolve(), registryRetryMs, source, openings)
  }

  /** The rest of the batch is fetched again later, so that other topics are read in between. */
  #readAgainAfter(wait: Promise<void>, ms: number, source: Source, openings: number): void {
    const { shared, input } = this.#context
    const { reader: partitionReader, buffer: inputBuffer } = input
    partitionReader.rewind(source)
    void wait.then(() =>
      shared.clock.at(shared.clock.nowMs() + ms, () => {
        if (openings === partitionReader.openings(source) && !inputBuffer.full) partitionReader.release(source)
      }),
    )
  }
}
