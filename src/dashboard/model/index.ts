/** The model of the pages: answers of the API, live data, actions, routes, texts. */
export { act, confirmed, notice, question, say } from './actions.ts'
export {
  type AttemptError,
  activeStatuses,
  type Commanded,
  type DeadLetter,
  type Definition,
  type Fire,
  type Forecast,
  type Job,
  type JobPage,
  type PartitionState,
  type PlannedJob,
  type Proof,
  type Run,
  type RunPage,
  type Schedule,
  type Session,
  type Settings,
  type StatsMessage,
  type Why,
  type Worker,
} from './answers.ts'
export { type Cell, type Grid, gridOf, levelOf, palestOf, rangeOf, type Step } from './calendar-grid.ts'
export { cancelRun, pause, putJob, redrive, remove, resume, runNow } from './job-commands.ts'
export { lineDiff } from './line-diff.ts'
export { connection, latest, listen, nowMs, staleMs, statsHistory } from './live.ts'
export { type Rates, ratesOver } from './rates.ts'
export { ask, path, problemOf, RequestProblem } from './request.ts'
export { useResource } from './resource.ts'
export { followLink, go, jobHref, pages, route } from './routes.ts'
export { mayOperate, session, token } from './session.ts'
export { applyTheme, chooseTheme, dark, type Theme, theme } from './theme.ts'
export { stoppedOf, troublesOf } from './troubles.ts'
export { count, counted, duration, instant, rate, relative, scheduleWords, statusWord, targetWords, viewerZone } from './words.ts'
