/** Requests of commands to a running Duelog. */
export { type ApiClient, path } from './api-client.ts'
export { type Applied, type LineResult, uploadLines } from './batch-upload.ts'
export { type Done, forEach } from './each.ts'
export { pagesOf } from './pages.ts'
export {
  type CommandFrame,
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
