/** The interface of handlers, and the handlers that every worker has. */
export { builtInHandlers, reservedNameProblem } from './built-in.ts'
export {
  type BatchHandler,
  type BatchOutcome,
  type BatchOutcomes,
  errorOf,
  type Handler,
  type Handlers,
  isBatchHandler,
  NonRetryableError,
  namedError,
  type Progress,
  payloadOf,
  type ResultsOf,
  RetryLaterError,
  type Run,
  type RunLogFields,
  type RunLogLevel,
  runError,
} from './handler.ts'
export { type Hook, hooksProblem } from './hooks.ts'
export { loadHandlers } from './load-handlers.ts'
export { outcomesProblem } from './partial-batch.ts'
export { type SchemaHandler, withSchema } from './payload-schema.ts'
export {
  Announcement,
  type AnyHandler,
  type GivenHandlers,
  type HandlersFor,
  handlerProblem,
  preparedHandlers,
} from './prepared-handlers.ts'
