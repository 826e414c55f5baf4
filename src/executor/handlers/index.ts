/** The interface of handlers, and the handlers that every worker has. */
export { builtInHandlers } from './built-in.ts'
export {
  type BatchHandler,
  type BatchOutcome,
  type BatchOutcomes,
  type Handler,
  type Handlers,
  type HandlersFor,
  handlerProblem,
  isBatchHandler,
  type Progress,
  payloadOf,
  type Run,
} from './handler.ts'
export { errorOf, NonRetryableError, namedError, RetryLaterError, runError } from './handler-errors.ts'
export { loadHandlers } from './load-handlers.ts'
