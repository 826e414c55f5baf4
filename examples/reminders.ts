/**
 * Reminders: somebody left a full cart, and hears of it later, unless they bought meanwhile or came back.
 * One job for each cart, named after it: to write it again is to put it off, to cancel it is to forget it.
 */
import { createClient, createWorker } from 'duelog'
import { cluster } from './cluster.ts'

const later = 1_500 // ms; a day in a real shop

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
await client.cancel('reminder/bob') // Bob has bought.
await done.promise
await remind('carol') // Carol came back and left again: a new reminder under the same name.
await client.cancel('reminder/carol')

console.log(`reminded: ${reminded.sort().join(', ')}`)
await worker.close()
await client.close()
