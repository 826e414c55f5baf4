/** The options of the intake of foreign schedules. */
import type { JobDefinition, JobDefinitionInput } from '../../../schemas/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import type { Codec, Log, TargetTopics } from '../../ground/ports/index.ts'

/** Schedulers whose records are understood. */
export const dialects = ['etf1', 'karafka'] as const
export type Dialect = (typeof dialects)[number]

export interface IntakeOptions {
  log: Log
  definition: Codec<JobDefinition, JobDefinitionInput>
  names: TopicNames
  /** Prefix of the transactional ids. */
  prefix: string
  /** Topics with schedules, by scheduler. */
  topics: Record<Dialect, readonly string[]>
  /** Topics to which receipts may go. */
  targets: TargetTopics
  instance: string
  clock: Clock
  metrics: Metrics
  logger: Logger
}
