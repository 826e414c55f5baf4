/** The interface of handlers, and the handlers that every worker has. */
export { Announcement } from './announced.ts'
export { builtInHandlers, reservedNameProblem } from './built-in.ts'
export {
  type BatchHandler,
  type BatchOutcome,
  type BatchOutcomes,
  type Handler,
  type Handlers,
  isBatchHandler,
  type Progress,
  payloadOf,
  type ResultsOf,
  type Run,
  type RunLogFields,
  type RunLogLevel,
} from './handler.ts'
export { errorOf, NonRetryableError, namedError, RetryLaterError, runError } from './handler-errors.ts'
export { type Hook, hooksProblem } from './hooks.ts'
export { withoutAnswer } from './http.ts'
export { loadHandlers } from './load-handlers.ts'
export { outcomesProblem } from './partial-batch.ts'
export { type SchemaHandler, withSchema } from './payload-schema.ts'
export {
  type AnyHandler,
  type GivenHandlers,
  type HandlersFor,
  handlerProblem,
  preparedHandlers,
} from './prepared-handlers.ts'
