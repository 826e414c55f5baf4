/** What a scheduler is given. */
import type { Logger } from 'pino'
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../clock/index.ts'
import type { IdleTime } from '../../concurrency/index.ts'
import type { Metrics } from '../../metrics/index.ts'
import type { Log, LogAdmin, PartitionStores, TargetTopics } from '../../ports/index.ts'
import type { SchedulerCodecs } from './codecs.ts'

export interface SchedulerOptions {
  log: Log
  codecs: SchedulerCodecs
  names: TopicNames
  /** Prefix of the group and of the transactional ids. */
  prefix: string
  /** Partitions of every topic. */
  partitions: number
  /** name@host:pid:boot of this process. */
  instance: string
  /** Shown to describeGroups: how other processes reach this one's queries. */
  userData: () => unknown
  stores: PartitionStores
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** Standbys of each partition, as far as there are other members. Default: none. */
  standbys?: number
  /** Version of the time zone rules of this process, such as 2026a. Default: unknown, which is one of its own. */
  zoneRules?: string
  /** ms before its due time at which a run is dispatched. */
  leadMs: number
  /** ms before its due time at which a run of a herd may be dispatched; at least leadMs. */
  leadMsMax: number
  /** ms between two commits of a partition while nothing is due. */
  lingerMs: number
  /** delete.retention.ms of jobs and job-state. */
  tombstoneRetentionMs: number
  /** Topics of the user's that jobs and receipts may go to. Default: none. */
  targets?: TargetTopics | undefined
  /** Says how long searches that can wait rest. Default: that of this thread. */
  spare?: Pick<IdleTime, 'rest'>
  /** Called when a partition fails in a way that trying again does not mend; the process should end. */
  onFatal: (error: Error) => void
}

/** What the partitions of one scheduler share. */
export interface Shared extends SchedulerOptions {
  admin: LogAdmin
  clusterId: string
}
