/** The model of the pages: answers of the API, live data, actions, routes, texts. */

export { duration } from '../../../streams/text/index.ts'
export type {
  AttemptError,
  AuditPage,
  AuditRecord,
  CommandResult,
  DeadLetter,
  DeadLetterPage,
  DueJobs,
  DueTime,
  ExecutorProcesses,
  FieldProblem,
  Forecast,
  HandlerList,
  HistoryCounts,
  HistoryPage,
  HistoryRun,
  Job,
  JobDefinition,
  JobExplanation,
  JobPage,
  Limit,
  Operation,
  OwnerState,
  PlannedJob,
  Pool,
  Proof,
  Run,
  RunDetail,
  RunPage,
  Schedule,
  Series,
  Session,
  Settings,
  StatsMessage,
  Worker,
} from '../../answers/index.ts'
export { act, awaited, confirmed, forgetError, notice, question, say } from './actions.ts'
export { type Attempt, attemptsOf } from './attempts.ts'
export { type Cell, type Grid, gridOf, levelOf, rangeOf, type Step, scaleOf, stepMsOf } from './calendar-grid.ts'
export {
  defaultOf,
  type FieldSchema,
  type FieldSchemas,
  fieldAt,
  numbersOf,
  resolved,
  withDefaults,
  withoutDefaults,
} from './definition-schema.ts'
export { type Draft, draftOf, hasDraft, keepDraft, leave } from './drafts.ts'
export { acknowledgeFaults } from './fault-commands.ts'
export { fieldSchemas } from './field-schemas.ts'
export { type Held, useHeld } from './held.ts'
export {
  backfill,
  cancelBackfill,
  cancelJob,
  cancelRun,
  countBackfill,
  createJob,
  pause,
  putJob,
  redrive,
  remove,
  resume,
  retryNow,
  runNow,
  skipNext,
} from './job-commands.ts'
export { type ColoredPart, coloredParts } from './json-colors.ts'
export { type Completion, completionsAt, type KnownNames } from './json-completion.ts'
export {
  changesOf,
  isLongerThan,
  type Merged,
  mergeInto,
  prettyJson,
  same,
  valueAt,
  withMember,
} from './json-edit.ts'
export { placeAt } from './json-place.ts'
export { nodeOfField, parseSource, placeOf } from './json-source.ts'
export { forgetFilter, type KeptFilter, keepFilter, keptFilters, listOf as listOfFilter } from './kept-filters.ts'
export { lastChangeOf } from './last-change.ts'
export { type DiffLine, lineDiff } from './line-diff.ts'
export { connection, isAway, latest, listen, nowMs, staleMs, statsHistory } from './live.ts'
export { isNarrow } from './narrow.ts'
export {
  cancelOperation,
  changing,
  findOperations,
  type OperationAction,
  operate,
  operationTitle,
  watched,
} from './operations.ts'
export { changePool, changeWorker, type PauseWord } from './pause-commands.ts'
export { type Rates, ratesOver } from './rates.ts'
export { ask, path, problemOf, RequestProblem } from './request.ts'
export { useResource } from './resource.ts'
export { followLink, go, jobHref, pages, route, runHref, shownPages } from './routes.ts'
export { type RunLog, RunLogReader } from './run-log.ts'
export { limitsWords, processesWords, wantedWords } from './scaling-words.ts'
export { askOtherTabs, mayOperate, session, signIn, token, wasRefused } from './session.ts'
export { TextHistory, type UndoStep } from './text-history.ts'
export { applyTheme, chooseTheme, dark, type Theme, theme } from './theme.ts'
export { endedOf, runningMedian, trendOf } from './trend.ts'
export { hasUnserved, type LimitsSeen, limitsSeen, standingOf, stoppedOf, troublesOf, type Waits } from './troubles.ts'
export { type ViewHelp, viewHelp } from './view-help.ts'
export { visible } from './visible.ts'
export {
  activeStatuses,
  axisDuration,
  count,
  counted,
  failuresText,
  filterWords,
  instant,
  isActive,
  isStarted,
  jobState,
  lateMsOf,
  rate,
  reasonWords,
  relative,
  runsWait,
  scheduleWords,
  statusWord,
  targetWords,
  triggerWords,
  viewerZone,
  waitWords,
} from './words.ts'
