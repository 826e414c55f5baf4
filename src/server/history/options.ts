/** The options of the role history. */
import type { EndedRun, EndedRunInput } from '../../../schemas/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import type { Codec, Log } from '../../ground/ports/index.ts'

export interface HistoryOptions {
  log: Log
  codec: Codec<EndedRun, EndedRunInput>
  names: TopicNames
  /** name@host:pid:boot of this process. */
  instance: string
  /** What other processes need to ask this one (peers/peer-note.ts). */
  userData: () => unknown
  /** The file of the SQLite database. */
  path: string
  /** PostgreSQL instead of the file; all processes with the role share it. */
  url?: string | undefined
  /** Undefined: unknown. A database that has runs of another cluster is not used. */
  clusterId: string | undefined
  /** How long runs are kept, in whole hours. */
  retentionMs: number
  clock: Clock
  metrics: Metrics
  logger: Logger
}
