/** Who answers queries about a partition. */
import type { PartitionQueries, PartitionView } from '../../ports/index.ts'
import type { ProcessCounts } from './process-counts.ts'

/** Queries that an owner answers about one of its partitions. */
export type Owner = Omit<PartitionQueries, 'partitions'>
/** Another process, called over HTTP. */
export type RemoteOwner = Owner & { partitions(): Promise<PartitionView[]>; counts(): Promise<ProcessCounts> }

/** A member of the scheduler group, with its published URL. */
export interface Member {
  instance: string
  url: string
}

/** Readers of each partition besides its owner. */
export function followersOf(readers: readonly [number, Member][], owners: ReadonlyMap<number, Member>): Map<number, Member[]> {
  const followers = new Map<number, Member[]>()
  for (const [partition, member] of readers) {
    if (owners.get(partition)?.url === member.url) continue
    followers.set(partition, [...(followers.get(partition) ?? []), member])
  }
  return followers
}
