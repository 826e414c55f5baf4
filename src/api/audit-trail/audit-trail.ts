/**
 * The latest records of the audit trail, newest first. The first query starts to read the topic, in a group of this process;
 * after that its end is followed. A query is answered when all earlier records have been read.
 */
import type { AuditEvent } from '../../../schemas/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../clock/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { Batch, Codec, GroupReader, Log, LogAdmin } from '../../ports/index.ts'
import { auditCaughtUpMs, auditKeptMax } from '../schemas/index.ts'

export interface AuditFilter {
  jobId?: string
  actor?: string
  action?: string
}

export interface AuditRecord extends AuditEvent {
  partition: number
  offset: number
}

export interface AuditTrail {
  /** Newest first, older than `before` if given. Rejects with `not-ready` while the topic cannot be read. */
  page(filter: AuditFilter, limit: number, before?: AuditPlace): Promise<{ records: AuditRecord[]; more: boolean }>
  stop(): Promise<void>
}

/** The place of a record in the order of the trail. */
export interface AuditPlace {
  at: number
  partition: number
  offset: number
}

export interface AuditTrailOptions {
  log: Pick<Log, 'reader'>
  admin: Pick<LogAdmin, 'offsets'>
  codec: Codec<AuditEvent, never>
  names: TopicNames
  instance: string
  clock: Clock
}

export function createAuditTrail(options: AuditTrailOptions): AuditTrail {
  return new LatestAudit(options)
}

class LatestAudit implements AuditTrail {
  readonly #options: AuditTrailOptions
  readonly #next = new Map<number, number>()
  #records: AuditRecord[] = []
  #opening: Promise<GroupReader> | undefined
  readonly #waiting = new Set<() => void>()
  #stopped = false

  constructor(options: AuditTrailOptions) {
    this.#options = options
  }

  async page(filter: AuditFilter, limit: number, before?: AuditPlace) {
    const { admin, names } = this.#options
    const ends = await admin.offsets(names.audit)
    this.#opening ??= this.#open(ends).catch((error) => {
      this.#opening = undefined
      throw error
    })
    await this.#opening
    await this.#caughtUp(ends)
    const fits = (record: AuditRecord): boolean =>
      (before === undefined || compare(record, before) > 0) &&
      Object.entries(filter).every(([name, wanted]) => wanted === undefined || record[name as keyof AuditFilter] === wanted)
    const found = this.#records.filter(fits).sort(compare)
    return { records: found.slice(0, limit), more: found.length > limit }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#opening?.then((reader) => reader.stop()).catch(() => undefined)
  }

  /** Starts far enough before the ends to read as many records as are kept. */
  async #open(ends: { partition: number; earliest: number; next: number }[]): Promise<GroupReader> {
    const { log, names, instance } = this.#options
    if (this.#stopped) throw new DuelogError('not-ready', 'This process is stopping.')
    this.#records = []
    const share = Math.ceil(auditKeptMax / Math.max(1, ends.length))
    for (const { partition, earliest, next } of ends) this.#next.set(partition, Math.max(earliest, next - share))
    const reader = log.reader({
      groupId: names.group(`audit.${instance}`),
      topics: [names.audit],
      instance,
      onAssigned: () => ({
        positions: Array.from(this.#next, ([partition, offset]) => ({ topic: names.audit, partition, offset })),
      }),
      onBatch: (batch) => this.#take(batch),
      // The next query restarts.
      onCrash: () => {
        this.#opening = undefined
      },
    })
    await reader.start()
    return reader
  }

  async #take({ partition, records }: Batch): Promise<void> {
    for (const { offset, value } of records) {
      if (offset < (this.#next.get(partition) ?? 0)) continue
      this.#next.set(partition, offset + 1)
      const event = value === null ? undefined : await this.#eventOf(value)
      if (event !== undefined) this.#records.push({ ...event, partition, offset })
    }
    if (this.#records.length > 2 * auditKeptMax) this.#records = this.#records.sort(compare).slice(0, auditKeptMax)
    for (const look of this.#waiting) look()
  }

  /** Undefined for a record that is no audit event: any client may write to the topic, and the trail continues after it. */
  async #eventOf(value: Buffer): Promise<AuditEvent | undefined> {
    try {
      return await this.#options.codec.decode(value)
    } catch {
      return undefined
    }
  }

  #caughtUp(ends: { partition: number; earliest: number; next: number }[]): Promise<void> {
    const { clock } = this.#options
    const there = (): boolean =>
      ends.every(({ partition, earliest, next }) => next === earliest || (this.#next.get(partition) ?? 0) >= next)
    if (there()) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        cancel()
        this.#waiting.delete(look)
        settle()
      }
      const look = (): void => {
        if (there()) end(resolve)
      }
      const late = new DuelogError(
        'not-ready',
        'The audit trail has not been read up to its end yet; send the request again soon.',
      )
      const cancel = clock.at(clock.nowMs() + auditCaughtUpMs, () => end(() => reject(late)))
      this.#waiting.add(look)
      look()
    })
  }
}

/** Negative if the left one is newer. */
function compare(left: AuditPlace, right: AuditPlace): number {
  return right.at - left.at || right.partition - left.partition || right.offset - left.offset
}
