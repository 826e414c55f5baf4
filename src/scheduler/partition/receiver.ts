/** From the reader into the partition: job-state to the store, all else to the mailbox. */
import { atSteady } from '../../clock/index.ts'
import type { Batch } from '../../ports/index.ts'
import { InputDecoder, type InputRecord, type ReadSource, type Source, shrunk } from '../input/index.ts'
import { SearchBudget } from '../options/index.ts'
import type { PartitionContext } from './partition-context.ts'
import { receiveState } from './restore.ts'

/** How long a record whose schema is unknown waits before the registry is asked again. */
const registryRetryMs = 1_000
/** How long all reading waits for an answer of the registry, before only the topic does that needs it. */
const registryWaitMs = 300
/**
 * While the partition fires, definitions whose rules take searches are read as there is time (concurrency/idle-time.ts). All reading waits with them for
 * so long; then only the topic of definitions does, from where it stands, for as long again.
 */
const searchWaitMs = 50
const putOffMs = 100

export class Receiver {
  readonly #context: PartitionContext
  readonly #intake: InputDecoder

  constructor(context: PartitionContext) {
    this.#context = context
    const { partition, shared, leases, workers } = context
    const { partitions, codecs, targets, clock, metrics, logger } = shared
    const taken = (): PartitionContext['changelogState'] => context.changelogState
    this.#intake = new InputDecoder({ partition, taken, partitions, codecs, leases, workers, targets, clock, metrics, logger })
  }

  /** Takes records that were read. Resolves when the next ones may come. */
  async receive(source: ReadSource, batch: Batch): Promise<void> {
    const context = this.#context
    const { partitionReader } = context
    // A log does not shrink by itself: it was truncated, or made anew. Where it is read on is found at the next claim.
    if (batch.highWatermark < partitionReader.next(source) && partitionReader.isOpen(source) && !context.closing)
      return context.fail(shrunk(batch.topic, batch.partition, batch.highWatermark, partitionReader.next(source)))
    partitionReader.ended(source, batch.highWatermark)
    const records = batch.records.filter((record) => record.offset >= partitionReader.next(source))
    if (records.length === 0 || context.closing || context.fault || !partitionReader.isOpen(source)) return
    context.progress()
    context.restoreProgress.heardOf(source, records.length, batch.highWatermark)
    const openings = partitionReader.openings(source)
    try {
      if (source !== 'state') await this.#receiveInputs(source, records)
      // Whoever folds definitions beside it must not read one state and write beside another.
      // And nothing is put behind what could not be put: the store would say that it has both.
      else
        await context.alone(
          async () => openings === partitionReader.openings(source) && !context.fault && receiveState(context, records),
        )
    } catch (error) {
      // Closed meanwhile, and the store with it: the records come again. Else it is the partition's trouble, not the reader's.
      if (openings === partitionReader.openings(source)) context.fail(error)
    }
    context.signal.wake()
    await context.backpressure.room()
  }

  async #receiveInputs(source: Source, records: Batch['records']): Promise<void> {
    const { partitionReader, inputBuffer, shared } = this.#context
    const openings = partitionReader.openings(source)
    const patience = new SearchBudget()
    const putOffAt = shared.clock.steadyMs() + searchWaitMs
    for (const record of records) {
      const canWait = source === 'jobs' && this.#context.phase === 'active'
      const rest = canWait ? patience.restAsSpare(shared.spare) : patience.rest()
      if (rest !== undefined && canWait) {
        // Many that rest do so one after another, which may be seconds.
        await this.#until(putOffAt, rest)
        if (openings !== partitionReader.openings(source)) return
        if (shared.clock.steadyMs() >= putOffAt) return this.#readAgainAfter(rest, putOffMs, source, openings)
      } else if (rest !== undefined) await rest
      if (openings !== partitionReader.openings(source)) return
      let inputRecord: InputRecord
      try {
        const now = this.#intake.inputRecord(source, record, shared.clock.nowMs())
        // At once wherever that is possible: this runs for every record.
        inputRecord = now instanceof Promise ? await this.#withTimeout(now) : now
      } catch (error) {
        if (openings === partitionReader.openings(source)) this.#askAgain(source, openings, error)
        break
      }
      // Opened anew meanwhile: the record comes again.
      if (openings !== partitionReader.openings(source)) return
      if (inputRecord.input?.kind === 'event') this.#context.hasReports = true
      inputBuffer.put(inputRecord)
      partitionReader.received(source, record.offset + 1)
    }
  }

  /** The answer of the registry, if it comes soon: while it is awaited no other topic is read. */
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

  /** Resolves with the rest, or by then at the latest. */
  async #until(steadyMs: number, rest: Promise<void>): Promise<void> {
    const { clock } = this.#context.shared
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = clock.at(atSteady(clock, steadyMs), resolve)
    await Promise.race([rest, promise])
    cancel()
  }

  /** The record may be good: this one topic of this one partition waits for the registry, as long as it takes. */
  #askAgain(source: Source, openings: number, error: unknown): void {
    const { shared } = this.#context
    shared.logger.warn(
      { err: error, partition: this.#context.partition, source },
      'A record waits for the schema registry; firing goes on.',
    )
    this.#readAgainAfter(Promise.resolve(), registryRetryMs, source, openings)
  }

  /** The rest of what was fetched is fetched again later, so that what others wrote is read meanwhile. */
  #readAgainAfter(wait: Promise<void>, ms: number, source: Source, openings: number): void {
    const { partitionReader, inputBuffer, shared } = this.#context
    partitionReader.rewind(source)
    void wait.then(() =>
      shared.clock.at(shared.clock.nowMs() + ms, () => {
        if (openings === partitionReader.openings(source) && !inputBuffer.full) partitionReader.release(source)
      }),
    )
  }
}
