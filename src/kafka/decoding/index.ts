/** Decodes the bytes of a fetch into records. */
export { type AbortedTransaction, withoutAborted } from './aborted-records.ts'
export { batchAt, beforeLength, transactionalMask } from './batch-layout.ts'
export type { FetchedMessage, Room } from './fetched-message.ts'
export { decodeBatches, roomOfAnswer } from './record-batches.ts'
