/** What the start of each role of one process shares. */
import type { Logger } from 'pino'
import type { topicNames } from '../streams/topics.ts'
import type { Config } from './config/config.ts'
import type { GuardedClock } from './guarded-clock.ts'
import type { Vitals } from './health.ts'
import type { Codecs } from './kafka/codecs.ts'
import type { KafkaLog } from './kafka/log.ts'
import type { CheckedTopics } from './kafka/target-topics.ts'
import type { Metrics } from './metrics.ts'

export interface Parts {
  config: Config
  logger: Logger
  log: KafkaLog
  codecs: Codecs
  names: ReturnType<typeof topicNames>
  partitions: number
  instance: string
  metrics: Metrics
  clock: GuardedClock
  targets: CheckedTopics
  undo: (() => Promise<unknown>)[]
  /** Aborted when a stop waits no longer for brokers that are away. */
  givenUp: AbortSignal
  vitals: Vitals
  /** Of the HTTP server, once it listens. */
  url: string | undefined
}
