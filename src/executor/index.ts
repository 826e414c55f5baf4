/** The worker of a pool. */
export { Executor, type ExecutorView } from './executor.ts'
export {
  type AnyHandler,
  type BatchHandler,
  type BatchOutcome,
  type BatchOutcomes,
  builtInHandlers,
  type GivenHandlers,
  type Handler,
  type Handlers,
  type HandlersFor,
  type Hook,
  handlerProblem,
  hooksProblem,
  loadHandlers,
  NonRetryableError,
  type Progress,
  RetryLaterError,
  type Run,
  type SchemaHandler,
  withSchema,
} from './handlers/index.ts'
