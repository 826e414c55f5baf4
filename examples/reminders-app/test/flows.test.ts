/** Whole flows in virtual time: nights and retries take milliseconds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testSystem } from 'duelog/testing'
import { handlersOf } from '../src/handlers.ts'
import { contactSync, nightlyReport, quote, reminder, reminderId } from '../src/jobs.ts'
import type { Payloads } from '../src/payloads.ts'
import { world } from './world.ts'

const dayMs = 86_400_000

test('a reminder is postponed by writing it again, and deleting it takes it back', async () => {
  const outside = world()
  const duelog = testSystem<Payloads>({ handlers: handlersOf(outside) })
  await duelog.schedule(reminder('ann', 'cart-1', dayMs))
  await duelog.schedule(reminder('bob', 'cart-2', dayMs))
  await duelog.advanceBy(dayMs / 2)
  await duelog.schedule(reminder('ann', 'cart-1', dayMs))
  await duelog.delete(reminderId('cart-2'))
  await duelog.advanceBy(dayMs - 1)
  assert.deepEqual(outside.mails, [])
  await duelog.advanceBy(1)
  assert.deepEqual(
    outside.mails.map(({ to }) => to),
    ['ann'],
  )
})

test('reports follow the zone of their customer through the change to summer time', async () => {
  const outside = world()
  const duelog = testSystem<Payloads>({ handlers: handlersOf(outside), now: '2027-03-27T00:00:00Z' })
  await duelog.schedule(nightlyReport('ann', 'Europe/Paris'))
  await duelog.schedule(nightlyReport('bob', 'Asia/Kolkata'))
  await duelog.advanceTo('2027-03-29T12:00:00Z')
  const subjectsOf = (customer: string) => outside.mails.filter(({ to }) => to === customer).map(({ subject }) => subject)
  assert.deepEqual(subjectsOf('ann'), ['Report of 2027-03-27 03:00', 'Report of 2027-03-28 03:00', 'Report of 2027-03-29 03:00'])
  assert.deepEqual(subjectsOf('bob'), ['Report of 2027-03-28 03:00', 'Report of 2027-03-29 03:00'])
})

test('a customer has at most two calls at once', async () => {
  let now = 0
  let most = 0
  const duelog = testSystem<Payloads>({
    handlers: ({ sleep }) =>
      handlersOf({
        ...world(),
        pushContact: async (_customer, _contact, signal) => {
          most = Math.max(most, ++now)
          await sleep(1_000, { signal }).finally(() => now--)
        },
      }),
  })
  for (let contact = 0; contact < 10; contact++) await duelog.schedule(contactSync('acme', contact))
  await duelog.advanceBy(4_999)
  assert.equal((await duelog.run('{acme}/contact/9', 1))?.status, 'RUNNING')
  await duelog.advanceBy(1_000)
  assert.equal((await duelog.run('{acme}/contact/9', 1))?.status, 'SUCCEEDED')
  assert.equal(most, 2)
})

test('the caller of a quote gets its result', async () => {
  const duelog = testSystem<Payloads>({ handlers: handlersOf(world()) })
  const { cents } = await duelog.schedule(quote('ann', [{ cents: 5, count: 3 }])).result<{ cents: number }>()
  assert.equal(cents, 15)
})
