/** Shared by all commands: options, exit codes, tables, colors, progress. */
export { exitCodeOf, exitCodes, exitTable } from './exit-codes.ts'
export { showWork } from './long-work.ts'
export { choice, integer, number, refusedOption, settingOptions } from './options.ts'
export { countText, type Progress, showProgress } from './progress.ts'
export {
  type Cell,
  jsonText,
  numberText,
  oneLine,
  type Paint,
  painterOf,
  pairsText,
  severalLines,
  statusCell,
  statusText,
  tableText,
  writeAsJson,
} from './style.ts'
export { allRead, hasReader, inputOf, letReadersLeave, type Output, processTerminal, type Terminal } from './terminal.ts'
export {
  exactTime,
  inSentence,
  type RangeFlags,
  rangeOf,
  rangeOptions,
  type TimeText,
  timeForms,
  timeOption,
  timeTextOf,
} from './times.ts'
