/**
 * graphile-worker on PostgreSQL: addJobs for many jobs, run_at for later ones. It finds due jobs by polling, 10 times a second
 * here (the default is every 2 s); new ones wake it at once. The batching that its page on performance recommends for short jobs
 * is on.
 */
import { writeBatches } from '../../tools/batches.ts'
import { countRows } from './postgres.ts'
import { concurrency, load, type PeerJob, type System } from './system.ts'

interface Added {
  identifier: string
  payload: { id: string; payload: string }
  runAt?: Date
}
interface Preset {
  preset: { worker: Record<string, unknown> }
}
interface GraphileWorker {
  makeWorkerUtils(options: Preset): Promise<{
    addJob(identifier: string, payload: Added['payload'], spec: { runAt?: Date }): Promise<unknown>
    addJobs(specs: Added[]): Promise<unknown>
    migrate(): Promise<void>
    release(): Promise<void>
  }>
  run(options: Preset & { taskList: Record<string, (payload: Added['payload']) => void> }): Promise<{ stop(): Promise<void> }>
  Logger: new (factory: () => () => void) => unknown
}

const inFlight = 4
const timeOf = ({ dueAtMs }: PeerJob): { runAt?: Date } => (dueAtMs === null ? {} : { runAt: new Date(dueAtMs) })
const presetOf = ({ Logger }: GraphileWorker, connectionString: string, settings: Record<string, unknown> = {}): Preset => ({
  preset: { worker: { connectionString, logger: new Logger(() => () => {}), ...settings } },
})

export const graphileWorker: System = {
  async produce({ url }) {
    const library = await load<GraphileWorker>('graphile-worker')
    const utils = await library.makeWorkerUtils(presetOf(library, url))
    await utils.migrate()
    return {
      async schedule(job) {
        await utils.addJob('bench', { id: job.id, payload: job.payload }, timeOf(job))
      },
      scheduleMany: (jobs) =>
        writeBatches(jobs, inFlight, (batch) =>
          utils.addJobs(
            batch.map((job) => ({ identifier: 'bench', payload: { id: job.id, payload: job.payload }, ...timeOf(job) })),
          ),
        ),
      count: () => countRows(url, 'graphile_worker.jobs'),
      close: () => utils.release(),
    }
  },
  async work({ url }, onStart) {
    const library = await load<GraphileWorker>('graphile-worker')
    const settings = {
      concurrentJobs: concurrency,
      pollInterval: 100,
      maxPoolSize: 12,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    }
    const runner = await library.run({
      ...presetOf(library, url, settings),
      taskList: { bench: ({ id }) => onStart(id) },
    })
    return { close: () => runner.stop() }
  },
}
