/** The values that the starts of all roles of a process share. */
import type { topicNames } from '../../../streams/topics/index.ts'
import type { GuardedClock } from '../../ground/clock/index.ts'
import type { Config } from '../../ground/config/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import type { CheckedTopics, Codecs, CodecsSeed, KafkaLog } from '../../log/kafka/index.ts'
import type { PauseBook } from '../../log/pauses/index.ts'
import type { ProcessHealth } from './health.ts'

export interface ProcessContext {
  config: Config
  logger: Logger
  log: KafkaLog
  codecs: Codecs & { seed: CodecsSeed }
  names: ReturnType<typeof topicNames>
  partitions: number
  instance: string
  metrics: Metrics
  clock: GuardedClock
  targets: CheckedTopics
  pauses: PauseBook
  undo: (() => Promise<unknown>)[]
  /** Aborted when a stop no longer waits for unreachable brokers. */
  givenUp: AbortSignal
  vitals: ProcessHealth
  /** URL of the HTTP server, or of its front. Undefined until it listens if the system chooses the port, and in a child process of workers. */
  url: string | undefined
  /** Whether that server is in a process of its own. */
  hasFront: boolean
  /** Besides what each worker announces to its group. */
  announced: (() => object) | undefined
}
