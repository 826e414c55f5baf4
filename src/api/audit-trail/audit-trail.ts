/** The latest records of the audit trail, newest first. */
import type { AuditEvent } from '../../../schemas/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../clock/index.ts'
import { FollowedTopic } from '../../concurrency/index.ts'
import type { Codec, Log, LogAdmin, RecordIn } from '../../ports/index.ts'
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
  readonly #codec: AuditTrailOptions['codec']
  readonly #topic: FollowedTopic
  #records: AuditRecord[] = []

  constructor({ log, admin, codec, names, instance, clock }: AuditTrailOptions) {
    this.#codec = codec
    this.#topic = new FollowedTopic({
      ...{ log, admin, instance, clock, topic: names.audit, groupId: names.group(`audit.${instance}`) },
      caughtUpMs: auditCaughtUpMs,
      lateText: 'The audit trail has not been read up to its end yet; send the request again soon.',
      // Far enough before the ends to read as many records as are kept.
      startOf: ({ earliest, next }, partitions) => Math.max(earliest, next - Math.ceil(auditKeptMax / partitions)),
      onBegin: () => {
        this.#records = []
      },
      onRecord: (record) => this.#take(record),
    })
  }

  async page(filter: AuditFilter, limit: number, before?: AuditPlace) {
    await this.#topic.readToEnd()
    const fits = (record: AuditRecord): boolean =>
      (before === undefined || compare(record, before) > 0) &&
      Object.entries(filter).every(([name, wanted]) => wanted === undefined || record[name as keyof AuditFilter] === wanted)
    const found = this.#records.filter(fits).sort(compare)
    return { records: found.slice(0, limit), more: found.length > limit }
  }

  stop(): Promise<void> {
    return this.#topic.stop()
  }

  async #take({ partition, offset, value }: RecordIn): Promise<void> {
    const records = this.#records
    const event = value === null ? undefined : await this.#eventOf(value)
    if (event !== undefined) records.push({ ...event, partition, offset })
    if (this.#records.length > 2 * auditKeptMax) this.#records = this.#records.sort(compare).slice(0, auditKeptMax)
  }

  /** Undefined for a record that is no audit event: any client may write to the topic, and the trail continues after it. */
  async #eventOf(value: Buffer): Promise<AuditEvent | undefined> {
    try {
      return await this.#codec.decode(value)
    } catch {
      return undefined
    }
  }
}

/** Negative if the left one is newer. */
function compare(left: AuditPlace, right: AuditPlace): number {
  return right.at - left.at || right.partition - left.partition || right.offset - left.offset
}
