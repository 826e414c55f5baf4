/** The worker of the app. It runs until SIGINT or SIGTERM, and then lets its handlers finish. */

import { setTimeout as wait } from 'node:timers/promises'
import { createWorker, type Hook } from 'duelog/worker'
import { handlersOf, type World } from './handlers.ts'
import type { Payloads } from './payloads.ts'
import { cluster, signingKey } from './system.ts'

/** A real app calls its mail service and its CRM here. */
const world: World = {
  sendMail: async ({ to, subject }) => console.log(`mail to ${to}: ${subject}`),
  pushContact: async (_customer, _contact, signal) => wait(50, undefined, { signal }),
}

const log: Hook = { error: (run, error) => console.error(`${run.executionId}, attempt ${run.attempt}:`, error) }

const worker = createWorker<Payloads>({
  ...cluster,
  handlers: handlersOf(world),
  hooks: [log],
  // The built-in handler http must not reach this machine unless it is allowed to. A real app leaves this out.
  httpAllow: ['127.0.0.1'],
  httpSigningKey: signingKey,
})
await worker.start()
console.log('The worker is ready.')
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => worker.close())
