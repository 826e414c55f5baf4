/**
 * Writes the audit trail. A record is on the brokers before the answer of its request is sent. If the write fails, the change
 * itself has happened anyway: the record goes to the log of the process and is counted.
 */
import type { AuditEvent, AuditEventInput } from '../../../schemas/index.ts'
import { partitionOf, type TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../clock/index.ts'
import type { Logger } from '../../logging/index.ts'
import type { Metrics } from '../../metrics/index.ts'
import type { Codec, LogWriter } from '../../ports/index.ts'
import { BoundedWriter } from '../http/index.ts'

export interface AuditLogOptions {
  writer: LogWriter
  codecs: { audit: Codec<AuditEvent, AuditEventInput> }
  names: TopicNames
  partitions: number
  clock: Clock
  instance: string
  logger: Logger
  metrics: Metrics
}

export class AuditLog {
  readonly #options: AuditLogOptions
  readonly #writer: BoundedWriter

  constructor(options: AuditLogOptions) {
    this.#options = options
    this.#writer = new BoundedWriter(options.writer)
  }

  /** Resolves when the record is on the brokers or could not be written. Never rejects. */
  async record(event: Omit<AuditEventInput, 'at' | 'instance'>): Promise<void> {
    const { codecs, names, partitions, clock, instance, logger, metrics } = this.#options
    const complete = { ...event, at: clock.nowMs(), instance }
    try {
      const key = event.jobId ?? ''
      const partition = partitionOf(key, partitions)
      await this.#writer.write([{ topic: names.audit, partition, key, value: codecs.audit.encode(complete) }])
    } catch (error) {
      metrics.auditLost.inc()
      logger.error(
        { event: 'audit-record-lost', err: error, audit: complete },
        'A record of the audit trail could not be written; this line contains it.',
      )
    }
  }
}
