/** Shared by all commands: options, exit codes, tables, colors, progress. */
export { type Progress, showProgress, showWork } from './long-work.ts'
export { choice, integer, number, refusedOption, settingOptions } from './options.ts'
export {
  type Cell,
  countText,
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
export {
  allRead,
  exitCodeOf,
  exitCodes,
  exitTable,
  hasReader,
  inputOf,
  letReadersLeave,
  type Output,
  processTerminal,
  type Terminal,
} from './terminal.ts'
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
