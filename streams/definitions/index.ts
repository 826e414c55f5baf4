/** Job definitions: their JSON, defaults and rules. */

export { handlerNameProblem, isPoolName, poolNameLimit } from './cross-field-rules.ts'
export { completeCommand, completeDefinition, withoutDefaults } from './defaults.ts'
export {
  definitionFromJson,
  definitionToJson,
  isJsonType,
  jsonOfValue,
  readPayload,
  valueOrText,
  writePayload,
} from './definition-json.ts'
export { definitionWarnings, previewOf, type ScheduleFire, type SchedulePreview } from './preview.ts'
export { bytesOfBase64, isObject, recordWriter, textOrBase64 } from './record-json.ts'
export { noOccurrenceProblem } from './schedule-rules.ts'
export { isPayloadTooLarge, jobIdBytesMax, limitChecker, validateCommand, validateDefinition, validateJobId } from './validate.ts'
export { withoutEffect } from './without-effect.ts'
