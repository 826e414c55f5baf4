/** The audit trail when its topic also has invalid records. */
import { expect, it } from 'vitest'
import { type AuditTrailOptions, createAuditTrail } from '../../src/api/audit-trail/audit-trail.ts'
import { systemClock } from '../../src/clock/clock.ts'
import { DuelogError } from '../../src/errors/errors.ts'
import type { Batch } from '../../src/ports/log.ts'
import { topicNames } from '../../streams/topics/topics.ts'

const names = topicNames('t.')
const text = (value: string): Buffer => Buffer.from(value)

/** A log that has these values on its topic. */
function trailOver(values: readonly (Buffer | null)[], decode: AuditTrailOptions['codec']['decode']) {
  const reader = (options: { onBatch(batch: Batch): Promise<void> }) => ({
    start: async () => {
      const records = values.map((value, offset) => ({
        ...{ topic: names.audit, partition: 0, offset, timestampMs: 1, byBroker: true, key: text('a'), value, headers: {} },
      }))
      await options.onBatch({ topic: names.audit, partition: 0, highWatermark: values.length, records } as unknown as Batch)
    },
    stop: async () => {},
  })
  return createAuditTrail({
    log: { reader } as unknown as AuditTrailOptions['log'],
    admin: { offsets: async () => [{ partition: 0, earliest: 0, next: values.length }] } as unknown as AuditTrailOptions['admin'],
    codec: { decode } as unknown as AuditTrailOptions['codec'],
    names,
    instance: 'test',
    clock: systemClock,
  })
}

const event = { at: 5, actor: 'anna', action: 'PUT', jobId: 'a' }
const undecodable = new DuelogError('undecodable', 'Bytes are not an AuditEvent.')

it('the audit trail is served although foreign records are between its records', async () => {
  const trail = trailOver([text('good'), text('thrown'), text('rejected'), null, text('good')], (bytes) => {
    // Like codecs: at once if the schema is known, later if the registry must be asked.
    if (bytes.toString() === 'thrown') throw undecodable
    if (bytes.toString() === 'rejected') return Promise.reject(undecodable)
    return event as never
  })
  const { records } = await trail.page({}, 10)
  expect(records.map(({ offset }) => offset)).toEqual([4, 0])
  await trail.stop()
})
