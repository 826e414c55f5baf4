/** The intake of foreign schedules when its commits fail or their outcome stays unknown: each record is translated once. */
import { Kafka, logLevel } from 'kafkajs'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/ground/clock/clock.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import type { Log } from '../../src/ground/ports/log.ts'
import { createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { ForeignIntake } from '../../src/worker/intake/intake.ts'
import { topicNames, topicPlans } from '../../streams/topics/topics.ts'
import { brokers, makeTopics, openLog, openWriter, registryUrl, uniquePrefix, Watcher } from '../kafka/harness.ts'

const count = 300

const anyTarget = {
  ...{ problem: () => undefined, seek: () => undefined, poolProblem: () => undefined, seekPool: () => undefined },
  failed: async () => {},
}

/** Every third commit does not arrive; every third is done but its answer is lost. */
function unreliable(log: Log): Log {
  let commits = 0
  return {
    writer: () => log.writer(),
    reader: (options) => log.reader(options),
    admin: () => log.admin(),
    async transactionalWriter(id, fence) {
      const writer = await log.transactionalWriter(id, fence)
      return {
        close: () => writer.close(),
        async commit(records, group) {
          const turn = commits++ % 3
          if (turn === 0) throw new Error('the commit did not arrive')
          const offsets = await writer.commit(records, group)
          if (turn === 1) throw new Error('the answer was lost')
          return offsets
        },
      }
    },
  }
}

test('each foreign record becomes one definition, in the order of its partition', async () => {
  const { schedules } = await makeTopics(['schedules'], 2)
  const prefix = uniquePrefix()
  const names = topicNames(prefix)
  const plans = topicPlans(names, ['default'])
  const log = openLog()
  await log.ensureTopics({ plans, partitions: 3, replication: 1 })
  const { definition } = await createCodecs({ registryUrl, plans })
  const open = async (instance: string) => {
    const intake = new ForeignIntake({
      log: unreliable(openLog()),
      definition,
      names,
      prefix,
      topics: { etf1: [schedules], karafka: [] },
      targets: anyTarget,
      instance,
      clock: systemClock,
      metrics: newMetrics(),
      logger: pino({ level: 'silent' }),
    })
    onTestFinished(() => intake.stop())
    await intake.start()
  }
  const seen = new Watcher({ topics: [names.jobs] }, log)
  await seen.reader.start()
  const writer = await openWriter()
  const send = async (from: number) => {
    for (let index = from; index < from + count; index++) {
      const headers = { 'scheduler-epoch': '1893456000', 'scheduler-target-topic': 'orders', 'scheduler-target-key': 'k' }
      await writer.write([{ topic: schedules, key: `job-${index}`, value: index % 5 === 0 ? null : Buffer.from('x'), headers }])
    }
  }
  const sources = () => seen.records.map(({ headers }) => headers['duelog-source']?.toString() ?? '')
  await open('one')
  await send(0)
  await seen.until(() => new Set(sources()).size === count)
  // A second member takes over some partitions while records arrive.
  await Promise.all([open('two'), send(count)])
  await seen.until(() => new Set(sources()).size === 2 * count)
  expect(sources()).toHaveLength(2 * count)
  const last = new Map<string, number>()
  for (const { key, headers, partition } of seen.records) {
    const [, from, offset] = headers['duelog-source']?.toString().split('/') ?? []
    const place = `${from}→${partition}`
    expect(Number(offset), key?.toString()).toBeGreaterThan(last.get(place) ?? -1)
    last.set(place, Number(offset))
  }
})

test('the position of the group passes the ends of transactions, which readers never get', async () => {
  const { schedules } = await makeTopics(['schedules'], 1)
  const prefix = uniquePrefix()
  const names = topicNames(prefix)
  const plans = topicPlans(names, ['default'])
  const log = openLog()
  await log.ensureTopics({ plans, partitions: 1, replication: 1 })
  const { definition } = await createCodecs({ registryUrl, plans })
  let reached = 0
  const steps = new Map([2, 4].map((offset) => [offset, Promise.withResolvers<void>()]))
  const watched: Log = {
    writer: () => log.writer(),
    reader: (options) => log.reader(options),
    admin: () => log.admin(),
    async transactionalWriter(id, fence) {
      const writer = await log.transactionalWriter(id, fence)
      return {
        close: () => writer.close(),
        async commit(records, group) {
          const offsets = await writer.commit(records, group)
          reached = group?.positions[0]?.offset ?? 0
          steps.get(reached)?.resolve()
          return offsets
        },
      }
    },
  }
  const intake = new ForeignIntake({
    ...{ log: watched, definition, names, prefix, topics: { etf1: [schedules], karafka: [] }, targets: anyTarget },
    ...{ instance: 'one', clock: systemClock, metrics: newMetrics(), logger: pino({ level: 'silent' }) },
  })
  onTestFinished(() => intake.stop())
  await intake.start()
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer({
    transactionalId: schedules,
    idempotent: true,
    maxInFlightRequests: 1,
  })
  await producer.connect()
  onTestFinished(() => producer.disconnect())
  const headers = { 'scheduler-epoch': '1893456000', 'scheduler-target-topic': 'orders', 'scheduler-target-key': 'k' }
  for (const [end, isKept] of [
    [2, true],
    [4, false],
  ] as const) {
    const transaction = await producer.transaction()
    await transaction.send({ topic: schedules, messages: [{ key: 'job', value: 'x', headers }] })
    await (isKept ? transaction.commit() : transaction.abort())
    await steps.get(end)?.promise
  }
  await intake.stop()
  const admin = await log.admin()
  onTestFinished(() => admin.close())
  expect(await admin.committed(names.group('intake'), schedules)).toEqual([{ partition: 0, offset: 4 }])
})
