/** The schema registry is unreachable while jobs are due. Known schemas need no registry. Only records that need it wait. */
import { readFileSync } from 'node:fs'
import avro from 'avsc'
import { Kafka, logLevel } from 'kafkajs'
import { expect, test } from 'vitest'
import { partitionOf } from '../../streams/topics/topics.ts'
import { clean } from '../tools/checker-audit.ts'
import { schedulerOf } from '../tools/duelog-process-scheduler.ts'
import { Forwarder } from './forwarder.ts'
import { brokers, oneShots, openSite, recurring, registryUrl } from './harness.ts'
import { openWorker } from './worker.ts'

test('without its registry an owner continues to fire and reads the reports of its workers; a definition of an unknown schema waits for it', async (context) => {
  const site = await openSite(context)
  await openWorker(context, site)
  const registry = new Forwarder(registryUrl)
  context.onTestFinished(() => registry.unplug())
  await registry.plugIn()
  const { scheduler, report } = await schedulerOf(
    { ...site.plan, registryUrl: registry.url },
    () => undefined,
    (error) => expect.unreachable(error.message),
  )
  context.onTestFinished(() => scheduler.stop())
  await scheduler.start()
  await scheduler.ready()
  const later = await definitionOfALaterVersion(`${site.names.jobs}-value`)
  await registry.unplug()

  const at = Date.now() + 500
  const waiting = [0, 1].map((partition) => ({ jobId: idIn(partition), scheduledFor: at }))
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer({ allowAutoTopicCreation: false })
  await producer.connect()
  context.onTestFinished(() => producer.disconnect())
  const expected = await site.write(oneShots('early', 30, Date.now() + 1_000, 20))
  await site.checker.until(() => site.checker.executions.length > 0)
  const messages = waiting.map(({ jobId }, partition) => ({ key: jobId, value: later(at), partition }))
  await producer.send({ topic: site.names.jobs, messages })
  await site.checker.succeeded(expected)
  // The owner has applied every end, although a definition before it cannot be read.
  const state = async (id: string) => (await scheduler.queries.job(partitionOf(id, 2), id))?.status
  await expect.poll(async () => Promise.all(expected.map(({ jobId }) => state(jobId)))).toEqual(expected.map(() => 'COMPLETED'))
  const since = await site.write(oneShots('behind', 20, Date.now(), 10), recurring('again', 4, Date.now() + 2_000, 200, 5))
  expect(site.checker.executions.filter(({ jobId }) => jobId.startsWith('later'))).toEqual([])

  await registry.plugIn()
  expected.push(...since, ...waiting)
  await site.checker.succeeded(expected)
  expect((await report()).reopens).toEqual({})
  await scheduler.stop()
  expect(await site.checker.audit(expected)).toEqual(clean)
})

/** A job id of that partition. */
function idIn(partition: number): string {
  let number = 0
  while (partitionOf(`later-${number}`, 2) !== partition) number++
  return `later-${number}`
}

/** Registers a schema with one more field, as a later release does. Resolves with its encoder. */
async function definitionOfALaterVersion(subject: string): Promise<(at: number) => Buffer> {
  const schema = JSON.parse(readFileSync(new URL('../../schemas/job-definition.avsc', import.meta.url), 'utf8'))
  schema.fields.push({ name: 'addedLater', type: ['null', 'string'], default: null })
  const answer = await fetch(`${registryUrl}/subjects/${subject}/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify({ schema: JSON.stringify(schema) }),
  })
  const { id } = (await answer.json()) as { id: number }
  const type = avro.Type.forSchema(schema)
  return (at) => {
    const head = Buffer.alloc(5)
    head.writeInt32BE(id, 1)
    const definition = { ...(type.fromBuffer(type.toBuffer(withDefaults(at))) as object), addedLater: 'x' }
    return Buffer.concat([head, type.toBuffer(definition)])
  }
}

/** Nested records receive their defaults only through a clone by their type. */
const withDefaults = (at: number): object => ({
  schedule: { at, delayMs: null, everyMs: null, anchor: null, from: 'START', cron: null, timezone: 'UTC' },
  target: { handler: 'noop', pool: 'default' },
  retry: {
    maxAttempts: 5,
    backoff: { list: [1_000], fixed: null, linear: null, exponential: null },
    jitter: 0,
    nonRetryable: [],
  },
})
