/** The port to the offsets and metadata of brokers. */

/** A partition of a topic. */
export interface TopicPartition {
  topic: string
  partition: number
}

/** Offsets and metadata as the broker knows them. */
export interface LogAdmin {
  /** Earliest and next offset of each partition; what stands behind an open transaction does not count: readers cannot reach it. */
  offsets(topic: string): Promise<{ partition: number; earliest: number; next: number }[]>
  /** Where each partition ends with what stands behind an open transaction. Absent: nobody can say. */
  highWatermarks?(topic: string): Promise<Map<number, number>>
  clusterId(): Promise<string>
  /** What the group has committed for each partition of the topic; partitions without a commit are absent. */
  committed(groupId: string, topic: string): Promise<{ partition: number; offset: number }[]>
  /** Members of a group with their decoded user data and assignment. */
  groupMembers(groupId: string): Promise<{ memberId: string; instance: string; userData: unknown; assigned: TopicPartition[] }[]>
  /** Ids of the consumer groups that begin so. */
  groups(prefix: string): Promise<string[]>
  close(): Promise<void>
}
