/** Text that people and programs exchange: lossless JSON, times, problems, plurals, suggestions for mistyped names; and hashes of text. */

export { errorKindChars, errorKindOf } from './error-kind.ts'
export { fnv, hashFraction, hiddenHash } from './hashes.ts'
export { isInSeconds, isoTime, parseIsoTime, secondsProblem, timeLimit } from './iso-time.ts'
export {
  type JsonRead,
  JsonText,
  jsonDepthMax,
  jsonProblems,
  jsonType,
  oneLineJson,
  readJson,
  withoutSpace,
  writeJson,
} from './json-text.ts'
export {
  contradiction,
  controls,
  cutText,
  isoOf,
  nearestOf,
  notAllowed,
  oneOf,
  type Problem,
  problemsMax,
  quoted,
  suggestion,
  validText,
  withoutEnd,
} from './problem.ts'
export { counted, duration, type LatenessClass, percentileOf, shareText } from './quantities.ts'
export { type ContextHeaders, type TraceContext, traceContextBytesMax, traceContextOf } from './trace-context.ts'
export {
  type ChangeWords,
  changeWords,
  commandNoun,
  type NamedReason,
  nothingFound,
  type ReasonGroup,
  reasonGroups,
  stateWords,
} from './words.ts'
