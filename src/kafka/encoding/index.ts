/** Encodes records into the bytes of the log. */
export { type BatchOptions, type BatchRecord, encodeBatch } from './record-batch.ts'
