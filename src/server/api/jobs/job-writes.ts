/**
 * Writes of jobs and commands, and reads that see them.
 *
 * A write without a condition asks no owner: the log takes it while none answers, too (ADR 0130). Writes of one job pass one after
 * another, so that If-Match holds against every single write through this process. Against all other writers the condition travels with the
 * record, and the owner judges it in the order of the log.
 */
import { randomUUID } from 'node:crypto'
import type { JobCommand, JobCommandInput, JobCommandType, JobDefinition, JobDefinitionInput } from '../../../../schemas/index.ts'
import { completeCommand, validateCommand } from '../../../../streams/definitions/index.ts'
import { type OnlyOver, onlyOverHeaders } from '../../../../streams/state/index.ts'
import { partitionOf, type TopicNames } from '../../../../streams/topics/index.ts'
import type { Clock } from '../../../ground/clock/index.ts'
import { BoundedMap } from '../../../ground/concurrency/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { Codec, JobView, LogWriter, WhyView } from '../../../ground/ports/index.ts'
import { isAway, type OwnerDirectory } from '../../peers/index.ts'
import {
  BoundedWriter,
  type Condition,
  checkCondition,
  checkSize,
  type ExistingCondition,
  KeyedLock,
  type PlacedRecord,
  RequestError,
  type Version,
} from '../http/index.ts'
import { ReadConsistency, unknownYet, type WaitTimeout, waitTimeout } from '../owners/index.ts'
import { appliedWaitMs, lastWritesMax, readOwnWriteWaitMs } from '../schemas/index.ts'
import { firedBeforeWarning } from './cycles.ts'

/** The state of a write. `unjudged`: its condition is in the record, and the owner is not known to have judged it. */
export interface Written extends Version {
  unjudged: boolean
  /** The definition that was in force. Absent: none, it cannot be read, or the owner was not asked. */
  before?: JobDefinition | undefined
}

/** The status of a job whose definition in force is the one asked about; otherwise empty. */
export interface StatusInForce {
  status?: JobView['status']
  /** With INVALID. */
  reason?: string
  /** What hardly was meant. Absent: nothing. */
  warnings?: string[]
}

export interface JobWritesOptions {
  writer: LogWriter
  codecs: { definition: Codec<JobDefinition, JobDefinitionInput>; command: Codec<JobCommand, JobCommandInput> }
  names: TopicNames
  partitions: number
  owners: OwnerDirectory
  clock: Clock
}

export class JobWrites {
  readonly #options: JobWritesOptions
  readonly #writer: BoundedWriter
  readonly #lock = new KeyedLock()
  /** Offset in jobs of the last write of a job, until its owner has applied it; oldest first. */
  readonly #lastWrites = new BoundedMap<string, number>(lastWritesMax, (offset, id) => this.#forgot(id, offset))
  /** By partition, the last offset of the writes of more jobs than that, until it is applied. A read of any job waits for it. */
  readonly #forgotten = new Map<number, number>()

  constructor(options: JobWritesOptions) {
    this.#options = options
    this.#writer = new BoundedWriter(options.writer)
  }

  /** Writes a definition. Only its condition, if it has one, asks the owner. */
  put(id: string, definition: JobDefinition, condition?: Condition): Promise<Written> {
    const record = this.definitionRecord(id, definition)
    return this.#lock.run(id, async () => {
      const current = condition === undefined ? undefined : await this.#currentForWrite(id)
      checkCondition(id, condition, current)
      if (condition === 'none') record.headers = onlyOverHeaders('none')
      else if (condition !== undefined && current !== undefined) record.headers = onlyOverHeaders(onlyOverFor(condition, current))
      const version = await this.#writeJob(record)
      return { ...(await this.#checkAfterApply(id, version, condition)), before: current?.definition }
    })
  }

  /** With a condition: checks whether it held when the owner applied the record. Rejects with `version-conflict` if not. */
  async #checkAfterApply(id: string, version: Version, condition: Condition | undefined, deleted = false): Promise<Written> {
    if (condition === undefined) return { ...version, unjudged: false }
    if (!(await this.applied(version.partition, { jobs: version.offset }))) return { ...version, unjudged: true }
    const inForce = await orNull(this.#ask(id))
    if (inForce === null) return { ...version, unjudged: true }
    const held = deleted ? inForce === undefined || inForce.offset > version.offset : inForce?.offset === version.offset
    if (!held) checkCondition(id, condition === 'none' ? condition : [], inForce)
    return { ...version, unjudged: false }
  }

  /** Writes the first definition of a job with an id that no other caller can know, so nothing is read before. */
  create(id: string, definition: JobDefinition): Promise<Version> {
    return this.#writeJob(this.definitionRecord(id, definition))
  }

