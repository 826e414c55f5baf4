/**
 * Reminders: a customer leaves a full cart and gets a reminder later, unless the customer buys or comes back before that.
 * Each cart has one job, named after it. Writing the job again postpones the reminder. Deleting the job removes it.
 */
import { createClient, createWorker } from 'duelog'
import { cluster } from './cluster.ts'

const later = 1_500 // in ms; a real shop would wait for a day

const client = createClient(cluster)
const reminded: string[] = []
const done = Promise.withResolvers<void>()

const worker = createWorker({
  ...cluster,
  handlers: {
    remind: (run) => {
      const { to } = run.payload as { to: string }
      reminded.push(to)
      console.log(`${to}, your cart is still here`)
      if (to === 'carol') done.resolve()
    },
  },
})
await worker.start()

const remind = (to: string) =>
  client.schedule({ id: `reminder/${to}`, schedule: { delayMs: later }, target: { handler: 'remind' }, payload: { to } })

await remind('ann')
await remind('bob')
await remind('carol')
await client.delete('reminder/bob') // Bob buys.
await done.promise
await remind('carol') // Carol comes back and leaves again: a new reminder under the same name.
await client.delete('reminder/carol')

console.log(`reminded: ${reminded.sort().join(', ')}`)
await worker.close()
await client.close()
