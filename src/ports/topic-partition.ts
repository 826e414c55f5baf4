/** Where a record stands, but for its offset. */
export interface TopicPartition {
  topic: string
  partition: number
}
