/**
 * Which roles share an event loop. Nothing that is not the engine may hold the loop that fires, so the roles of one Duelog run in up to
 * three processes (ADR 0127).
 */
import type { Config } from '../../ground/config/index.ts'

type Role = Config['roles'] extends ReadonlySet<infer Each> ? Each : never

const engineRoles: readonly Role[] = ['scheduler', 'retrier']
const frontRoles: readonly Role[] = ['api', 'intake', 'auditor', 'history']

export interface RoleSets {
  /** Of the main process. */
  main: ReadonlySet<Role>
  /** Of the front as a child process. Empty: there is none. */
  front: ReadonlySet<Role>
  /** Number of executor processes. With `max` 0 the main process runs the role, or nobody does. */
  executors: Config['executorProcesses']
}

/** `isSeparate` false: all roles are in the main process, unless the settings ask for executor processes. */
export function roleSetsOf(
  { roles, executorProcesses, given }: Pick<Config, 'roles' | 'executorProcesses' | 'given'>,
  isSeparate: boolean,
): RoleSets {
  const engine = engineRoles.filter((role) => roles.has(role))
  const front = frontRoles.filter((role) => roles.has(role))
  const hasOthers = engine.length + front.length > 0
  const isByDefault = given.DUELOG_EXECUTOR_PROCESSES === undefined && isSeparate && hasOthers && roles.has('executor')
  const executors = isByDefault ? { min: 1, max: 1 } : executorProcesses
  const own = executors.max === 0 ? [...roles] : [...roles].filter((role) => role !== 'executor')
  const isFrontApart = isSeparate && engine.length > 0
  return {
    main: new Set(isFrontApart ? own.filter((role) => !front.includes(role)) : own),
    front: new Set(isFrontApart ? front : []),
    executors,
  }
}
