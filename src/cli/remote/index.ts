/** Requests of commands to a running Duelog. */
export { type ApiClient, pagesOf, path } from './api-client.ts'
export { type Applied, type LineResult, uploadLines } from './batch-upload.ts'
export {
  type CommandFrame,
  type Done,
  forEach,
  idempotencyOf,
  idempotencyOption,
  type RemoteFlags,
  remoteCommand,
  remotely,
  type Shell,
  staleOption,
  staleQueryOf,
  withExamples,
} from './remote-command.ts'
