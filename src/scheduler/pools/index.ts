/** The workers of pools: which of them has which handler. */
export { PoolWorkers } from './pool-workers.ts'
