/** Requests and answers: bodies, errors, versions, views. */

export { BoundedWriter, checkSize, KeyedLock, type PlacedRecord } from './bounded-writer.ts'
export { readCertificate, type ServerCertificateFiles, tlsOptions, watchCertificate } from './certificate.ts'
export { type DashboardFile, readDashboard } from './dashboard-files.ts'
export {
  allowedMethods,
  answerError,
  answerNotFound,
  describe,
  problemOf,
  problemType,
  RequestError,
  sendProblem,
} from './problem.ts'
export { hiddenUnless, redacted, shownTo } from './redact.ts'
export { requestChecks } from './request-checks.ts'
export {
  askerOf,
  type Condition,
  checkCondition,
  checkedId,
  conditionOf,
  definitionOf,
  disconnectSignal,
  type ExistingCondition,
  givenId,
  identifiedDefinitionOf,
  type JsonParser,
  type JsonReader,
  jsonReader,
  keyedJobId,
  parseIfMatch,
  ReadingTurns,
  refuseMasks,
  timeOf,
  type Version,
  whileAsked,
} from './request-values.ts'
export {
  activeRunToJson,
  etagOf,
  executionToJson,
  finishedRunToJson,
  jobToJson,
  operationToJson,
  resultToJson,
  runIdOf,
  runsFor,
  runsOf,
  whyToJson,
} from './views.ts'
