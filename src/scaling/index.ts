/** How many workers a pool needs: its load, the formula, and the executor processes that follow it. */
export { type PoolLoad, PoolLoads, type PoolLoadsOptions } from './pool-loads.ts'
export { type Decision, type KeptProcesses, ProcessScaler, type ProcessScalerOptions } from './process-scaler.ts'
export { type Decided, firstProcesses, processesWanted, shareOf } from './processes-wanted.ts'
export { type Capacity, type Load, type Wanted, type WantedReason, workersWanted } from './workers-wanted.ts'
