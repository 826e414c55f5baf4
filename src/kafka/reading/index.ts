/** Readers: members of a group, and bounded readers of a whole topic. */
export { type BoundedRead, readToEnd, type Span } from './bounded-reader.ts'
export { KafkaGroupReader } from './reader.ts'
