/** Whom questions about a partition are put to. */
import type { PartitionQueries, PartitionView } from '../../ports/index.ts'
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

/** Whoever reads a partition besides its owner. */
export function followersOf(readers: readonly [number, Member][], owners: ReadonlyMap<number, Member>): Map<number, Member[]> {
  const followers = new Map<number, Member[]>()
  for (const [partition, member] of readers) {
    if (owners.get(partition)?.url === member.url) continue
    followers.set(partition, [...(followers.get(partition) ?? []), member])
  }
  return followers
}
