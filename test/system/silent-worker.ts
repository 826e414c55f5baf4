/** A worker that reads runs of the handler `held` and says so, and never starts one of them, because its only slot is taken. The test kills it. */
import { createWorker } from '../../src/clients/library/worker.ts'

const [topicPrefix = '', registryUrl = '', ...brokers] = process.argv.slice(2)
const worker = createWorker({
  ...{ brokers, registryUrl, topicPrefix, concurrency: 1 },
  handlers: {
    held: () => {
      process.send?.('begun')
      return new Promise<never>(() => {})
    },
  },
})
await worker.start()
process.send?.('started')
