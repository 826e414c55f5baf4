/** Records on the real topics that none of our clients writes: the owner detects each of them, and nothing else is affected. */
import { Kafka, logLevel } from 'kafkajs'
import { expect, test } from 'vitest'
import type { JobDefinitionInput } from '../../schemas/generated.ts'
import { createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { movedBytesMax } from '../../src/scheduler/input/input-decoder.ts'
import { keyPartitionOf, partitionOf, topicPlans } from '../../streams/topics/topics.ts'
import { clean } from '../tools/checker-audit.ts'
import type { Test } from '../tools/duelog-process.ts'
import { schedulerOf } from '../tools/duelog-process-scheduler.ts'
import { brokers, oneShots, openSite, recurring, registryUrl, type Site } from './harness.ts'
import { openWorker } from './worker.ts'

const partitions = 2
const far = Date.now() + 86_400_000
const garbage = Buffer.from('no Avro at all')
const unknownSchema = Buffer.from([0, 0x7f, 0xff, 0xff, 0xff, 2, 2])

async function openBed(context: Test) {
  const site = await openSite(context, { partitions })
  const codecs = await createCodecs({ registryUrl, plans: topicPlans(site.names, ['default']) })
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer({ allowAutoTopicCreation: false })
  await producer.connect()
  context.onTestFinished(() => producer.disconnect())
  const fatal: Error[] = []
  const owner = await schedulerOf(
    site.plan,
    () => undefined,
    (error) => fatal.push(error),
  )
  context.onTestFinished(() => owner.scheduler.stop())
  await owner.scheduler.start()
  await owner.scheduler.ready()
  await openWorker(context, site)
  /** Writes one record, to the partition of its key unless another is given. Resolves with its position. */
  const put = async (topic: string, key: string | Buffer | null, value: Buffer | null, to?: number) => {
    const partition = to ?? partitionOf(key ?? '', partitions)
    const [written] = await producer.send({ topic, messages: [{ key, value, partition }] })
    return { partition, offset: Number(written?.baseOffset) }
  }
  const applied = ({ partition, offset }: { partition: number; offset: number }, source: 'jobs' | 'commands' = 'jobs') =>
    owner.scheduler.queries.applied(partition, { [source]: offset }, 20_000)
  const define = (definition: Partial<JobDefinitionInput>) =>
    codecs.definition.encode({ schedule: { at: far }, target: { handler: 'noop' }, ...definition } as JobDefinitionInput)
  const view = (id: string) => owner.scheduler.queries.job(partitionOf(id, partitions), id)
  return { site, codecs, owner, put, applied, define, view, fatal }
}

/** Neighbors before and after every bad record. They run whatever is between them. */
function neighbors(site: Site, name: string) {
  const from = Date.now() + 300
  return site.write(oneShots(`${name}-shot`, 40, from, 20), recurring(`${name}-again`, 4, from + 500, 200, 8))
}

test('bad definitions are INVALID with a reason, bad keys are counted, and other jobs still fire', async (context) => {
  const { site, codecs, owner, put, applied, define, view, fatal } = await openBed(context)
  const expected = await neighbors(site, 'before')
  const bad: Record<string, { value: Buffer; reason: RegExp }> = {
    bytes: { value: garbage, reason: /begin with 00 and a schema id/ },
    empty: { value: Buffer.alloc(0), reason: /begin with 00/ },
    'unknown-schema': { value: unknownSchema, reason: /schema/i },
    'cut-short': { value: define({}).subarray(0, 12), reason: /Bytes are not a duelog.JobDefinition/ },
    'left-over': { value: Buffer.concat([define({}), Buffer.alloc(3)]), reason: /3 bytes are left over/ },
    'other-record': { value: codecs.command.encode({ type: 'PAUSE', commandId: 'c', at: 1 }), reason: /schema|read as one/ },
    cron: { value: define({ schedule: { cron: '61 25 * * *' } }), reason: /cron/ },
    zone: { value: define({ schedule: { cron: '0 9 * * *', timezone: 'Europe/Atlantis' } }), reason: /Europe\/Atlantis/ },
    payload: { value: define({ payload: Buffer.alloc(600_000) }), reason: /payload/ },
    'two-schedules': { value: define({ schedule: { at: far, everyMs: 1_000 } }), reason: /schedule/ },
    'no-schedule': { value: define({ schedule: {} }), reason: /schedule/ },
    'too-often': { value: define({ schedule: { everyMs: 1 } }), reason: /everyMs/ },
    handler: { value: define({ target: { handler: '' } }), reason: /handler/ },
  }
  const places = await Promise.all(Object.entries(bad).map(([id, { value }]) => put(site.names.jobs, `bad-${id}`, value)))
  // A compacted topic rejects a record without a key.
  await expect(put(site.names.jobs, null, define({}), 0)).rejects.toThrow(/validation/)
  const keys = ['', 'a\u0000b', 'a\nb', Buffer.from([0xff, 0xfe, 0x41]), 'x'.repeat(256)]
  for (const key of keys) places.push(await put(site.names.jobs, key, define({}), 0))
  expected.push(...(await neighbors(site, 'after')))
  expect(await Promise.all(places.map((place) => applied(place)))).toEqual(places.map(() => true))
  for (const [id, { reason }] of Object.entries(bad)) {
    const job = await view(`bad-${id}`)
    expect({ id, status: job?.status, nextFireAt: job?.nextFireAt }).toEqual({ id, status: 'INVALID', nextFireAt: null })
    expect(job?.reason).toMatch(reason)
  }
  const { jobs: listed } = await owner.scheduler.queries.list(partitionOf('bad-cron', partitions), { status: 'INVALID' }, 100)
  expect(listed.map(({ id }) => id)).toContain('bad-cron')

  await site.checker.succeeded(expected)
  const report = await owner.report()
  expect(report.invalid).toMatchObject({ 'bad-definition': Object.keys(bad).length, 'bad-job-id': keys.length })
  expect(report.reopens).toEqual({})
  expect(report.partitions).toMatchObject([0, 1].map((partition) => ({ partition, phase: 'active' })))

  // The id of a bad definition allows a correction.
  const at = Date.now() + 50
  const mended = await put(site.names.jobs, 'bad-cron', define({ schedule: { at } }))
  expect(await applied(mended)).toBe(true)
  expected.push({ jobId: 'bad-cron', scheduledFor: at })
  await site.checker.succeeded(expected)
  await owner.scheduler.stop()
  expect(await site.checker.audit(expected)).toEqual(clean)
  expect(fatal).toEqual([])
})

test('records of a client with another partitioner are moved to their partition, and fire once', async (context) => {
  const { site, owner, put, applied, define, view } = await openBed(context)
  const wrongOf = (id: string): number => 1 - partitionOf(id, partitions)
  const at = Date.now() + 1_500
  const ids = Array.from({ length: 20 }, (_, index) => `moved-${index}`)
  const expected = ids.map((jobId) => ({ jobId, scheduledFor: at }))
  await put(site.names.jobs, 'to-be-deleted', define({}))
  await Promise.all(ids.map((id) => put(site.names.jobs, id, define({ schedule: { at } }), wrongOf(id))))
  await put(site.names.jobs, 'moved-garbage', garbage, wrongOf('moved-garbage'))
  const deletion = await put(site.names.jobs, 'to-be-deleted', null, wrongOf('to-be-deleted'))
  expect(await applied(deletion)).toBe(true)
  await site.checker.succeeded(expected)
  expected.push(...(await neighbors(site, 'after')))
  await site.checker.succeeded(expected)
  expect(await view('to-be-deleted')).toBeUndefined()
  expect(await view('moved-garbage')).toMatchObject({ status: 'INVALID' })
  for (const id of ids) {
    const here = await view(id)
    expect(here).toMatchObject({ status: 'COMPLETED', runNo: 1 })
    expect(await owner.scheduler.queries.job(wrongOf(id), id)).toBeUndefined()
  }
  expect((await owner.report()).misrouted).toBe(ids.length + 2)
  await owner.scheduler.stop()
  expect(await site.checker.audit(expected)).toEqual(clean)
})

test('records of a client that ignores tags are moved to the partition of the tag, exactly once: definitions, commands and events', async (context) => {
  const { site, codecs, owner, put, applied, define, view, fatal } = await openBed(context)
  const { names } = site
  // Writes as a client with Kafka's default partitioner does, for ids that belong to another partition.
  const plain = (topic: string, id: string, value: Buffer) => put(topic, id, value, keyPartitionOf(id, partitions))
  const ids: string[] = []
  for (let n = 0; ids.length < 12; n++) {
    const id = `job-${n}{customer-${n % 4}}`
    if (keyPartitionOf(id, partitions) !== partitionOf(id, partitions)) ids.push(id)
  }
  // No worker runs them, so the test can act as their worker.
  const definition = define({ schedule: { at: Date.now() }, pinTo: 'nobody' })
  for (const id of ids) await plain(names.jobs, id, definition)
  const has = (status: string, runNo: number) => async () => {
    const views = await Promise.all(ids.map(view))
    return (
      views.map((job) => [job?.runNo, (job?.active.at(-1) ?? job?.lastRun)?.status]).join() ===
      ids.map(() => [runNo, status]).join()
    )
  }
  await expect.poll(has('DISPATCHED', 1)).toBe(true)
  for (const id of ids) {
    const { offset } = (await view(id)) as { offset: number }
    const event = { type: 'SUCCEEDED', jobId: id, runNo: 1, attempt: 1, specOffset: offset, at: Date.now() } as const
    await plain(names.events, id, codecs.event.encode(event))
  }
  await expect.poll(has('SUCCEEDED', 1)).toBe(true)
  const trigger = codecs.command.encode({ type: 'TRIGGER', commandId: 'once', at: 1 })
  for (const id of ids) expect(await applied(await plain(names.commands, id, trigger), 'commands')).toBe(true)
  await expect.poll(has('DISPATCHED', 2)).toBe(true)
  for (const id of ids) {
    expect(await view(id)).toMatchObject({ succeeded: 1, runNo: 2 })
    expect(await owner.scheduler.queries.job(keyPartitionOf(id, partitions), id)).toBeUndefined()
  }
  expect((await owner.report()).misrouted).toBe(3 * ids.length)
  await owner.scheduler.stop()
  expect(fatal).toEqual([])
})

test('a record in a wrong partition that is too large to move is skipped, and stops nothing', async (context) => {
  const { site, owner, put, applied, fatal } = await openBed(context)
  const wrong = 1 - partitionOf('large', partitions)
  expect(await applied(await put(site.names.jobs, 'large', Buffer.alloc(movedBytesMax, 7), wrong))).toBe(true)
  expect(await applied(await put(site.names.commands, 'large', Buffer.alloc(1_040_000, 7), wrong), 'commands')).toBe(true)
  await site.checker.succeeded(await neighbors(site, 'after'))
  const report = await owner.report()
  expect(report.reopens).toEqual({})
  expect(report.invalid).toMatchObject({ 'too-large-to-move': 2 })
  expect(fatal).toEqual([])
})

test('garbage among commands, events and executions is skipped', async (context) => {
  const { site, codecs, owner, put, applied, fatal } = await openBed(context)
  const { names } = site
  const expected = await neighbors(site, 'before')
  const event = (jobId: string, runNo: number, attempt = 1) =>
    codecs.event.encode({ type: 'SUCCEEDED', jobId, runNo, attempt, specOffset: 0, at: Date.now() })
  const bad = [garbage, Buffer.alloc(0), unknownSchema, null, Buffer.alloc(800_000, 7), event('nobody', 1).subarray(0, 9)]
  const commands: { partition: number; offset: number }[] = []
  for (const value of bad) {
    for (const partition of [0, 1]) {
      commands.push(await put(names.commands, 'any', value, partition))
      await put(names.events, 'any', value, partition)
      await put(names.executions('default', 'NORMAL'), 'any', value, partition)
      await put(names.executions('default', 'HIGH', true), 'any', value, partition)
    }
  }
  commands.push(await put(names.commands, null, codecs.command.encode({ type: 'TRIGGER', commandId: 'c', at: 1 }), 0))
  commands.push(await put(names.commands, 'nobody', codecs.command.encode({ type: 'TRIGGER', commandId: 'c', at: 1 })))
  // Well-formed reports without a matching attempt: of a run that does not exist, of another job than the key names, of a later
  // attempt.
  await put(names.events, 'nobody', event('nobody', 1))
  await put(names.events, 'before-shot-0', event('before-shot-39', 1))
  await put(names.events, 'before-shot-39', event('before-shot-39', 1, 7))
  expect(await Promise.all(commands.map((place) => applied(place, 'commands')))).toEqual(commands.map(() => true))
  expected.push(...(await neighbors(site, 'after')))
  await site.checker.succeeded(expected)
  const report = await owner.report()
  expect(report.reopens).toEqual({})
  expect(report.invalid).toMatchObject({ undecodable: 2 * 2 * bad.length + 1, 'no-key': 1 })
  await owner.scheduler.stop()
  expect(await site.checker.audit(expected)).toEqual(clean)
  expect(site.checker.undecodable).toBe(2 * 2 * bad.length)
  expect(fatal).toEqual([])
})
