/** Whom questions about a partition are put to. */
import type { PartitionQueries, PartitionView } from '../ports.ts'
import type { ProcessCounts } from './process-counts.ts'

/** What an owner answers about one of its partitions. */
export type Owner = Omit<PartitionQueries, 'partitions'>
/** Another process, asked over HTTP. */
export type RemoteOwner = Owner & { partitions(): Promise<PartitionView[]>; counts(): Promise<ProcessCounts> }

/** Of the scheduler group, with the URL that it shows. */
export interface Member {
  instance: string
  url: string
}
