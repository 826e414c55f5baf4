/** The workers of all pools: the members of their groups, and the reports that owners have received from them. */
import { isoTime } from '../../../streams/text/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import { handlersOf, type LogAdmin, type WorkerRuns } from '../../ports/index.ts'
import type { OwnerDirectory } from './owner-directory.ts'

interface Pool {
  pool: string
  slots: number | null
  /** Number of partitions of its executions topics that the worker reads. */
  partitions: number
  /** Null: the worker has not announced them. */
  handlers: string[] | null
}

interface Worker {
  pools: Pool[]
  version: string | null
  runs: WorkerRuns
}

/** Maximum number of runs listed for one worker. */
const namedMax = 20

export interface WorkersOptions {
  admin: Pick<LogAdmin, 'groups' | 'groupMembers'>
  owners: OwnerDirectory
  names: TopicNames
  partitions: number
}

/** Rejects with `broker-unavailable`, or with `not-ready` if the owner of a partition cannot be reached. */
export async function listWorkers({ admin, owners, names, partitions }: WorkersOptions): Promise<Record<string, unknown>[]> {
  const workers = new Map<string, Worker>()
  const of = (instance: string): Worker => {
    const known = workers.get(instance)
    if (known !== undefined) return known
    const worker: Worker = { pools: [], version: null, runs: { worker: instance, heardAt: 0, running: 0, runIds: [] } }
    workers.set(instance, worker)
    return worker
  }
  const start = names.group('exec.')
  for (const groupId of await admin.groups(start)) {
    for (const { instance, userData, assigned } of await admin.groupMembers(groupId)) {
      const worker = of(instance)
      const { concurrency, version } = (userData ?? {}) as { concurrency?: unknown; version?: unknown }
      if (typeof version === 'string') worker.version = version
      const slots = typeof concurrency === 'number' ? concurrency : null
      const handlers = handlersOf(userData)
      worker.pools.push({ pool: groupId.slice(start.length), slots, partitions: assigned.length, handlers })
    }
  }
  const answers = Array.from({ length: partitions }, (_, partition) => owners.ask(partition, (owner) => owner.workers(partition)))
  for (const runs of (await Promise.all(answers)).flat()) {
    // A worker that has left is listed while a run of it is open.
    if (runs.running > 0 || workers.has(runs.worker)) add(of(runs.worker).runs, runs)
  }
  return Array.from(workers, ([instance, worker]) => shown(instance, worker)).sort((left, right) =>
    left.instance < right.instance ? -1 : 1,
  )
}

function add(to: WorkerRuns, { heardAt, running, runIds }: WorkerRuns): void {
  to.heardAt = Math.max(to.heardAt, heardAt)
  to.running += running
  to.runIds = [...to.runIds, ...runIds].slice(0, namedMax)
}

function shown(instance: string, { pools, version, runs: { heardAt, running, runIds } }: Worker) {
  const [, name = null, host = null, pid = null] = /^(.*)@(.*):(\d+):[^:]*$/.exec(instance) ?? []
  return {
    ...{ instance, name, host, pid: pid === null ? null : Number(pid), version, connected: pools.length > 0, pools },
    ...{ running, runIds, lastHeardAt: heardAt === 0 ? null : isoTime(heardAt) },
  }
}
