/** Pools with their workers and runs, and why runs wait for workers. */
import type { JobDefinition } from '../../../../schemas/index.ts'
import type { Reason } from '../../../../streams/jobs/index.ts'
import { handlerOf } from '../../../../streams/targets/index.ts'
import { isoTime } from '../../../../streams/text/index.ts'
import type { TopicNames, TopicPlan } from '../../../../streams/topics/index.ts'
import type { Clock } from '../../../ground/clock/index.ts'
import { withTimeout } from '../../../ground/concurrency/index.ts'
import type {
  ActiveRunView,
  GroupMember,
  JobView,
  KnownPause,
  LogAdmin,
  PauseControl,
  PauseMode,
  PoolNeed,
} from '../../../ground/ports/index.ts'
import { handlersOf, slotsOf } from '../../../ground/records/index.ts'
import type { OwnerDirectory } from '../../peers/index.ts'

/** Names of handlers that are listed for one pool. */
const handlersMax = 1_000

export interface PoolsOptions {
  admin: Pick<LogAdmin, 'groups' | 'groupMembers'>
  owners: Pick<OwnerDirectory, 'views'>
  names: TopicNames
  topics?: readonly TopicPlan[] | undefined
  pauses?: Pick<PauseControl, 'all'> | undefined
  poolNeeds?: (() => Promise<readonly PoolNeed[]>) | undefined
}

export interface PoolView {
  pool: string
  state: 'ACTIVE' | 'PAUSED' | 'DRAINING' | 'DRAINED'
  stateSince: string | null
  pausedBy: string | null
  workers: number
  /** Null: it could not be measured. */
  wanted: { workers: number; reason: PoolNeed['reason']; backlog: number; forecast: number; lateMs: number } | null
  /** Null: a worker does not say how many runs it takes. */
  slots: number | null
  handlers: string[]
  dispatched: number
  running: number
  waiting: number
  withoutHandler: number
  inPausedPool: number
}

/** Drained: nothing is left at work. */
export function stateOf(mode: PauseMode | undefined, atWork: number): PoolView['state'] {
  if (mode === undefined) return 'ACTIVE'
  if (mode === 'PAUSE') return 'PAUSED'
  return atWork > 0 ? 'DRAINING' : 'DRAINED'
}

/** Pools with workers, with active runs, with topics that this process knows, or that are paused. Rejects with `broker-unavailable`. */
export async function listPools({ admin, owners, names, topics = [], pauses, poolNeeds }: PoolsOptions): Promise<PoolView[]> {
  const measuring = poolNeeds?.() ?? []
  const pools = new Map<string, PoolView>()
  const of = (pool: string): PoolView => {
    const known = pools.get(pool) ?? empty(pool)
    pools.set(pool, known)
    return known
  }
  const start = names.executions('\0', 'HIGH').split('\0')[0] ?? ''
  for (const { topic, schema } of topics) {
    const [, pool] = /^(.+)\.high$/.exec(topic.slice(start.length)) ?? []
    if (schema === 'execution' && topic.startsWith(start) && pool !== undefined) of(pool)
  }
  const groups = names.group('exec.')
  for (const groupId of await admin.groups(groups)) {
    const view = of(groupId.slice(groups.length))
    const handlers = new Set<string>()
    for (const { userData } of await admin.groupMembers(groupId)) {
      const slots = slotsOf(userData)
      view.workers++
      view.slots = slots === null || view.slots === null ? null : view.slots + slots
      for (const name of handlersOf(userData) ?? []) if (handlers.size < handlersMax) handlers.add(name)
    }
    view.handlers = [...handlers].sort()
  }
  for (const { pools: counted = [] } of await owners.views()) {
    for (const { pool, dispatched, running, waiting, withoutHandler, inPausedPools } of counted) {
      const view = of(pool)
      view.dispatched += dispatched
      view.running += running
      view.waiting += waiting
      view.withoutHandler += withoutHandler
      view.inPausedPool += inPausedPools
    }
  }
  for (const { pool, wanted: needed, reason, backlog, forecast, lateMs } of await measuring) {
    // A pool is not listed because it once had workers.
    const view = pools.get(pool)
    const rounded = { backlog, forecast: Math.round(forecast), lateMs: Math.round(lateMs) }
    if (view !== undefined) view.wanted = { workers: needed, reason, ...rounded }
  }
  for (const pause of pauses?.all() ?? []) if (pause.kind === 'pool') pools.set(pause.name, withPause(of(pause.name), pause))
  return [...pools.values()].sort((left, right) => (left.pool < right.pool ? -1 : 1))
}

/** The view after a change. */
export function withPause(view: PoolView, pause: Pick<KnownPause, 'mode' | 'at' | 'actor'> | undefined): PoolView {
  return {
    ...view,
    state: stateOf(pause?.mode, view.dispatched + view.running),
    stateSince: pause === undefined ? null : String(isoTime(pause.at)),
    pausedBy: pause?.actor ?? null,
  }
}

const empty = (pool: string): PoolView => ({
  ...{ pool, state: 'ACTIVE', stateSince: null, pausedBy: null, workers: 0, wanted: null, slots: 0, handlers: [] },
  ...{ dispatched: 0, running: 0, waiting: 0, withoutHandler: 0, inPausedPool: 0 },
})

/** Runs of a job that get a sentence. */
const runsNamedMax = 3
/** The answer to `why` waits no longer than this for the brokers. */
const membersMsMax = 2_000

/** What a worker must have for the runs of a job. */
interface Need {
  pool: string
  handler: string
}

/** Why these runs do not start, as far as the workers of their pool are the cause. */
export function serviceReasons(
  runs: readonly Pick<ActiveRunView, 'runNo'>[],
  { pool, handler }: Need,
  members: readonly Pick<GroupMember, 'instance' | 'userData'>[],
): Reason[] {
  const lacking = members.filter(({ userData }) => handlersOf(userData)?.includes(handler) === false)
  const reason = (code: string, text: (run: string) => string): Reason[] =>
    runs.slice(0, runsNamedMax).map(({ runNo }) => ({ code, text: text(`Run ${runNo}`), at: null }))
  if (members.length === 0) return reason('no-worker', (run) => `${run} waits: no worker serves the pool ${pool}.`)
  // Owners send it to a worker that has the handler.
  if (lacking.length < members.length) return []
  return reason('no-handler', (run) => `${run} waits: no worker of pool ${pool} has the handler ${handler}. It loses no attempt.`)
}

export interface ServiceContext {
  admin: Pick<LogAdmin, 'groupMembers'>
  names: TopicNames
  clock: Clock
}

/** The reasons for the active runs of a job; none if the brokers do not answer in time. Runs of earlier definitions are left out. */
export async function serviceReasonsOf(job: JobView, { admin, names, clock }: ServiceContext): Promise<Reason[]> {
  const need = needOf(job.definition)
  const waiting = job.active.filter(
    (run) => run.specOffset === job.offset && (run.status === 'DISPATCHED' || run.waitsFor === 'HANDLER'),
  )
  if (need === undefined || waiting.length === 0) return []
  let members: GroupMember[] | undefined
  const asked = admin.groupMembers(names.group(`exec.${need.pool}`)).then((found) => {
    members = found
  })
  await withTimeout(clock, membersMsMax, asked)
  return members === undefined ? [] : serviceReasons(waiting, need, members)
}

function needOf(spec: JobDefinition | undefined): Need | undefined {
  const handler = spec === undefined ? null : handlerOf(spec.target)
  return spec === undefined || handler === null ? undefined : { pool: spec.target.pool, handler }
}
