/**
 * The part of a restore that goes through the frames of a backup and writes the records. Memory is bounded: jobs are taken in portions, and
 * what they use of limits is added up on disk.
 */
import { deserialize } from 'node:v8'
import type { KeyStarts, StateEntryInput } from '../../../schemas/index.ts'
import { firstOffset, type KeyUse, mergedStarts, restoredHeaders } from '../../../streams/backup/index.ts'
import {
  addLimitKeys,
  isOutdated,
  type LimitKeys,
  positionKey,
  restoringKey,
  slotsKey,
  startsKey,
} from '../../../streams/state/index.ts'
import { appendedAtHeader, keyPartitionOf, markHeader, markKey, partitionOf } from '../../../streams/topics/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { LogWriter, RecordOut } from '../../ground/ports/index.ts'
import { zoneRulesVersion } from '../../ground/process/index.ts'
import type { Cluster } from '../../log/cluster/index.ts'
import { type Codecs, codecsOfSchemas } from '../../log/kafka/index.ts'
import { buffersOf, type Frame, framesOf, kinds } from './backup-file.ts'
import type { BackupHeader } from './backup-header.ts'
import { fence } from './fence.ts'
import { addRecords, type DecodedJob, decodedJob, endedOperation, jobParts } from './frame-job.ts'
import { packed, type Scratch } from './scratch.ts'

/** Records and bytes that are written together. Each is also the most that is kept in memory. */
const batchRecords = 4_000
const batchBytes = 8 * 1024 * 1024

export interface Parts {
  options: { file: string; signal: AbortSignal; onProgress(done: number, total: number): void }
  cluster: Cluster
  codecs: Codecs
  scratch: Scratch
  writer: LogWriter
  header: BackupHeader
  partitions: number
  /** Number of jobs in the file. */
  jobs: number
  nowMs(): number
}

export class Restoring {
  readonly #parts: Parts
  readonly #file: Codecs
  /** Next offset of `jobs` in each partition. */
  readonly ends: number[]
  /** Of jobs with a pending record that names a definition: offsets of their definitions in the old log and in the new one. */
  readonly #known = new Map<string, Map<number, number>>()
  readonly #batch: Frame[][] = []
  #job: Frame[] = []
  #bytes = 0
  readonly #starts = new Map<string, { starts: KeyStarts; from: number | undefined }[]>()
  readonly #pending: Frame[] = []
  #pendingBytes = 0
  #records = 0
  #jobs = 0

  constructor(parts: Parts) {
    this.#parts = parts
    this.#file = codecsOfSchemas(parts.header.schemas)
    this.ends = Array.from({ length: parts.partitions }, () => 0)
  }

  /** Resolves with the number of records. `beforeEnd`: called when all is written but what lets owners begin. */
  async all(beforeEnd: () => Promise<void> = async () => {}): Promise<number> {
    const { options } = this.#parts
    await this.#begin()
    let decided: number[] | undefined
    for await (const frame of framesOf(options.file)) {
      options.signal.throwIfAborted()
      if (frame.kind === kinds.job) await this.#endJob()
      if (frame.kind === kinds.job || jobParts.has(frame.kind)) this.#take(frame)
      else if (frame.kind === kinds.starts) await this.#noteStarts(frame)
      else if (frame.kind !== kinds.header) {
        // The trailer comes here at the latest.
        await this.#endJob()
        await this.#writeBatch()
        decided ??= [...this.ends]
        await this.#other(frame)
      }
    }
    await this.#writePending()
    await this.#limits()
    await beforeEnd()
    await this.#positions(decided ?? this.ends)
    return this.#records
  }

  /**
   * The position says what is decided. With it the marker goes, in all partitions at once: owners of some of them would fire while the others
   * wait for a restore that cannot be repeated.
   */
  async #positions(decided: readonly number[]): Promise<void> {
    const { partitions, cluster, header } = this.#parts
    const { names } = cluster
    const zoneRules = header.zoneRules === zoneRulesVersion ? zoneRulesVersion : ''
    const last: RecordOut[] = []
    for (let partition = 0; partition < partitions; partition++) {
      const offsets = { claimOffset: -1, commandsOffset: 0, eventsOffset: 0, jobsOffset: decided[partition] ?? 0 }
      const position = { ...offsets, committedAt: this.#parts.nowMs(), zoneRules }
      const value = this.#parts.codecs.state.encode({ position })
      last.push(
        { topic: names.state, partition, key: positionKey, value },
        { topic: names.state, partition, key: restoringKey, value: null },
      )
    }
    const writer = await cluster.log.transactionalWriter(names.group('restore'))
    try {
      await writer.commit(last)
      this.#records += last.length
    } finally {
      await writer.close()
    }
  }

