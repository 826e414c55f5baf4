/** The workers of all pools: the members of their groups, the paused ones, and the reports that owners have received from them. */
import { isoTime } from '../../../../streams/text/index.ts'
import type { TopicNames } from '../../../../streams/topics/index.ts'
import type { GroupMember, KnownPause, LogAdmin, PauseControl, WorkerRuns } from '../../../ground/ports/index.ts'
import { instanceParts } from '../../../ground/process/index.ts'
import { handlersOf, type ProcessesNote, processesNoteOf, slotsOf, versionOf } from '../../../ground/records/index.ts'
import type { OwnerDirectory } from '../../peers/index.ts'
import { stateOf } from './pools.ts'

interface Pool {
  pool: string
  slots: number | null
  /** Number of partitions of its executions topics that the worker reads. */
  partitions: number
  /** Null: the worker has not announced them. */
  handlers: string[] | null
  /** Whether the worker has left its group, because it is paused. */
  isLeft?: boolean
}

interface Worker {
  pools: Pool[]
  version: string | null
  runs: WorkerRuns
}

/** Maximum number of runs listed for one worker. */
const namedMax = 20

export type WorkerView = ReturnType<typeof shown>

export interface WorkersOptions {
  admin: Pick<LogAdmin, 'groups' | 'groupMembers'>
  owners: OwnerDirectory
  names: TopicNames
  partitions: number
  pauses?: Pick<PauseControl, 'all'> | undefined
}

/** The members of the group of each pool. Rejects with `broker-unavailable`. */
export async function membersByPool({
  admin,
  names,
}: Pick<WorkersOptions, 'admin' | 'names'>): Promise<Map<string, GroupMember[]>> {
  const start = names.group('exec.')
  const found = new Map<string, GroupMember[]>()
  for (const groupId of await admin.groups(start)) found.set(groupId.slice(start.length), await admin.groupMembers(groupId))
  return found
}

/** Rejects with `broker-unavailable`, or with `not-ready` if the owner of a partition cannot be reached. */
export async function listWorkers(
  { owners, partitions, pauses, ...options }: WorkersOptions,
  asked = membersByPool(options),
): Promise<WorkerView[]> {
  const workers = new Map<string, Worker>()
  const of = (instance: string): Worker => {
    const known = workers.get(instance)
    if (known !== undefined) return known
    const worker: Worker = { pools: [], version: null, runs: { worker: instance, heardAt: 0, running: 0, runIds: [] } }
    workers.set(instance, worker)
    return worker
  }
  for (const [pool, members] of await asked) {
    for (const { instance, userData, assigned } of members) {
      const worker = of(instance)
      worker.version = versionOf(userData) ?? worker.version
      worker.pools.push({ pool, slots: slotsOf(userData), partitions: assigned.length, handlers: handlersOf(userData) })
    }
  }
  const paused = new Map(pauses?.all().flatMap((pause) => (pause.kind === 'worker' ? [[pause.name, pause]] : [])))
  // A paused worker has left its groups.
  for (const { name, pools } of paused.values()) if (!workers.has(name)) of(name).pools = pools.map(pausedPool)
  const answers = Array.from({ length: partitions }, (_, partition) => owners.ask(partition, (owner) => owner.workers(partition)))
  for (const runs of (await Promise.all(answers)).flat()) {
    // A worker that has left is listed while a run of it is open.
    if (runs.running > 0 || workers.has(runs.worker)) add(of(runs.worker).runs, runs)
  }
  return Array.from(workers, ([instance, worker]) => shown(instance, worker, paused.get(instance))).sort((left, right) =>
    left.instance < right.instance ? -1 : 1,
  )
}

function add(to: WorkerRuns, { heardAt, running, runIds }: WorkerRuns): void {
  to.heardAt = Math.max(to.heardAt, heardAt)
  to.running += running
  to.runIds = [...to.runIds, ...runIds].slice(0, namedMax)
}

/** The view after a change. */
export function withWorkerPause(view: WorkerView, pause: KnownPause | undefined): WorkerView {
  return { ...view, ...pauseFields(pause, view.running) }
}

const pauseFields = (pause: KnownPause | undefined, running: number) => ({
  state: stateOf(pause?.mode, running),
  stateSince: pause === undefined ? null : isoTime(pause.at),
  pausedBy: pause?.actor ?? null,
})

const pausedPool = (pool: string): Pool => ({ pool, slots: null, partitions: 0, handlers: null, isLeft: true })

function shown(instance: string, { pools, version, runs: { heardAt, running, runIds } }: Worker, pause: KnownPause | undefined) {
  return {
    ...{ instance, ...partsOf(instance), version },
    connected: pools.some(({ isLeft }) => !isLeft),
    pools: pools.map(({ isLeft: _, ...pool }) => pool),
    ...pauseFields(pause, running),
    ...{ running, runIds, lastHeardAt: heardAt === 0 ? null : isoTime(heardAt) },
  }
}

/** Null for what a foreign member lacks. */
const partsOf = (instance: string) => instanceParts(instance) ?? { name: null, host: null, pid: null }

/** Executor processes with one parent. */
interface Siblings {
  note: ProcessesNote
  members: Set<string>
  pools: Set<string>
}

export type ExecutorsView = ReturnType<typeof shownExecutors>

/** The executor processes of each parent, as they announce it to their groups. Rejects with `broker-unavailable`. */
export async function listExecutors(
  options: Pick<WorkersOptions, 'admin' | 'names'>,
  asked = membersByPool(options),
): Promise<ExecutorsView[]> {
  const parents = new Map<string, Siblings>()
  for (const [pool, members] of await asked) {
    for (const { instance, userData } of members) {
      const note = processesNoteOf(userData)
      if (note === undefined) continue
      const known = parents.get(note.parent) ?? { note, members: new Set(), pools: new Set() }
      // A member that has not joined again since a decision announces the one before.
      if (note.at > known.note.at) known.note = note
      known.members.add(instance)
      known.pools.add(pool)
      parents.set(note.parent, known)
    }
  }
  return [...parents.values()].map(shownExecutors).sort((left, right) => (left.parent < right.parent ? -1 : 1))
}

function shownExecutors({ note, members, pools }: Siblings) {
  const { parent, wanted, min, max, reason, pool, at, coolDownMs } = note
  return {
    ...{ parent, ...partsOf(parent), pools: [...pools].sort(), running: members.size, wanted, min, max },
    ...{ reason, reasonPool: pool, since: isoTime(at), coolDownMs },
  }
}
