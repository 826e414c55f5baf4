/** Jobs whose target is a topic: the owner writes the record itself, in the transaction that records the run. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { deleteTopic, jobAt, openPlace, type Place } from './harness.ts'

/** All tests share a system. Each has topics and jobs of its own. */
let place: Place
let system: Awaited<ReturnType<Place['start']>>
const ends: (() => Promise<void>)[] = []
beforeAll(async () => {
  place = await openPlace((end) => ends.push(end))
  system = await place.start()
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const bytes = Buffer.from([0, 255, 1, 128, 10])

test('payload, key and headers arrive byte for byte, once, and not before their time', async () => {
  const topic = await place.make('orders', 3)
  const seen = await place.watch(topic)
  const at = Date.now() + 1_500
  const target = { topic: { name: topic, key: { base64: bytes.toString('base64') } } }
  const headers = { plain: 'text', raw: { base64: bytes.toString('base64') } }
  await place.client.schedule({ id: 'bytes', schedule: { at }, target, payloadBase64: bytes.toString('base64'), headers })
  await place.client.schedule({ id: 'nothing', schedule: { at }, target: { topic: { name: topic, partition: 2 } } })
  await seen.until(() => seen.records.length === 2)
  const [first] = seen.records.filter(({ key }) => key?.equals(bytes))
  expect(first?.value).toEqual(bytes)
  expect(first?.headers).toEqual({
    plain: Buffer.from('text'),
    raw: bytes,
    'duelog-job-id': Buffer.from('bytes'),
    'duelog-run-no': Buffer.from('1'),
    'duelog-scheduled-for': Buffer.from(String(at)),
    'duelog-execution-id': Buffer.from(first?.headers['duelog-execution-id'] ?? ''),
  })
  expect(String(first?.headers['duelog-execution-id'])).toMatch(/^bytes\/1@\d+-[0-9a-z]+$/)
  const [second] = seen.records.filter(({ key }) => key?.toString() === 'nothing')
  expect(second).toMatchObject({ partition: 2, value: null })
  for (const { timestampMs } of seen.records) expect(timestampMs).toBeGreaterThanOrEqual(at)
  const job = await jobAt(system.url, 'bytes')
  expect(job).toMatchObject({ status: 'COMPLETED', lastRun: { status: 'SUCCEEDED', attempts: 1, worker: null } })
})

test('a topic that is not allowed, is missing, or belongs to Duelog makes the job INVALID, and changes nothing else', async () => {
  const topic = await place.make('good')
  const seen = await place.watch(topic)
  const job = (id: string, name: string) => place.client.schedule({ id, schedule: { delayMs: 0 }, target: { topic: { name } } })
  await job('forbidden', 'elsewhere')
  await job('missing', place.topicOf('missing'))
  await job('own', place.names.jobs)
  await job('good', topic)
  await job('good-2', topic)
  await seen.until(() => seen.records.length === 2)
  // They are in other partitions than the valid ones.
  const invalid = async (id: string) => {
    const found = await jobAt(system.url, id)
    return found.status === 'INVALID' && found
  }
  const reasons = await Promise.all(
    ['forbidden', 'missing', 'own'].map((id) => vi.waitUntil(() => invalid(id), { timeout: 60_000 })),
  )
  expect(reasons.map(({ status }) => status)).toEqual(['INVALID', 'INVALID', 'INVALID'])
  expect(reasons.map(({ reason }) => reason)).toEqual([
    'Topic elsewhere is not allowed; DUELOG_TARGET_TOPICS lists the allowed topics.',
    `Topic ${place.topicOf('missing')} does not exist.`,
    `Topic ${place.names.jobs} is not allowed; DUELOG_TARGET_TOPICS lists the allowed topics.`,
  ])
})

test('a topic that is created just before its job is found; an earlier job is ACTIVE when its topic exists', async () => {
  const job = (id: string, name: string) => place.client.schedule({ id, schedule: { delayMs: 0 }, target: { topic: { name } } })
  const status = async (id: string) => (await jobAt(system.url, id)).status
  await job('early', place.topicOf('later'))
  await vi.waitUntil(async () => (await status('early')) === 'INVALID', { timeout: 60_000 })
  const seen = await place.watch(await place.make('later'))
  await seen.until(() => seen.records.length === 1)
  expect(await status('early')).toBe('COMPLETED')
  // No check has seen this topic yet, and the next one is seconds away.
  const made = await place.watch(await place.make('made'))
  await job('after', place.topicOf('made'))
  await made.until(() => made.records.length === 1)
})

test('a topic that vanishes holds up its own runs, with the reason; those beside them in the transaction go on', async () => {
  const [doomed, good] = [await place.make('doomed'), await place.make('beside')]
  const seen = await place.watch(good)
  const before = await place.watch(doomed)
  const schedule = { everyMs: 1_000, anchor: Date.now() }
  const ids = [0, 1, 2, 3]
  for (const index of ids) {
    await place.client.schedule({ id: `d${index}`, schedule, target: { topic: { name: doomed } } })
    await place.client.schedule({ id: `g${index}`, schedule, target: { topic: { name: good } } })
  }
  await before.until(() => before.records.length >= 8)
  await before.reader.stop()
  await deleteTopic(doomed)
  const waiting = async (id: string) => (await jobAt(system.url, id)).active?.[0]
  const reasons = await Promise.all(
    ids.map((index) => vi.waitUntil(() => waiting(`d${index}`), { timeout: 60_000, interval: 200 })),
  )
  for (const run of reasons) expect(run).toMatchObject({ status: 'RETRY_WAIT', errors: [{ type: 'TopicUnavailable' }] })
  const soFar = seen.records.length
  await seen.until(() => seen.records.length >= soFar + 8)
  const written = seen.records.map(({ headers }) => `${headers['duelog-job-id']} ${headers['duelog-run-no']}`)
  expect(new Set(written).size).toBe(written.length)
})

test('a record over the limit of its topic waits, and does not fail the transaction of others', async () => {
  const small = await place.make('small', 1, { 'max.message.bytes': '2000' })
  const seen = await place.watch(small)
  await place.client.schedule({
    id: 'large',
    schedule: { delayMs: 0 },
    target: { topic: { name: small } },
    payload: 'x'.repeat(5_000),
  })
  await place.client.schedule({ id: 'fits', schedule: { delayMs: 0 }, target: { topic: { name: small } }, payload: 'x' })
  await seen.until(() => seen.records.length === 1)
  const large = await vi.waitUntil(
    async () => {
      const found = await jobAt(system.url, 'large')
      return found.status === 'INVALID' && found
    },
    { timeout: 60_000 },
  )
  expect(large.reason).toMatch(/max\.message\.bytes/)
})

test('a trigger writes at once, with its own payload', async () => {
  const topic = await place.make('reports')
  const seen = await place.watch(topic)
  await place.client.schedule({
    id: 'daily',
    schedule: { cron: '@yearly' },
    target: { topic: { name: topic } },
    payload: 'usual',
  })
  // A command may overtake its definition.
  await vi.waitUntil(async () => (await jobAt(system.url, 'daily')).status === 'ACTIVE', { timeout: 60_000 })
  const trigger = (body?: string) =>
    fetch(`${system.url}/v1/jobs/daily/trigger`, {
      method: 'POST',
      ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
    })
  await trigger()
  await trigger('{"payload":"other"}')
  await seen.until(() => seen.records.length === 2)
  expect(seen.values).toEqual(['"usual"', '"other"'])
  expect(seen.records.map(({ headers }) => headers['duelog-run-no']?.toString())).toEqual(['1', '2'])
})
