/**
 * A fan-out: 10,000 notifications at one instant, at most 50 in progress at a time. Duelog dispatches the burst before it is due
 * and Kafka holds it. So the worker begins at the instant, and its concurrency alone sets the speed.
 * The `concurrency` of one worker is the cheapest limit. A `concurrencyKey` with its `concurrencyLimit` limits all workers
 * together, or one kind of job among others.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { createClient, createWorker } from 'duelog'
import { cluster } from './cluster.ts'

const count = 10_000
const concurrency = 50

const sent = new Set<string>()
let running = 0
let mostAtOnce = 0
const all = Promise.withResolvers<void>()

const worker = createWorker({
  ...cluster,
  concurrency,
  handlers: {
    notify: async (run) => {
      mostAtOnce = Math.max(mostAtOnce, ++running)
      await wait(5) // here your code calls the service that sends notifications
      running--
      sent.add(run.executionId)
      if (sent.size === count) all.resolve()
    },
  },
})
await worker.start()

const client = createClient(cluster)
const at = Date.now() + 5_000
function* jobs() {
  for (let user = 0; user < count; user++) {
    yield { id: `launch/${user}`, schedule: { at }, target: { handler: 'notify' }, payload: { user } }
  }
}
const { accepted } = await client.scheduleMany(jobs())
console.log(`scheduled: ${accepted}`)

await all.promise
console.log(`sent: ${sent.size}, at most ${mostAtOnce} at once, the last ${Date.now() - at} ms after its time`)
await worker.close()
await client.close()
