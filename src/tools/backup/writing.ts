/** The part of a backup that goes through the jobs of the scratch store and writes the frames of the file. */
import { deserialize } from 'node:v8'
import type { FollowUp, JobState, OperationRecord } from '../../../schemas/index.ts'
import { capturedJob, effective, followUpOf, isOfCopy, type JobsRecord, type SourceJob } from '../../../streams/backup/index.ts'
import { queueOf } from '../../../streams/runs/index.ts'
import { forgotten, type KnownDefinition, namesOffset } from '../../../streams/state/index.ts'
import { partitionOf } from '../../../streams/topics/index.ts'
import { type Codecs, codecsOfSchemas, ownSchemas } from '../../log/kafka/index.ts'
import { type BackupWriter, kinds, textsOf } from './backup-file.ts'
import { endsOfUnbegun } from './frame-job.ts'
import type { LoggedSystem, PackedInput } from './logged-system.ts'
import { PartDecoder } from './part-decoder.ts'
import { offsetOfKey, type PartEntry, packed, parts, type Scratch } from './scratch.ts'

/** Numbers of what a backup holds. */
export interface BackupCounts {
  jobs: number
  /** Runs that had not ended, and those of them that a worker had started. */
  activeRuns: number
  startedRuns: number
  /** Dead runs that can be redriven. */
  deadRuns: number
  /** Keys of rate limits. */
  rateLimits: number
  /** Records that no owner had decided yet. */
  pendingDefinitions: number
  pendingCommands: number
  pendingReports: number
  pauses: number
  operations: number
  /** Entries that cannot be decoded. Their jobs are INVALID, or a run of them cannot be repeated. */
  unreadable: number
}

export class Writing {
  readonly #writer: BackupWriter
  readonly #codecs: Codecs
  readonly #file: Codecs
  readonly #decoder: PartDecoder
  readonly #scratch: Scratch
  readonly #system: LoggedSystem
  readonly #counts: BackupCounts

