/** Every metric of a process, and the exposition of /metrics. */
export {
  added,
  allShown,
  countsIn,
  expose,
  type MetricsSource,
  named,
  type Reading,
  type Shown,
  shownOf,
  whenRead,
} from './exposition.ts'
export { type Metrics, newMetrics, silentMetrics } from './metrics.ts'
