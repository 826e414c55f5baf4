/** Text that people and programs exchange: lossless JSON, times, problems, plurals, suggestions for mistyped names. */
export { type ChangeWords, changeWords, nothingFound } from './change-words.ts'
export { nearestOf, suggestion } from './did-you-mean.ts'
export { isoTime, parseIsoTime, timeLimit } from './iso-time.ts'
export { type JsonRead, JsonText, jsonProblems, jsonType, oneLineJson, readJson, writeJson } from './json-text.ts'
export { type LatenessClass, percentileOf } from './percentile.ts'
export { contradiction, controls, isoOf, notAllowed, oneOf, type Problem, problemsMax, quoted, validText } from './problem.ts'
export { counted, duration } from './quantities.ts'
export { commandNoun, stateWords } from './state-words.ts'
