/** The worker of a pool. */
export { Executor, type ExecutorView } from './executor.ts'
export {
  type BatchHandler,
  type BatchOutcome,
  type BatchOutcomes,
  builtInHandlers,
  type Handler,
  type Handlers,
  type HandlersFor,
  handlerProblem,
  loadHandlers,
  NonRetryableError,
  type Progress,
  RetryLaterError,
  type Run,
} from './handlers/index.ts'
