/** How many workers a pool needs: its load, the formula, and the executor processes that follow it. */
export { type PoolLoad, PoolLoads, type PoolLoadsOptions } from './pool-loads.ts'
export {
  type Decided,
  type Decision,
  firstProcesses,
  type KeptProcesses,
  ProcessScaler,
  type ProcessScalerOptions,
  processesWanted,
  shareOf,
} from './process-scaler.ts'
export { type Load, type Pace, type Wanted, type WantedReason, workersWanted } from './workers-wanted.ts'
