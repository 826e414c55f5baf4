/** From records as read to input of a batch, with limits on what waits. */
export { AppliedWaits, type Wait } from './applied-waits.ts'
export { EndOffsetQueries, endOf, firstOffset, type Range, rangeOf, readableEnd, shrunk } from './end-offsets.ts'
export {
  InputBuffer,
  type InputRecord,
  inputBufferBytesOf,
  type Named,
  nameOf,
  runOf,
  type Source,
  timerName,
  waiterName,
} from './input-buffer.ts'
export { InputDecoder } from './input-decoder.ts'
export { type AppliedOffsets, commandsRead, LogPositions, perhapsTaken, type Taken } from './log-positions.ts'
export { PartitionInput, ReadingPace } from './partition-input.ts'
export { PartitionReader, type ReadSource, readSources } from './partition-reader.ts'
