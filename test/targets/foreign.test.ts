/** Schedules of other Kafka schedulers, read from their own topics. */
import { expect, test } from 'vitest'
import { openPlace } from './harness.ts'

const headers = (texts: Record<string, string>): Record<string, Buffer> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]))

const soon = (): string => String(Math.floor(Date.now() / 1_000) + 2)

test('etf1 schedules fire at their second with the headers of the original; a null value cancels', async () => {
  const place = await openPlace()
  const [schedules, videos] = [await place.make('schedules', 2), await place.make('videos')]
  const seen = await place.watch(videos)
  await place.start({ DUELOG_INTAKE_ETF1_TOPICS: schedules })
  const epoch = soon()
  const steering = { 'scheduler-epoch': epoch, 'scheduler-target-topic': videos, 'scheduler-target-key': 'vid1' }
  const raw = Buffer.from([0, 255, 7])
  await place.send(
    schedules,
    { key: 'vid1-online', value: raw, headers: headers({ ...steering, 'customer-header': 'dummy' }) },
    {
      key: 'vid2-online',
      value: Buffer.from('cancelled'),
      headers: headers({ ...steering, 'scheduler-epoch': String(Number(epoch) + 1) }),
    },
    { key: 'vid2-online', value: null },
    { key: 'bad', value: Buffer.from('x'), headers: headers({ ...steering, 'scheduler-epoch': 'tomorrow' }) },
    { key: 'last', value: Buffer.from('last'), headers: headers({ ...steering, 'scheduler-epoch': String(Number(epoch) + 2) }) },
  )
  await seen.until(() => seen.records.length === 2)
  expect(seen.values[1]).toBe('last')
  const [record] = seen.records
  expect(record?.key?.toString()).toBe('vid1')
  expect(record?.value).toEqual(raw)
  expect(record?.timestampMs).toBeGreaterThanOrEqual(Number(epoch) * 1_000)
  expect(Object.fromEntries(Object.entries(record?.headers ?? {}).map(([name, value]) => [name, value.toString()]))).toEqual({
    'customer-header': 'dummy',
    'scheduler-timestamp': expect.stringMatching(/^\d{10}$/),
    'scheduler-key': 'vid1-online',
    'scheduler-topic': schedules,
    'duelog-job-id': 'vid1-online',
    'duelog-run-no': '1',
    'duelog-scheduled-for': String(Number(epoch) * 1_000),
    'duelog-execution-id': expect.stringMatching(/^vid1-online\/1@/),
  })
  // The same key and time again, after it has fired: a schedule of its own, which is late.
  await place.send(schedules, { key: 'vid1-online', value: Buffer.from('again'), headers: headers(steering) })
  await seen.until(() => seen.values.includes('again'))
})

test('Karafka scheduled messages fire with all their headers; a cancel envelope cancels; a bad one has its receipt', async () => {
  const place = await openPlace()
  const [schedules, orders] = [await place.make('later'), await place.make('orders', 3)]
  const replies = await place.make('replies')
  const seen = await place.watch(orders)
  const receipts = await place.watch(replies)
  await place.start({ DUELOG_INTAKE_KARAFKA_TOPICS: schedules })
  const epoch = soon()
  const envelope = {
    schedule_schema_version: '1.0.0',
    schedule_source_type: 'schedule',
    schedule_target_epoch: epoch,
    schedule_target_topic: orders,
    schedule_target_key: 'o-1',
    schedule_target_partition: '2',
  }
  const reply = { 'duelog-reply-topic': replies, 'duelog-correlation-id': 'k' }
  await place.send(
    schedules,
    { key: 'orders-1', value: Buffer.from('{}'), headers: headers({ ...envelope, mine: 'yes', ...reply }) },
    { key: 'orders-2', value: Buffer.from('no'), headers: headers(envelope) },
    { key: 'orders-2', value: null, headers: headers({ schedule_schema_version: '1.0.0', schedule_source_type: 'cancel' }) },
    { key: 'orders-3', value: Buffer.from('no'), headers: headers({ ...envelope, schedule_target_epoch: '-1', ...reply }) },
    { key: 'orders-4', value: null, headers: headers({ ...envelope, schedule_target_epoch: String(Number(epoch) + 1) }) },
  )
  await seen.until(() => seen.records.length === 2)
  expect(seen.values).toEqual(['{}', '∅'])
  expect(seen.records[0]).toMatchObject({ partition: 2, key: Buffer.from('o-1') })
  const sent: Record<string, Buffer> = seen.records[0]?.headers ?? {}
  expect(sent.mine?.toString()).toBe('yes')
  expect(sent.schedule_target_epoch?.toString()).toBe(epoch)
  expect(sent.schedule_source_key?.toString()).toBe('orders-1')
  expect(sent.schedule_source_offset?.toString()).toBe('0')
  await receipts.until(() => receipts.records.length === 2)
  // The owner answers one, the intake the other. Both name the record that the sender wrote.
  const told = receipts.values.map((value) => JSON.parse(value) as Record<string, string | number>)
  expect(told.toSorted((a, b) => Number(a.offset) - Number(b.offset))).toMatchObject([
    { outcome: 'accepted', jobId: 'orders-1', topic: schedules, partition: 0, offset: 0 },
    { outcome: 'rejected', jobId: 'orders-3', topic: schedules, partition: 0, offset: 3 },
  ])
})
