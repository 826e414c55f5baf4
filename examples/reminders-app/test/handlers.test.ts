/** Handlers alone, with a run that is made by hand: no Kafka, no Duelog, no time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeRun } from 'duelog/testing'
import { NonRetryableError } from 'duelog/worker'
import { handlersOf, nightOf } from '../src/handlers.ts'
import { world } from './world.ts'

const handlers = handlersOf(world())

test('a reminder is one mail, whose key is the same for each attempt', async () => {
  const outside = world()
  const { remind } = handlersOf(outside)
  const payload = { customer: 'ann', cart: 'cart-1' }
  await remind(fakeRun(payload))
  await remind(fakeRun(payload, { attempt: 2 }))
  assert.deepEqual(
    outside.mails.map(({ to }) => to),
    ['ann', 'ann'],
  )
  assert.equal(new Set(outside.mails.map(({ key }) => key)).size, 1)
})

test('a quote sums up its items, and without items it fails for good', () => {
  const { quote } = handlers
  assert.deepEqual(
    quote(
      fakeRun({
        customer: 'ann',
        items: [
          { cents: 250, count: 4 },
          { cents: 1, count: 2 },
        ],
      }),
    ),
    { cents: 1_002 },
  )
  assert.throws(() => quote(fakeRun({ customer: 'ann', items: [] })), NonRetryableError)
})

test('a night has the date of its own zone', () => {
  const at = Date.parse('2027-03-28T01:00:00Z')
  assert.equal(nightOf(at, 'Europe/Paris'), '2027-03-28 03:00')
  assert.equal(nightOf(at, 'America/New_York'), '2027-03-27 21:00')
})
