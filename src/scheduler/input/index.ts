/** From records as read to input of a batch, with limits on what waits. */
export { AppliedWaits, type Wait } from './applied-waits.ts'
export { Backpressure } from './backpressure.ts'
export { EndOffsetQueries, endOf, firstOffset, type Range, rangeOf, readableEnd, shrunk } from './end-offsets.ts'
export { EventsWatermark } from './events-watermark.ts'
export {
  InputBuffer,
  type InputRecord,
  inputBufferBytesOf,
  inputRecordName,
  runOf,
  type Source,
  timerName,
  waiterName,
} from './input-buffer.ts'
export { InputDecoder } from './input-decoder.ts'
export { type AppliedOffsets, LogPositions } from './log-positions.ts'
export { PartitionReader, type ReadSource, readSources } from './partition-reader.ts'
export { ReadingPace } from './reading-pace.ts'
export { commandsRead, perhapsTaken, type Taken } from './taken-commands.ts'
