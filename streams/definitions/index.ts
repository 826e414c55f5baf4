/** Job definitions: their JSON, defaults and rules. */
export { completeCommand, completeDefinition } from './defaults.ts'
export { definitionFromJson, definitionToJson } from './definition-json.ts'
export { limitChecker } from './field-limits.ts'
export { limitWarnings } from './limit-rules.ts'
export { isJsonType, jsonOfValue, readPayload, valueOrText, writePayload } from './payload-json.ts'
export { bytesOfBase64, isObject, textOrBase64 } from './record-json.ts'
export { noOccurrenceProblem } from './schedule-rules.ts'
export { jobIdBytesMax, validateCommand, validateDefinition, validateJobId } from './validate.ts'
