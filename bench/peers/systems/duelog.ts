/** Duelog: its client in one process, its worker in another, and an owner that `servers.ts` starts. */

import { createClient } from '../../../src/clients/library/create-client.ts'
import { createWorker } from '../../../src/clients/library/create-worker.ts'
import { connectLog } from '../../../src/log/kafka/log.ts'
import { topicNames } from '../../../streams/topics/topics.ts'
import { concurrency, type PeerJob, type System } from './system.ts'

const definition = ({ id, dueAtMs, payload }: PeerJob) => ({
  id,
  schedule: { at: dueAtMs ?? Date.now() },
  target: { handler: 'bench' },
  payload,
  contentType: 'text/plain',
})

export const duelog: System = {
  async produce({ url, registryUrl, prefix }) {
    const client = createClient({ brokers: [url], registryUrl, topicPrefix: prefix })
    return {
      async schedule(job) {
        await client.schedule(definition(job))
      },
      async scheduleMany(jobs) {
        await client.scheduleMany(definitions(jobs))
      },
      /** Different keys of the topic `jobs`. */
      async count() {
        const keys = new Set<string>()
        await connectLog({ brokers: [url], clientId: 'bench' }).readToEnd({
          topics: [topicNames(prefix).jobs],
          onRecord: ({ key, value }) => void (value === null || keys.add(String(key))),
          onProgress: () => {},
          signal: AbortSignal.timeout(60_000),
        })
        return keys.size
      },
      close: () => client.close(),
    }
  },
  async work({ url, registryUrl, prefix }, onStart) {
    const handlers = { bench: (run: { jobId: string }) => onStart(run.jobId) }
    const worker = createWorker({ brokers: [url], registryUrl, topicPrefix: prefix, concurrency, handlers })
    await worker.start()
    return worker
  },
}

function* definitions(jobs: Iterable<PeerJob>) {
  for (const job of jobs) yield definition(job)
}
