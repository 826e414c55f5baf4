/** BullMQ on Redis: addBulk for many jobs, `delay` for later ones, as its documentation says. Finished jobs are removed. */
import { writeBatches } from '../../tools/batches.ts'
import { concurrency, load, type PeerJob, type System } from './system.ts'

interface Options {
  connection: { url: string; maxRetriesPerRequest: null }
}
interface Added {
  name: string
  data: { id: string; payload: string }
  opts: { delay: number; removeOnComplete: true }
}
interface Bullmq {
  Queue: new (
    name: string,
    options: Options,
  ) => {
    add(name: string, data: Added['data'], opts: Added['opts']): Promise<unknown>
    addBulk(jobs: Added[]): Promise<unknown>
    getJobCounts(...types: string[]): Promise<Record<string, number>>
    close(): Promise<void>
  }
  Worker: new (
    name: string,
    handle: (job: { data: Added['data'] }) => Promise<void>,
    options: Options & { concurrency: number },
  ) => { waitUntilReady(): Promise<unknown>; close(): Promise<void> }
}

const queueName = 'bench'
const inFlight = 4
const optionsOf = (url: string): Options => ({ connection: { url, maxRetriesPerRequest: null } })
const addedOf = ({ id, dueAtMs, payload }: PeerJob): Added => ({
  name: 'bench',
  data: { id, payload },
  opts: { delay: dueAtMs === null ? 0 : Math.max(0, dueAtMs - Date.now()), removeOnComplete: true },
})

export const bullmq: System = {
  async produce({ url }) {
    const { Queue } = await load<Bullmq>('bullmq')
    const queue = new Queue(queueName, optionsOf(url))
    return {
      async schedule(job) {
        const { name, data, opts } = addedOf(job)
        await queue.add(name, data, opts)
      },
      scheduleMany: (jobs) => writeBatches(jobs, inFlight, (batch) => queue.addBulk(batch.map(addedOf))),
      async count() {
        const counts = await queue.getJobCounts('delayed', 'waiting', 'active', 'prioritized')
        return Object.values(counts).reduce((sum, count) => sum + count, 0)
      },
      close: () => queue.close(),
    }
  },
  async work({ url }, onStart) {
    const { Worker } = await load<Bullmq>('bullmq')
    const worker = new Worker(queueName, async ({ data }) => onStart(data.id), { ...optionsOf(url), concurrency })
    await worker.waitUntilReady()
    return worker
  },
}
