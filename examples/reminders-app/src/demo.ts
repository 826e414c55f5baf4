/** Uses the app once from end to end, with a worker in this process, and ends by itself. It says what happened, line by line. */

import { setTimeout as wait } from 'node:timers/promises'
import { createClient, type RunInfo } from 'duelog/client'
import { createWorker } from 'duelog/worker'
import { handlersOf } from './handlers.ts'
import { contactSync, nightlyReport, quote, reminder, reminderId, webhook } from './jobs.ts'
import type { Payloads } from './payloads.ts'
import { openReceiver } from './receiver.ts'
import { cluster, signingKey, url } from './system.ts'

const mails: string[] = []
const atOnce = new Map<string, { now: number; most: number }>()
const receiver = await openReceiver(signingKey)

const worker = createWorker<Payloads>({
  ...cluster,
  // Workers of Duelog and of the app send webhooks, whoever is free. Both may reach this machine, and sign alike.
  httpAllow: ['127.0.0.1'],
  httpSigningKey: signingKey,
  handlers: handlersOf({
    sendMail: async ({ to, subject }) => void mails.push(`${to}: ${subject}`),
    async pushContact(customer, _contact, signal) {
      const count = atOnce.get(customer) ?? { now: 0, most: 0 }
      atOnce.set(customer, count)
      count.most = Math.max(count.most, ++count.now)
      await wait(50, undefined, { signal }).finally(() => count.now--)
    },
  }),
})
await worker.start()
const client = createClient<Payloads>({ url })

// 1. A result that is awaited, as a call to a function elsewhere.
const items = [{ cents: 250, count: 4 }]
console.log('quote:', await client.schedule(quote('ann', items)).result<{ cents: number }>({ timeoutMs: 30_000 }))

// 2. Reminders: Ann's is postponed, Bob buys, Carol is reminded.
await client.schedule(reminder('ann', 'cart-1', 1_000))
const postponed = client.schedule(reminder('ann', 'cart-1', 1_500))
await client.schedule(reminder('bob', 'cart-2', 60_000))
await client.delete(reminderId('cart-2'))
await client.schedule(reminder('carol', 'cart-3', 0)).run({ timeoutMs: 30_000 })
await postponed.run({ timeoutMs: 30_000 })
console.log(`reminders: ${mails.sort().join('; ')}`)

// 3. Reports of last night, each by the zone of its customer.
for (const [customer, timezone] of [
  ['ann', 'Europe/Paris'],
  ['bob', 'Asia/Kolkata'],
  ['carol', 'America/New_York'],
] as const) {
  const { id, schedule } = nightlyReport(customer, timezone)
  await client.schedule(nightlyReport(customer, timezone), { wait: 'applied' })
  const nights = await client.preview(schedule, { from: Date.now() - 2 * 86_400_000, count: 5 })
  const last = nights.findLast(({ atMs }) => atMs <= Date.now())?.atMs ?? 0
  const { commandId } = await client.backfill(id, { from: last, to: last + 1 })
  const run = await client.awaitRun(id, { commandId }, { timeoutMs: 30_000 })
  console.log(`report of ${customer}:`, run.result)
  await client.delete(id)
}

// 4. Limits by customer: ten contacts each, at most two calls at once to each CRM.
const syncs = ['acme', 'globex'].flatMap((customer) => Array.from({ length: 10 }, (_, contact) => contactSync(customer, contact)))
await Promise.all(syncs.map((job) => client.schedule(job).result({ timeoutMs: 60_000 })))
for (const [customer, { most }] of [...atOnce].sort()) console.log(`contacts of ${customer}: at most ${most} at once`)

// 5. Webhooks while the receiver is down; once it is back, the dead ones are redriven.
const events = [1, 2, 3].map((no) => ({ id: `order-${no}`, type: 'order.paid' }))
const runs = await Promise.all(events.map((event) => client.schedule(webhook(receiver.url, event)).run({ timeoutMs: 60_000 })))
console.log(`webhooks: ${runs.map(({ status }) => status).join(', ')}`)
receiver.recover()
const again: Promise<RunInfo>[] = []
for await (const dead of client.deadLetters({ tag: 'webhook' }))
  again.push(client.redrive(dead.jobId, dead.runNo).run({ timeoutMs: 60_000 }))
const statuses = (await Promise.all(again)).map(({ status }) => status)
console.log(`redriven: ${statuses.join(', ')}; delivered: ${receiver.delivered().join(', ')}`)

await worker.close()
await client.close()
await receiver.close()
