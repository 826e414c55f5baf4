/** Records that the broker itself refuses: the job that causes one becomes INVALID, and its neighbors continue to fire. */
import { ConfigResourceTypes, Kafka, logLevel } from 'kafkajs'
import { expect, test } from 'vitest'
import { connectLog } from '../../src/log/kafka/log.ts'
import { partitionOf } from '../../streams/topics/topics.ts'
import { schedulerOf } from '../tools/duelog-process-scheduler.ts'
import { brokers, oneShots, openSite, recurring } from './harness.ts'
import { openWorker } from './worker.ts'

const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING })

test('an execution that its topic refuses makes its job INVALID, with the reason of the broker', async (context) => {
  const site = await openSite(context, { partitions: 1 })
  const admin = kafka.admin()
  await admin.connect()
  context.onTestFinished(() => admin.disconnect())
  const configEntries = [{ name: 'max.message.bytes', value: '20000' }]
  const resources = ['HIGH', 'NORMAL', 'LOW'].flatMap((priority) =>
    [false, true].map((ahead) => {
      const name = site.names.executions('default', priority as 'NORMAL', ahead)
      return { type: ConfigResourceTypes.TOPIC, name, configEntries }
    }),
  )
  await admin.alterConfigs({ validateOnly: false, resources })
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
  const from = Date.now() + 1_000
  const expected = await site.write(oneShots('shot', 40, from, 20), recurring('again', 4, from, 200, 8))
  const poison = { id: 'poison', schedule: { at: from + 100 }, target: { handler: 'noop' }, payload: Buffer.alloc(100_000, 'x') }
  await site.client.schedule(poison)
  await site.checker.succeeded(expected)
  const view = () => owner.scheduler.queries.job(partitionOf('poison', 1), 'poison').catch(() => undefined)
  await expect.poll(view).toMatchObject({ status: 'INVALID', reason: expect.stringContaining('MESSAGE_TOO_LARGE') })
  expect(site.checker.executions.filter(({ jobId }) => jobId === 'poison')).toEqual([])
  expect(fatal).toEqual([])
})

test('a record that fails the validation of the broker is reported as refused, not as a temporary error', async (context) => {
  const site = await openSite(context, { partitions: 1 })
  const writer = await connectLog({ brokers, clientId: 'faults' }).transactionalWriter(`${site.prefix}refused`)
  context.onTestFinished(() => writer.close())
  // A compacted topic rejects a record without a key: INVALID_RECORD, 87.
  const keyless = { topic: site.names.jobs, partition: 0, key: null, value: Buffer.from('x') }
  await expect(writer.commit([keyless as never])).rejects.toMatchObject({
    code: 'record-refused',
    message: expect.stringContaining('INVALID_RECORD'),
  })
})
