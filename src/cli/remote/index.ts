/** Requests of commands to a running Duelog. */
export { ApiClient, type Applied, type LineResult, pagesOf, path, uploadLines } from '../../remote/index.ts'
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
