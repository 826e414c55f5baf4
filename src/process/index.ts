/** A Duelog process: its identity, data folder, files of secrets and certificates, signals and child processes. */
export { areFiles, type CertificateFiles, certificatesFrom, isPair, isPipe } from './certificate-files.ts'
export { collectGarbage } from './heap.ts'
export {
  advertised,
  firstStarted,
  instanceCharsMax,
  instanceParts,
  isNamed,
  newInstance,
  version,
  zoneRulesVersion,
} from './instance.ts'
export { keepPrivate, privateFileMode, privateFolderMode, writePrivate } from './private-folder.ts'
export { isReservedActor } from './reserved-actors.ts'
export { pemOfFile, secretOfFile } from './secret-files.ts'
export { type Signals, startMsMax, watchSignals } from './signals.ts'
export { guardScript, modulePath, type SupervisedProcess, supervise } from './supervised-process.ts'
