/** Shared by all commands: options, exit codes, tables, colors, signals. */
export { exitCodeOf, exitCodes, exitTable } from './exit-codes.ts'
export { integer, number } from './numbers.ts'
export { allRead, hasReader, letReadersLeave } from './output.ts'
export { countText, type Progress, showProgress } from './progress.ts'
export { kafkaSettings, refusedOption, settingOptions } from './setting-options.ts'
export { type Signals, watchSignals } from './signals.ts'
export { numberText, oneLine, type Paint, painterOf, pairsText, statusText, tableText } from './style.ts'
export { inputOf, type Output, processTerminal, type Terminal } from './terminal.ts'
