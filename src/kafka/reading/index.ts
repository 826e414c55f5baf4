/** Readers: members of a group, bounded readers of a whole topic, and readers of a part of a partition. */
export { type BoundedRead, readToEnd, type Span } from './bounded-reader.ts'
export { KafkaRangeReader } from './range-reader.ts'
export { KafkaGroupReader } from './reader.ts'
