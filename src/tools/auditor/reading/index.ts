/** Reads records about runs: what each says, how far the topics were read, and from when they are complete. */
export { CompleteFrom, type CompleteTimes, Lanes } from './lanes.ts'
export { LogFollower } from './log-follower.ts'
export { PausedPools } from './paused-pools.ts'
export {
  type Dispatch,
  type Fact,
  type FactCodecs,
  factOf,
  type Plan,
  type PlanSpec,
  planSpec,
  poolOf,
  type Report,
} from './record-facts.ts'
