/** The port to the offsets and metadata of brokers. */

/** A partition of a topic. */
export interface TopicPartition {
  topic: string
  partition: number
}

/** Offsets and metadata from the brokers. */
export interface LogAdmin {
  /** Earliest and next offset of each partition. Records after an open transaction do not count, because readers cannot reach them. */
  offsets(topic: string): Promise<{ partition: number; earliest: number; next: number }[]>
  /** End of each partition, with the records after an open transaction. Absent: not available. */
  highWatermarks?(topic: string): Promise<Map<number, number>>
  clusterId(): Promise<string>
  /** Committed offset of the group for each partition of the topic. Partitions without a commit are absent. */
  committed(groupId: string, topic: string): Promise<{ partition: number; offset: number }[]>
  /** Members of a group with their decoded user data and assignment. */
  groupMembers(groupId: string): Promise<{ memberId: string; instance: string; userData: unknown; assigned: TopicPartition[] }[]>
  /** Ids of the consumer groups with this prefix. */
  groups(prefix: string): Promise<string[]>
  close(): Promise<void>
}
