/** The options of the retry forwarder. */
import type { Execution, ExecutionEvent, ExecutionEventInput } from '../../../schemas/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import type { Codec, Log } from '../../ground/ports/index.ts'

export interface RetrierOptions {
  log: Log
  codecs: { execution: Codec<Execution, never>; event: Codec<ExecutionEvent, ExecutionEventInput> }
  names: TopicNames
  /** name@host:pid:boot, sent with each event. */
  instance: string
  clock: Clock
  metrics: Metrics
  logger: Logger
  /**
   * The owners' usual lead in ms: a retry is reported this long before it is due, so that its attempt is dispatched in time.
   * Default 100.
   */
  leadMs?: number
}
