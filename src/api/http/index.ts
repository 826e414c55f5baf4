/** Requests and answers: bodies, errors, versions, views. */
export { activeRunToJson, finishedRunToJson, jobEtag as etagOf, resultToJson, runIdOf } from '../../ports/index.ts'
export { allowedMethods } from './allowed-methods.ts'
export { BoundedWriter, checkSize, type PlacedRecord } from './bounded-writer.ts'
export { readCertificate, type ServerCertificateFiles, tlsOptions, watchCertificate } from './certificate.ts'
export { type DashboardFile, readDashboard } from './dashboard-files.ts'
export { askerOf, disconnectSignal, whileAsked } from './disconnect-signal.ts'
export { type JsonParser, type JsonReader, jsonReader } from './json-body.ts'
export { operationToJson } from './operation-view.ts'
export { answerError, answerNotFound, describe, problemOf, problemType, RequestError, sendProblem } from './problem.ts'
export { hiddenUnless, redacted, shownTo } from './redact.ts'
export { requestChecks } from './request-checks.ts'
export { checkedId, definitionOf, givenId, identifiedDefinitionOf, keyedJobId, refuseMasks, timeOf } from './request-values.ts'
export {
  type Condition,
  checkCondition,
  conditionOf,
  type ExistingCondition,
  parseIfMatch,
  type Version,
} from './version.ts'
export {
  deadRunToJson,
  jobToJson,
  runsFor,
  runsOf,
  whyToJson,
} from './views.ts'
