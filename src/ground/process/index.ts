/** A Duelog process: its identity, data folder, files of secrets and certificates, signals and child processes. */

export { collectGarbage } from './heap.ts'
export {
  advertised,
  firstStarted,
  instanceCharsMax,
  instanceParts,
  isNamed,
  isReservedActor,
  newInstance,
  version,
  zoneRulesVersion,
} from './instance.ts'
export { keepPrivate, privateFileMode, privateFolderMode, writePrivate } from './private-folder.ts'
export { areFiles, type CertificateFiles, certificatesFrom, isPair, isPipe, pemOfFile, secretOfFile } from './secret-files.ts'
export { type Signals, startMsMax, watchSignals } from './signals.ts'
export { guardScript, modulePath, type SupervisedProcess, supervise } from './supervised-process.ts'
export { answerCalls, ThreadCalls, type ThreadError, threadErrorOf } from './thread-calls.ts'