  constructor(writer: BackupWriter, codecs: Codecs, scratch: Scratch, system: LoggedSystem) {
    this.#writer = writer
    this.#codecs = codecs
    this.#file = codecsOfSchemas(ownSchemas())
    this.#decoder = new PartDecoder(codecs)
    this.#scratch = scratch
    this.#system = system
    this.#counts = {
      ...{ jobs: 0, activeRuns: 0, startedRuns: 0, deadRuns: 0, rateLimits: 0 },
      ...{
        pendingDefinitions: 0,
        pendingCommands: 0,
        pendingReports: 0,
        pauses: 0,
        operations: 0,
        unreadable: 0,
      },
    }
  }

  async all(onPartition: (done: number) => void, signal: AbortSignal): Promise<BackupCounts> {
    const { partitions } = this.#system
    for (let partition = 0; partition < partitions; partition++) await this.#starts(partition)
    for (let partition = 0; partition < partitions; partition++) {
      for await (const { id, entries } of this.#scratch.jobs(partition, (entries) => this.#reduced(entries))) {
        signal.throwIfAborted()
        await this.#job(id, entries)
      }
      onPartition(partition + 1)
    }
    // After all definitions that are decided: a position of the new logs divides them.
    for await (const { name, value } of this.#scratch.named(pendingPartition)) {
      const { meta, body } = deserialize(value) as { meta: Record<string, unknown>; body: Uint8Array }
      await this.#writer.put(kinds.pending, { id: name.slice(sequenceChars), ...meta }, Buffer.from(body))
    }
    await this.#small()
    return { ...this.#counts, unreadable: this.#system.unreadable + this.#decoder.unreadable }
  }

  async #starts(partition: number): Promise<void> {
    for await (const { name, value } of this.#scratch.named(partition)) {
      const entry = await this.#decoder.decoded(() => this.#codecs.state.decode(value))
      if (entry === undefined || entry.starts === null) continue
      this.#counts.rateLimits++
      await this.#writer.put(kinds.starts, { key: name, partition }, this.#file.state.encode({ starts: entry.starts }))
    }
  }

  /** Without what later records have replaced. */
  async #reduced(entries: PartEntry[]): Promise<PartEntry[]> {
    const entry = entries.find(({ part }) => part === parts.state)
    const decode = async (bytes: Buffer) => (await this.#codecs.state.decode(bytes)).state
    const state = entry === undefined ? undefined : await decode(entry.value).catch(() => null)
    // A state that cannot be read keeps every definition.
    if (state === null) return entries
    const records = entries.flatMap((each) => (each.part === parts.record ? recordOf(each) : []))
    const kept = new Set(effective(records, state?.specOffset).map(({ entry }) => entry))
    return entries.filter((each) => each.part !== parts.record || kept.has(each))
  }

  async #job(id: string, entries: readonly PartEntry[]): Promise<void> {
    const of = (part: PartEntry['part']): PartEntry[] => entries.filter((entry) => entry.part === part)
    const records: JobsRecord[] = []
    for (const entry of of(parts.record)) records.push(await this.#decoder.record(entry))
    const snapshots = await this.#decoder.snapshots(of(parts.snapshot))
    const [stateEntry] = of(parts.state)
    const retained = snapshots.retained
    const state =
      stateEntry === undefined
        ? undefined
        : await this.#decoder.state(id, stateEntry.value, retained ?? records.findLast(({ decided }) => decided)?.definition)
    const events = await this.#decoder.events(of(parts.event))
    const job = capturedJob({ id, state, retained, records, events })
    const commands = await this.#commands(of(parts.command))
    const waiting = job.state?.followUps ?? null
    const followUps = await this.#divided(await this.#decoder.followUps(of(parts.followUps), waiting))
    const { queue, pages } = queueOf(followUps.kept, waiting?.lookAt ?? null)
    if (job.definition === undefined && job.state === undefined && job.pending.length + commands.length === 0) return
    const put = this.#writer
    const conditions = job.pending.some(({ headers }) => namesOffset(headers))
    await put.put(kinds.job, conditions ? { id, conditions } : { id })
    if (job.definition !== undefined) {
      this.#counts.jobs++
      await put.put(kinds.definition, ...this.#definition(job.definition))
    }
    if (job.state !== undefined) {
      this.#count(job.state)
      // Otherwise those that are sent again would count as repeated.
      const recentCommands = forgotten(job.state, followUps.sentAgain)
      await put.put(kinds.state, {}, this.#file.state.encode({ state: { ...job.state, recentCommands, followUps: queue } }))
    }
    for (const run of snapshots.ends) await put.put(kinds.run, { dead: true }, this.#file.state.encode({ run }))
    for (const run of await this.#decoder.runs(of(parts.run))) await put.put(kinds.run, {}, this.#file.state.encode({ run }))
    for (const [runNo, execution] of snapshots.runs)
      await put.put(kinds.snapshot, { runNo }, this.#file.execution.encode(execution))
    for (const [page, items] of pages.entries())
      await put.put(kinds.followUps, { page }, this.#file.state.encode({ followUps: { items } }))
    for (const { body, headers } of commands) await put.put(kinds.command, { headers }, body)
    for (const event of job.events) await put.put(kinds.event, {}, this.#file.event.encode(event))
    this.#counts.pendingCommands += commands.length
    this.#counts.pendingReports += job.events.length
    for (const record of job.pending) await this.#pend(id, record)
  }

  #count({ active, deadRuns }: JobState): void {
    this.#counts.activeRuns += active.length
    this.#counts.startedRuns += active.filter(({ status }) => status === 'RUNNING').length
    this.#counts.deadRuns += deadRuns.length
  }

  /** A definition that cannot be decoded keeps its bytes. */
  #definition({ offset, appendedAt, spec, bytes }: KnownDefinition): [Record<string, unknown>, Buffer] {
    if (spec === undefined) return [{ offset, appendedAt, raw: true }, bytes]
    return [{ offset, appendedAt }, this.#file.definition.encode(spec)]
  }

  async #pend(id: string, { offset, appendedAt, definition, headers }: JobsRecord): Promise<void> {
    const [meta, body] =
      definition === undefined ? [{ offset, appendedAt, tombstone: true }, Buffer.alloc(0)] : this.#definition(definition)
    const sequence = String(this.#counts.pendingDefinitions++).padStart(sequenceChars, '0')
    await this.#scratch.putNamed(
      pendingPartition,
      `${sequence}${id}`,
      Buffer.alloc(0),
      packed({ meta: { ...meta, headers: textsOf(headers) }, body }),
    )
  }

  async #commands(entries: readonly PartEntry[]): Promise<{ body: Buffer; headers: Record<string, string> }[]> {
    const commands: { body: Buffer; headers: Record<string, string> }[] = []
    for (const { value } of entries) {
      const { value: bytes, headers } = deserialize(value) as PackedInput
      const command = await this.#decoder.decoded(() => this.#codecs.command.decode(Buffer.from(bytes ?? [])))
      if (command === undefined) continue
      if (await this.#isOfCopy(command.commandId))
        commands.push({ body: this.#file.command.encode(command), headers: textsOf(headers) })
    }
    return commands
  }

  /** `sentAgain`: commandIds of those that do not belong to the copy. */
  async #divided(followUps: readonly FollowUp[]): Promise<{ kept: FollowUp[]; sentAgain: string[] }> {
    const [kept, sentAgain]: [FollowUp[], string[]] = [[], []]
    for (const followUp of followUps) {
      if (await this.#isOfCopy(followUp.commandId)) kept.push(followUp)
      else sentAgain.push(followUp.commandId)
    }
    return { kept, sentAgain }
  }

  async #isOfCopy(commandId: string): Promise<boolean> {
    const from = followUpOf(commandId)
    const source = from === undefined ? undefined : await this.#sourceOf(from.jobId)
    return isOfCopy(commandId, () => source)
  }

  async #sourceOf(jobId: string): Promise<SourceJob> {
    const { partitions, jobsEnds, sinceMs } = this.#system
    const partition = partitionOf(jobId, partitions)
    const entries = await this.#scratch.partsOf(partition, jobId)
    const state = entries.find(({ part }) => part === parts.state)
    const records: JobsRecord[] = []
    for (const entry of entries) if (entry.part === parts.record) records.push(await this.#decoder.record(entry))
    return {
      state: state === undefined ? undefined : await this.#decoder.state(jobId, state.value, undefined),
      ...{ records, readUntil: jobsEnds.get(partition) ?? 0, sinceMs },
    }
  }

  async #small(): Promise<void> {
    for (const [key, value] of this.#system.pauses) {
      const pause = await this.#decoder.decoded(() => this.#codecs.pause.decode(value))
      if (pause === undefined) continue
      this.#counts.pauses++
      await this.#writer.put(kinds.pause, { key }, this.#file.pause.encode(pause))
    }
    const operations = new Map<string, OperationRecord>()
    for (const [key, value] of this.#system.operations) {
      const operation = await this.#decoder.decoded(() => this.#codecs.operation.decode(value))
      if (operation === undefined) continue
      if (operation.request !== null) this.#counts.operations++
      operations.set(key, operation)
    }
    for (const [key, operation] of [...operations, ...endsOfUnbegun(operations)])
      await this.#writer.put(kinds.operation, { key }, this.#file.operation.encode(operation))
  }
}

function recordOf(entry: PartEntry): { entry: PartEntry; offset: number; decided: boolean; isTombstone: boolean } {
  const { decided, value } = deserialize(entry.value) as PackedInput
  return { entry, offset: offsetOfKey(entry.rest), decided, isTombstone: value === null }
}

/** No partition has this number: under it the scratch store keeps pending records in their order. */
const pendingPartition = 0xffff
const sequenceChars = 12
