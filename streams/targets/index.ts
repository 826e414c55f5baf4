/** The kinds of targets of jobs. */
export {
  type GivenTarget,
  handlerOf,
  httpHandlerName,
  isByOwner,
  kindsByWorkers,
  poolOf,
  targetKinds,
  targetOf,
  targetWords,
} from './targets.ts'
