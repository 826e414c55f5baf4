/** The latest records of the audit trail, newest first. */
import type { AuditEvent } from '../../../../schemas/index.ts'
import { markOf } from '../../../../streams/state/index.ts'
import type { TopicNames } from '../../../../streams/topics/index.ts'
import type { Clock } from '../../../ground/clock/index.ts'
import { FollowedTopic } from '../../../ground/concurrency/index.ts'
import type { Codec, Log, LogAdmin, OperationAction, RecordIn } from '../../../ground/ports/index.ts'
import { commandIdOf, commandPrefixOf } from '../../../ground/records/index.ts'
import { auditCaughtUpMs, auditKeptBytesMax, auditKeptMax } from '../schemas/index.ts'

export interface AuditFilter {
  jobId?: string
  /** With `jobId`: marks of the last commands of the job. Changes of many are found by them. */
  recentCommands?: readonly number[]
  actor?: string
  action?: string
  /** Epoch ms, inclusive. */
  from?: number | undefined
  /** Epoch ms, exclusive. */
  to?: number | undefined
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

interface Kept extends AuditRecord {
  /** Size in the topic. */
  bytes: number
}

class LatestAudit implements AuditTrail {
  readonly #codec: AuditTrailOptions['codec']
  readonly #topic: FollowedTopic
  #records: Kept[] = []
  #bytes = 0

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
        this.#bytes = 0
      },
      onRecord: (record) => this.#take(record),
    })
  }

  async page(filter: AuditFilter, limit: number, before?: AuditPlace) {
    await this.#topic.readToEnd()
    const matches = matcherOf(filter)
    const fits = (record: AuditRecord): boolean => (before === undefined || compare(record, before) > 0) && matches(record)
    const found = this.#records.filter(fits).sort(compare)
    return { records: found.slice(0, limit).map(({ bytes: _, ...record }) => record), more: found.length > limit }
  }

  stop(): Promise<void> {
    return this.#topic.stop()
  }

  async #take({ partition, offset, value }: RecordIn): Promise<void> {
    const records = this.#records
    const event = value === null ? undefined : await this.#eventOf(value)
    if (event === undefined || value === null || records !== this.#records) return
    records.push({ ...event, partition, offset, bytes: value.length })
    this.#bytes += value.length
    if (records.length > 2 * auditKeptMax || this.#bytes > 2 * auditKeptBytesMax) this.#forgetOldest()
  }

  #forgetOldest(): void {
    const kept: Kept[] = []
    this.#bytes = 0
    for (const record of this.#records.sort(compare).slice(0, auditKeptMax)) {
      if (this.#bytes + record.bytes > auditKeptBytesMax) break
      kept.push(record)
      this.#bytes += record.bytes
    }
    this.#records = kept
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

export function matcherOf(filter: AuditFilter): (event: AuditEvent) => boolean {
  const { jobId, recentCommands, actor, action, from = 0, to = Number.MAX_SAFE_INTEGER } = filter
  const marks = new Set(recentCommands)
  return (event) =>
    (jobId === undefined || event.jobId === jobId || event.jobIds.includes(jobId) || hasReached(event, marks)) &&
    (actor === undefined || event.actor === actor) &&
    (action === undefined || event.action === action) &&
    event.at >= from &&
    event.at < to
}

const ofMany = '_MANY'

/** Whether an operation has given its command to the job: it is the same for all its jobs. */
function hasReached({ action, target }: AuditEvent, marks: ReadonlySet<number>): boolean {
  if (marks.size === 0 || target === null || !action.endsWith(ofMany)) return false
  const changed = action.slice(0, -ofMany.length) as OperationAction
  return marks.has(markOf(commandIdOf({ commandPrefix: commandPrefixOf(target), action: changed })))
}

/** Negative if the left one is newer. */
function compare(left: AuditPlace, right: AuditPlace): number {
  return right.at - left.at || right.partition - left.partition || right.offset - left.offset
}
