/** What several parts write into records and announcements, and read from them again: decoders, marks, names. */
export { decodeExecution, keptBytes, knownDefinition } from './decoders.ts'
export {
  addKind,
  bulkActions,
  byDeath,
  commandIdOf,
  commandPrefixOf,
  faultIdOf,
  hasEnded,
  inRarity,
  isImmediate,
  jobActions,
  ownerProblem,
  runActions,
  sizeOfView,
} from './owners.ts'
export {
  type CheckedPayload,
  checkPayload,
  isPayloadSchema,
  type PayloadInput,
  type PayloadOutput,
  type PayloadSchema,
  type PayloadsOf,
} from './payload-schema.ts'
export {
  closedText,
  handlersOf,
  isClosed,
  type ProcessesNote,
  processesNoteOf,
  slotsOf,
  type TakenRuns,
  takenOf,
  takenText,
  versionOf,
} from './worker-data.ts'
