/**
 * Receipts: a sender that asks for one by headers receives the result of its record. The process that applied the record writes
 * the receipt in the same transaction.
 */
import { expect, test, vi } from 'vitest'
import type { JobCommandInput, JobDefinitionInput } from '../../schemas/generated.ts'
import type { RecordOut } from '../../src/ground/ports/log.ts'
import { createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { topicPlans } from '../../streams/topics/topics.ts'
import { openWriter, registryUrl } from '../kafka/harness.ts'
import { jobAt, openPlace, type Place } from './harness.ts'

async function asker(place: Place, replies: string) {
  const { definition } = await createCodecs({ registryUrl, plans: topicPlans(place.names, ['default']) })
  const writer = await openWriter()
  const ask = async (
    id: string,
    value: JobDefinitionInput | Buffer | null,
    correlationId: string,
    to = replies,
  ): Promise<void> => {
    const bytes = value === null || Buffer.isBuffer(value) ? value : definition.encode(value)
    const headers = { 'duelog-reply-topic': to, 'duelog-correlation-id': correlationId }
    const record: RecordOut = { topic: place.names.jobs, key: id, value: bytes, headers }
    await writer.write([record])
  }
  return ask
}

const noop = { handler: 'noop' }

test('each requested receipt is sent, with the correlation id and the position of the record', async () => {
  const place = await openPlace()
  const replies = await place.make('replies')
  const seen = await place.watch(replies)
  const ran = await place.make('ran')
  const runs = await place.watch(ran)
  await place.start()
  const ask = await asker(place, replies)
  const answer = async (count: number) => {
    await seen.until(() => seen.records.length === count)
    const record = seen.records[count - 1]
    const receipt = JSON.parse(record?.value?.toString() ?? '') as Record<string, unknown>
    expect(record?.key?.toString()).toBe(receipt.jobId)
    return { ...receipt, correlationId: record?.headers['duelog-correlation-id']?.toString() }
  }
  const at = Date.UTC(2035, 0, 1)
  await ask('later', { schedule: { at }, target: noop }, 'c1')
  expect(await answer(1)).toMatchObject({
    outcome: 'accepted',
    jobId: 'later',
    topic: place.names.jobs,
    nextFireAt: at,
    correlationId: 'c1',
  })
  await ask('later', null, 'c2')
  expect(await answer(2)).toMatchObject({ outcome: 'cancelled', jobId: 'later', correlationId: 'c2' })
  await ask('later', null, 'c3')
  expect(await answer(3)).toMatchObject({
    outcome: 'too-late',
    reason: expect.stringMatching(/no such job/),
    correlationId: 'c3',
  })
  await ask('wrong', { schedule: { at, cron: '@daily' }, target: noop }, 'c4')
  expect(await answer(4)).toMatchObject({
    outcome: 'rejected',
    reason: expect.stringMatching(/at and cron are set/),
    correlationId: 'c4',
  })
  await ask('noise', Buffer.from('noise'), 'c5')
  expect(await answer(5)).toMatchObject({ outcome: 'rejected', jobId: 'noise', correlationId: 'c5' })
  await ask('elsewhere', { schedule: { at }, target: { topic: { name: 'elsewhere' } } }, 'c6')
  expect(await answer(6)).toMatchObject({
    outcome: 'rejected',
    reason: expect.stringMatching(/not allowed/),
    correlationId: 'c6',
  })
  await ask('bad\u0000id', { schedule: { at }, target: noop }, 'c7')
  expect(await answer(7)).toMatchObject({
    outcome: 'rejected',
    reason: expect.stringMatching(/control character/),
    correlationId: 'c7',
  })
  // Not allowed: no receipt can be sent, and nothing stops.
  await ask('silent', { schedule: { at }, target: noop }, 'c8', 'elsewhere')
  await ask('done', { schedule: { delayMs: 0 }, target: { topic: { name: ran } } }, 'c9')
  expect(await answer(8)).toMatchObject({ outcome: 'accepted', jobId: 'done', correlationId: 'c9' })
  await runs.until(() => runs.records.length === 1)
  await ask('done', null, 'c10')
  expect(await answer(9)).toMatchObject({ outcome: 'too-late', jobId: 'done', correlationId: 'c10' })
})

test('a command has its receipt too, and a command that only an owner may send is refused', async () => {
  const place = await openPlace()
  const replies = await place.make('replies')
  const seen = await place.watch(replies)
  const system = await place.start({ DUELOG_PARTITIONS: '1' })
  const { command } = await createCodecs({ registryUrl, plans: topicPlans(place.names, ['default']) })
  const writer = await openWriter()
  await place.client.schedule({
    id: 'j',
    schedule: { cron: '@yearly' },
    target: noop,
  })
  await vi.waitUntil(async () => (await jobAt(system.url, 'j')).status === 'ACTIVE', { timeout: 60_000 })
  let sent = 0
  const answer = async (key: string, value: JobCommandInput) => {
    const headers = { 'duelog-reply-topic': replies }
    await writer.write([{ topic: place.names.commands, partition: 0, key, value: command.encode(value), headers }])
    sent++
    await seen.until(() => seen.records.length === sent)
    return JSON.parse(seen.records.at(-1)?.value?.toString() ?? '') as Record<string, unknown>
  }
  const at = Date.now()
  expect(await answer('j', { type: 'PAUSE', commandId: 'p', at })).toMatchObject({ outcome: 'accepted', jobId: 'j' })
  expect(await answer('j', { type: 'PAUSE', commandId: 'p', at })).toMatchObject({
    ...{ outcome: 'rejected', topic: place.names.commands, offset: 1 },
    reason: 'The pause was dropped: a command with the same commandId was already accepted.',
  })
  expect(await answer('nobody', { type: 'PAUSE', commandId: 'p', at })).toMatchObject({
    reason: 'The pause was dropped: there is no such job.',
  })
  expect(await answer('j', { type: 'TRIGGER', commandId: 't', at, trigger: 'SCHEDULE' })).toMatchObject({
    ...{ outcome: 'rejected', reason: 'trigger is "SCHEDULE"; allowed: MANUAL, FOLLOW_UP.' },
  })
  // Such a command must not stop the partition when it is read.
  expect(await answer('j', { type: 'REDRIVE', commandId: 'r', at, runNo: -1 })).toMatchObject({
    ...{ outcome: 'rejected', reason: expect.stringMatching(/^runNo is -1; allowed: 1 to/) },
  })
  expect(await jobAt(system.url, 'j')).toMatchObject({ status: 'PAUSED', scheduledRuns: 0, runNo: 0 })
})

test('a receipt is not sent again by an owner that rebuilds its store', async () => {
  const place = await openPlace()
  const replies = await place.make('replies')
  const seen = await place.watch(replies)
  const first = await place.start({ DUELOG_ROLES: 'scheduler' })
  const ask = await asker(place, replies)
  const at = Date.UTC(2035, 0, 1)
  for (let index = 0; index < 20; index++) await ask(`job-${index}`, { schedule: { at }, target: noop }, String(index))
  await seen.until(() => seen.records.length === 20)
  await first.stop()
  const other = `${await place.freshFolder()}`
  await place.start({ DUELOG_ROLES: 'scheduler', DUELOG_DATA_DIR: other })
  for (let index = 20; index < 24; index++) await ask(`job-${index}`, { schedule: { at }, target: noop }, String(index))
  const asked = Array.from({ length: 24 }, (_, index) => String(index))
  await seen.until(() => seen.records.length >= 24)
  const correlated = seen.records.map(({ headers }) => headers['duelog-correlation-id']?.toString())
  expect(correlated.toSorted()).toEqual(asked.toSorted())
})
