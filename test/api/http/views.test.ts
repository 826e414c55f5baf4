/** Jobs in JSON. */
import { expect, it } from 'vitest'
import type { JobView } from '../../../src/ground/ports/owner-queries.ts'
import { jobToFields } from '../../../src/server/api/http/views.ts'

it.each([
  ['ACTIVE', 2_000_000_000_000, '2033-05-18T03:33:20.000Z'],
  ['PAUSED', 2_000_000_000_000, '2033-05-18T03:33:20.000Z'],
  ['PAUSED', 1_000_000_000_000, null],
  // Nothing of it fires, whatever the definition before had as its next time.
  ['INVALID', 2_000_000_000_000, null],
])('an %s job whose time is %d has the next time %j', (status, nextFireAt, shown) => {
  const job = { id: 'a', status, nextFireAt, nextDueAt: nextFireAt, partition: 0, offset: 1, deadRuns: [], backfill: null }
  const fields = jobToFields(job as unknown as JobView, 1_500_000_000_000)
  expect([fields.nextFireAt, fields.nextDueAt]).toEqual([shown, shown])
})
