/**
 * Transactions on brokers of other versions of Apache Kafka. Those before 4.0 have version 1 only; a later one has it too, if its cluster has not
 * switched version 2 on. All other tests use the version that Duelog brings.
 */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connectLog } from '../../../../src/log/kafka/log.ts'
import { startKafka } from '../../../tools/kafka-of-version.ts'
import { apiKeys, startProxy } from '../../../tools/tcp-proxy.ts'
import { text } from '../../harness.ts'

const { addPartitionsToTxn, produce, endTxn } = apiKeys

test.each([
  ['3.7.2', 1],
  ['3.9.1', 1],
  ['4.0.0', 2],
  ['4.1.1', 2],
  ['4.2.0', 2],
])('Kafka %s has transactions of version %i', async (kafka, version) => {
  const folder = join(tmpdir(), `duelog-kafka-${randomUUID().slice(0, 8)}`)
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 }))
  const { address, node } = await startKafka(kafka, folder)
  onTestFinished(() => node.stop())
  const isV2 = version === 2
  const proxy = await startProxy({ target: address, dropResponse: (apiKey) => apiKey === endTxn })
  onTestFinished(() => proxy.close())
  proxy.release()
  const log = connectLog({ brokers: [address], clientId: 'canary', socketFactory: proxy.socketFactory })
  await log.ensureTopics({
    plans: ['state', 'out'].map((topic) => ({ topic, schema: 'execution', config: {} })),
    ...{ partitions: 2, replication: 1 },
  })
  const open = async () => {
    const writer = await log.transactionalWriter('owner')
    onTestFinished(() => writer.close())
    return writer
  }
  const records = (value: string) =>
    ['state', 'out'].flatMap((topic) => [0, 1].map((partition) => ({ topic, partition, key: 'k', value: text(value) })))
  const group = (offset: number) => ({ groupId: 'intake', positions: [{ topic: 'state', partition: 0, offset }] })

  const first = await open()
  const since = proxy.requests.length
  for (let round = 1; round <= 50; round++) await first.commit(records('committed'), group(round))
  const asked = new Set(proxy.requests.slice(since).map(({ apiKey, apiVersion }) => `${apiKey} v${apiVersion}`))
  expect(asked.has(`${addPartitionsToTxn} v1`)).toBe(!isV2)
  expect(asked).toContain(`${produce} v${isV2 ? 12 : 7}`)
  expect(asked).toContain(`${endTxn} v${isV2 ? 5 : 1}`)
  expect(asked).toContain(`${apiKeys.txnOffsetCommit} v${isV2 ? 5 : 1}`)

  // The answer to a commit is lost.
  proxy.arm()
  const lost = proxy.answered(endTxn)
  const doubtful = first.commit(records('doubtful'), group(51)).then(
    () => 'done',
    (error) => error.code,
  )
  await lost
  proxy.release()
  proxy.cut()
  expect(await doubtful).toBe(isV2 ? 'done' : 'broker-unavailable')

  // Another writer fences.
  const second = await open()
  await second.commit(records('after'), group(52))
  if (isV2) await expect(first.commit(records('zombie'))).rejects.toMatchObject({ code: 'fenced' })
  const admin = await log.admin()
  onTestFinished(() => admin.close())
  expect(await admin.committed('intake', 'state')).toMatchObject([{ partition: 0, offset: 52 }])

  const values: string[] = []
  await log.readToEnd({
    topics: ['out'],
    onRecord: ({ partition, value }) => {
      if (partition === 0) values.push(String(value))
    },
    onProgress: () => {},
    signal: AbortSignal.timeout(60_000),
  })
  expect(values).toEqual([...Array.from({ length: 50 }, () => 'committed'), 'doubtful', 'after'])
})