  /**
   * The marker, and a mark as the first record of each partition of jobs: no definition has the offset 0. A suspended owner of topics that were
   * deleted and have the same names again is fenced.
   */
  async #begin(): Promise<void> {
    const { partitions, cluster, codecs } = this.#parts
    const { names } = cluster
    await fence(cluster, partitions, {
      key: restoringKey,
      value: codecs.state.encode({ owner: { instance: 'restore', claimedAt: 0, zoneRules: zoneRulesVersion } }),
    })
    this.#records += partitions
    for (let partition = 0; partition < partitions; partition++) {
      await this.#append([{ topic: names.jobs, partition, key: markKey, value: null, headers: { [markHeader]: 'restore' } }])
      if (this.ends[partition] !== firstOffset) throw new DuelogError('internal', `${names.jobs}/${partition} is not empty.`)
    }
  }

  async #noteStarts({ meta, body }: Frame): Promise<void> {
    const { starts } = await this.#file.state.decode(body)
    if (starts === null || isOutdated(starts, this.#parts.nowMs())) return
    const key = String(meta.key)
    // A key stays in its partition if there are as many: another one may have given starts far ahead.
    const from = this.#parts.header.partitions === this.#parts.partitions ? (meta.partition as number | undefined) : undefined
    this.#starts.set(key, [...(this.#starts.get(key) ?? []), { starts, from }])
  }

  #startsIn(partition: number, key: string): KeyStarts[] {
    return (this.#starts.get(key) ?? []).flatMap(({ starts, from = partition }) => (from === partition ? [starts] : []))
  }

  #take(frame: Frame): void {
    this.#job.push(frame)
    this.#bytes += frame.bytes
  }

  async #endJob(): Promise<void> {
    if (this.#job.length > 0) this.#batch.push(this.#job)
    this.#job = []
    if (this.#batch.length >= batchRecords || this.#bytes >= batchBytes) await this.#writeBatch()
  }

  /** First the definitions, whose offsets the states name. */
  async #writeBatch(): Promise<void> {
    const jobs = this.#batch.splice(0)
    this.#bytes = 0
    if (jobs.length === 0) return
    const { cluster, codecs, partitions, options } = this.#parts
    const decoded: DecodedJob[] = []
    for (const frames of jobs) decoded.push(await decodedJob(frames, this.#file, codecs))
    const definitions: RecordOut[] = []
    for (const { id, definition } of decoded) {
      if (definition === undefined) continue
      const value = definition.spec === undefined ? definition.bytes : codecs.definition.encode(definition.spec)
      const headers = { [appendedAtHeader]: String(definition.appendedAt) }
      definitions.push({ topic: cluster.names.jobs, partition: partitionOf(id, partitions), key: id, value, headers })
    }
    const offsets = await this.#append(definitions)
    const records: RecordOut[] = []
    let at = 0
    for (const job of decoded) {
      const offset = job.definition === undefined ? -1 : (offsets[at++] ?? -1)
      if (job.hasConditions) this.#known.set(job.id, new Map(job.definition && [[job.definition.offset, offset]]))
      await this.#noteLimits(job, addRecords(records, job, offset, { codecs, partitions, names: cluster.names }))
    }
    await this.#write(records)
    this.#jobs += jobs.length
    options.onProgress(Math.min(this.#jobs, this.#parts.jobs), this.#parts.jobs)
  }

  async #noteLimits(job: DecodedJob, slots: readonly KeyUse[]): Promise<void> {
    const { scratch, partitions } = this.#parts
    const partition = partitionOf(job.id, partitions)
    for (const use of slots) await scratch.putNamed(partition, `s${use.key}`, Buffer.from(job.id), packed(use))
    if (this.#starts.size === 0) return
    const keys: LimitKeys = { slots: new Set(), starts: new Set() }
    addLimitKeys(keys, job)
    for (const key of keys.starts)
      if (this.#startsIn(partition, key).length > 0) await scratch.putNamed(partition, `w${key}`, Buffer.alloc(0), packed(null))
  }

  async #limits(): Promise<void> {
    const { scratch, partitions, codecs, cluster } = this.#parts
    const topic = cluster.names.state
    for (let partition = 0; partition < partitions; partition++) {
      let records: RecordOut[] = []
      let use: KeyUse | undefined
      const put = async (key: Buffer, entry: StateEntryInput): Promise<void> => {
        records.push({ topic, partition, key, value: codecs.state.encode(entry) })
        if (records.length < batchRecords) return
        await this.#write(records)
        records = []
      }
      const endKey = async (): Promise<void> => {
        if (use !== undefined) await put(slotsKey(use.key), { slots: { held: use.held, waiting: use.waiting, limit: use.limit } })
        use = undefined
      }
      for await (const { name, value } of scratch.named(partition)) {
        const key = name.slice(1)
        if (use?.key !== key || !name.startsWith('s')) await endKey()
        if (name.startsWith('w')) await put(startsKey(key), { starts: mergedStarts(this.#startsIn(partition, key)) })
        else {
          const one = deserialize(value) as KeyUse
          use = {
            key,
            held: (use?.held ?? 0) + one.held,
            waiting: (use?.waiting ?? 0) + one.waiting,
            limit: Math.max(use?.limit ?? 1, one.limit),
          }
        }
      }
      await endKey()
      await this.#write(records)
    }
  }

  async #other(frame: Frame): Promise<void> {
    const { cluster, codecs, partitions } = this.#parts
    const { names } = cluster
    if (frame.kind === kinds.pending) {
      // The next one may name its new offset in its condition, so it is written alone.
      const isAlone = this.#known.has(String(frame.meta.id))
      if (isAlone) await this.#writePending()
      this.#pending.push(frame)
      this.#pendingBytes += frame.bytes
      if (isAlone || this.#pending.length >= batchRecords || this.#pendingBytes >= batchBytes) await this.#writePending()
    } else if (frame.kind === kinds.pause) {
      const value = codecs.pause.encode(await this.#file.pause.decode(frame.body))
      await this.#write([{ topic: names.pauses, key: String(frame.meta.key), value }])
    } else if (frame.kind === kinds.operation) {
      const record = endedOperation(await this.#file.operation.decode(frame.body), this.#parts.nowMs())
      const [partition, value] = [keyPartitionOf(record.id, partitions), codecs.operation.encode(record)]
      await this.#write([{ topic: names.operations, partition, key: String(frame.meta.key), value }])
    }
  }

  async #writePending(): Promise<void> {
    const frames = this.#pending.splice(0)
    this.#pendingBytes = 0
    const { cluster, codecs, partitions } = this.#parts
    const records: RecordOut[] = []
    for (const { meta, body } of frames) {
      const id = String(meta.id)
      const value = meta.tombstone ? null : meta.raw ? body : codecs.definition.encode(await this.#file.definition.decode(body))
      const named = restoredHeaders(buffersOf(meta.headers as Record<string, string>), this.#known.get(id))
      const headers = { ...named, [appendedAtHeader]: String(meta.appendedAt) }
      records.push({ topic: cluster.names.jobs, partition: partitionOf(id, partitions), key: id, value, headers })
    }
    const offsets = await this.#append(records)
    for (const [at, { meta }] of frames.entries()) this.#known.get(String(meta.id))?.set(Number(meta.offset), offsets[at] ?? -1)
  }

  /** Resolves with the offset of each record. Records of `jobs` only. */
  async #append(records: RecordOut[]): Promise<number[]> {
    if (records.length === 0) return []
    const { names } = this.#parts.cluster
    const first = await this.#write(records)
    const counted = new Map<number, number>()
    return records.map(({ partition = 0 }) => {
      const from = first?.get(`${names.jobs}/${partition}`)
      if (!counted.has(partition)) {
        if (from !== this.ends[partition])
          throw new DuelogError(
            'bad-usage',
            `Somebody writes to ${names.jobs}/${partition} during the restore: offset ${from}, not ${this.ends[partition]}. Stop them.`,
          )
        counted.set(partition, this.ends[partition] ?? 0)
      }
      const offset = counted.get(partition) ?? 0
      counted.set(partition, offset + 1)
      this.ends[partition] = offset + 1
      return offset
    })
  }

  async #write(records: RecordOut[]): Promise<Map<string, number> | undefined> {
    if (records.length === 0) return undefined
    this.#records += records.length
    return this.#parts.writer.write(records)
  }
}
