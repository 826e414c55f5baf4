/**
 * pg-boss on PostgreSQL: insert for many jobs, startAfter for later ones. New jobs wake it (useListenNotify). It finds due jobs by
 * polling, as often as it allows: twice a second. A handler takes batches, and full batches are followed at once.
 */
import { writeBatches } from '../../tools/batches.ts'
import { countRows } from './postgres.ts'
import { concurrency, load, type PeerJob, type System } from './system.ts'

interface Data {
  id: string
  payload: string
}
interface PgBossModule {
  PgBoss: new (
    options: Record<string, unknown>,
  ) => {
    on(event: 'error', listener: (error: Error) => void): void
    start(): Promise<unknown>
    stop(options: { graceful: boolean }): Promise<void>
    createQueue(name: string, options: { notify: boolean }): Promise<void>
    send(name: string, data: Data, options: { startAfter?: Date }): Promise<unknown>
    insert(name: string, jobs: { data: Data; startAfter?: Date }[]): Promise<unknown>
    work(name: string, options: Record<string, unknown>, handle: (jobs: { data: Data }[]) => Promise<void>): Promise<string>
  }
}

const queueName = 'bench'
const inFlight = 4
const timeOf = ({ dueAtMs }: PeerJob): { startAfter?: Date } => (dueAtMs === null ? {} : { startAfter: new Date(dueAtMs) })

async function start(connectionString: string) {
  const { PgBoss } = await load<PgBossModule>('pg-boss')
  const boss = new PgBoss({ connectionString, useListenNotify: true, max: 12 })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  await boss.createQueue(queueName, { notify: true })
  return boss
}

export const pgBoss: System = {
  async produce({ url }) {
    const boss = await start(url)
    return {
      async schedule(job) {
        await boss.send(queueName, { id: job.id, payload: job.payload }, timeOf(job))
      },
      scheduleMany: (jobs) =>
        writeBatches(jobs, inFlight, (batch) =>
          boss.insert(
            queueName,
            batch.map((job) => ({ data: { id: job.id, payload: job.payload }, ...timeOf(job) })),
          ),
        ),
      count: () => countRows(url, 'pgboss.job'),
      close: () => boss.stop({ graceful: false }),
    }
  },
  async work({ url }, onStart) {
    const boss = await start(url)
    const options = {
      batchSize: concurrency,
      pollingIntervalSeconds: 0.5,
      notifyPollingIntervalSeconds: 0.5,
      burstWhenBatchFull: true,
    }
    await boss.work(queueName, options, async (jobs) => {
      for (const { data } of jobs) onStart(data.id)
    })
    return { close: () => boss.stop({ graceful: false }) }
  },
}