  /** Writes the first definition of a job. If the job exists, it returns the version in force. */
  createOnce(id: string, definition: JobDefinition): Promise<Written & { created: boolean }> {
    const record = this.definitionRecord(id, definition)
    record.headers = onlyOverHeaders('none')
    return this.#lock.run(id, async () => {
      const current = await this.#currentForWrite(id)
      if (current !== undefined) return { ...placeOf(current), unjudged: false, created: false }
      const version = await this.#writeJob(record)
      // Another process may have written it in between: the owner takes the first.
      const isApplied = await this.applied(version.partition, { jobs: version.offset })
      const inForce = isApplied ? await orNull(this.#ask(id)) : null
      if (inForce == null) return { ...version, unjudged: inForce === null, created: true }
      return { ...placeOf(inForce), unjudged: false, created: inForce.offset === version.offset }
    })
  }

  /** Writes a tombstone. Rejects with `not-found` if the owner says that the job does not exist. Without an owner it is written unseen. */
  delete(id: string, condition?: ExistingCondition): Promise<Written> {
    return this.#lock.run(id, async () => {
      const current = condition === undefined ? await this.#currentIfKnown(id) : await this.#currentForWrite(id)
      checkCondition(id, condition, current ?? undefined)
      if (current === undefined) throw jobNotFound(id)
      const tombstone = this.#place(this.#options.names.jobs, id, null)
      if (condition !== undefined && current !== null) tombstone.headers = onlyOverHeaders(onlyOverFor(condition, current))
      const version = await this.#writeJob(tombstone)
      return { ...(await this.#checkAfterApply(id, version, condition, true)), before: current?.definition }
    })
  }

  /**
   * Writes a command. The version is that of its record in job-commands. `key`: of the caller, so that a repeat is recognized.
   */
  async command(
    id: string,
    type: JobCommandType,
    more: Partial<JobCommandInput>,
    key?: string,
  ): Promise<Version & { commandId: string }> {
    const commandId = key === undefined ? randomUUID() : keyedCommandId(type, more.runNo, key)
    const { codecs, clock, names } = this.#options
    const command = completeCommand({ type, commandId, at: clock.nowMs(), ...more })
    const problems = validateCommand(command)
    if (problems.length > 0) throw new RequestError('bad-request', problems)
    const record = this.#place(names.commands, id, codecs.command.encode(command))
    const [offset = 0] = await this.#writer.write([record])
    return { partition: record.partition, offset, commandId }
  }

  /** The record of a definition, for writeAll. Throws `encode-failed` or `payload-too-large`. */
  definitionRecord(id: string, definition: JobDefinition): PlacedRecord {
    const record = this.#place(this.#options.names.jobs, id, this.#options.codecs.definition.encode(definition))
    checkSize(record)
    return record
  }

  /** Writes records without a read before; resolves with their offsets. */
  async writeAll(records: PlacedRecord[]): Promise<number[]> {
    const offsets = await this.#writer.write(records)
    for (const [index, { key }] of records.entries()) this.#lastWrites.renew(key, offsets[index] ?? 0)
    return offsets
  }

  /**
   * The job as its owner has it, including earlier writes of this process if the owner applies them soon enough; rejects with `not-ready` if it
   * does not, and the job is not there. `has`: see ReadConsistency#find.
   */
  async current(id: string, reading = new ReadConsistency(this.#options.owners), has?: (job: JobView) => boolean) {
    const isKnown = await this.#awaitOwnWrite(id, reading)
    const partition = this.partitionOf(id)
    const job = await reading.find(partition, (jobs) => jobs.job(partition, id), has)
    if (job === undefined && !isKnown) throw unknownYet(partition)
    return job
  }

  /** The same for why the job fired or did not. */
  async why(id: string, reading: ReadConsistency): Promise<WhyView | undefined> {
    const isKnown = await this.#awaitOwnWrite(id, reading)
    const partition = this.partitionOf(id)
    const why = await reading.find(partition, (jobs) => jobs.why(partition, id))
    if (why === undefined && !isKnown) throw unknownYet(partition)
    return why
  }

  /** False if the owner did not apply the record in time, or could not be reached. */
  async applied(partition: number, offsets: { jobs?: number; commands?: number }): Promise<boolean> {
    // The record is in the log anyway; the next owner will apply it.
    return (
      (await orNull(this.#options.owners.ask(partition, (owner) => owner.applied(partition, offsets, appliedWaitMs)))) ?? false
    )
  }

  /**
   * The status of a job with exactly this definition, which its owner has applied; empty if another one is in force or the
   * owner does not answer.
   */
  async statusInForce(id: string, version: Version): Promise<StatusInForce> {
    const inForce = await orNull(this.#ask(id))
    if (inForce?.offset !== version.offset) return {}
    const { status, reason } = inForce
    const warning = firedBeforeWarning(inForce)
    const why = status === 'INVALID' && reason !== null && { reason }
    return { status, ...why, ...(warning !== undefined && { warnings: [warning] }) }
  }

  /** The answer if the owners of these partitions have not applied the writes. */
  timeoutOf(partitions: Iterable<number>, what?: string): Promise<WaitTimeout> {
    return waitTimeout(this.#options.owners, partitions, what)
  }

  partitionOf(id: string): number {
    return partitionOf(id, this.#options.partitions)
  }

  async #currentForWrite(id: string): Promise<JobView | undefined> {
    if (!(await this.#ownWriteApplied(id, appliedWaitMs))) {
      const partition = this.partitionOf(id)
      const problem = await this.#options.owners.problem(partition).catch(() => undefined)
      throw new DuelogError(
        'not-ready',
        `The owner of partition ${partition} has not applied the last write of job ${JSON.stringify(id)} within ${appliedWaitMs} ms; nothing was written. ${problem === undefined ? '' : `${problem} `}Send the request again.`,
      )
    }
    return this.#ask(id)
  }

  /** Null: no owner knows now whether the job exists. */
  async #currentIfKnown(id: string): Promise<JobView | undefined | null> {
    return (await orNull(this.#ownWriteApplied(id, readOwnWriteWaitMs))) ? orNull(this.#ask(id)) : null
  }

  /** False if this process's last write is not applied in time. An answer of a standby is marked as stale in any case. */
  async #awaitOwnWrite(id: string, reading: ReadConsistency): Promise<boolean> {
    try {
      return (await this.#forgottenApplied(this.partitionOf(id))) && (await this.#ownWriteApplied(id, readOwnWriteWaitMs))
    } catch (error) {
      if (!reading.mayBeStale || !isAway(error)) throw error
      return true
    }
  }

  async #forgottenApplied(partition: number): Promise<boolean> {
    const jobs = this.#forgotten.get(partition)
    if (jobs === undefined) return true
    const applied = await this.#options.owners.ask(partition, (owner) => owner.applied(partition, { jobs }, readOwnWriteWaitMs))
    if (applied && this.#forgotten.get(partition) === jobs) this.#forgotten.delete(partition)
    return applied
  }

  #forgot(id: string, offset: number): void {
    const partition = this.partitionOf(id)
    this.#forgotten.set(partition, Math.max(offset, this.#forgotten.get(partition) ?? 0))
  }

  async #ownWriteApplied(id: string, waitMs: number): Promise<boolean> {
    const last = this.#lastWrites.get(id)
    if (last === undefined) return true
    const partition = this.partitionOf(id)
    const applied = await this.#options.owners.ask(partition, (owner) => owner.applied(partition, { jobs: last }, waitMs))
    if (applied && this.#lastWrites.get(id) === last) this.#lastWrites.delete(id)
    return applied
  }

  #ask(id: string): Promise<JobView | undefined> {
    const partition = this.partitionOf(id)
    return this.#options.owners.ask(partition, (owner) => owner.job(partition, id))
  }

  async #writeJob(record: PlacedRecord): Promise<Version> {
    const [offset = 0] = await this.#writer.write([record])
    this.#lastWrites.renew(record.key, offset)
    return { partition: record.partition, offset }
  }

  #place(topic: string, id: string, value: Buffer | null): PlacedRecord {
    return { topic, partition: this.partitionOf(id), key: id, value }
  }
}

/** A key identifies one kind of command to one job or run: a pause and a resume under one key are two commands. */
const keyedCommandId = (type: JobCommandType, runNo: number | null | undefined, key: string): string =>
  `${type.toLowerCase()}${runNo == null ? '' : `/${runNo}`}:${key}`

/** Null: the owner cannot be reached now. */
const orNull = <Answer>(asked: Promise<Answer>): Promise<Answer | null> =>
  asked.catch((error: unknown) => {
    if (error instanceof DuelogError && error.retriable) return null
    throw error
  })

const placeOf = ({ partition, offset }: Version): Version => ({ partition, offset })

const onlyOverFor = (condition: ExistingCondition, { offset }: Version): OnlyOver => (condition === 'any' ? 'any' : offset)

export function jobNotFound(id: string): DuelogError {
  return new DuelogError(
    'not-found',
    `There is no job ${JSON.stringify(id)}; it was never defined, was deleted, or its retention has passed.`,
  )
}
